/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_image.c - the little that is read of a program for the device: its variables */
#include "sim/cuda_image.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Byte by byte, since an image may be a short text. */
static bool is_elf64(const unsigned char *image)
{
	return image[EI_MAG0] == ELFMAG0 && image[EI_MAG1] == ELFMAG1 && image[EI_MAG2] == ELFMAG2 &&
	       image[EI_MAG3] == ELFMAG3 && image[EI_CLASS] == ELFCLASS64;
}

/* An image lies wherever the program put it: nothing in it is aligned for sure. */
static void read_at(void *into, const unsigned char *image, uint64_t offset, size_t bytes)
{
	memcpy(into, image + offset, bytes);
}

static Elf64_Shdr section(const unsigned char *image, const Elf64_Ehdr *header, unsigned i)
{
	Elf64_Shdr section;

	read_at(&section, image, header->e_shoff + (uint64_t)i * header->e_shentsize, sizeof section);
	return section;
}

static int walk_symbols(const unsigned char *image, const Elf64_Shdr *table, const char *names, sim_image_fn *each,
                        void *context)
{
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		read_at(&symbol, image, table->sh_offset + at, sizeof symbol);
		if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF)
			continue;
		int stop = each(context, names + symbol.st_name, symbol.st_size);
		if (stop)
			return stop;
	}
	return 0;
}

int sim_image_variables(const void *image, sim_image_fn *each, void *context)
{
	const unsigned char *bytes = image;
	Elf64_Ehdr header;

	if (!is_elf64(bytes))
		return 0;
	read_at(&header, bytes, 0, sizeof header);
	for (unsigned i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr table = section(bytes, &header, i);

		if (table.sh_type != SHT_SYMTAB)
			continue;
		Elf64_Shdr names = section(bytes, &header, table.sh_link);
		int stop = walk_symbols(bytes, &table, (const char *)bytes + names.sh_offset, each, context);
		if (stop)
			return stop;
	}
	return 0;
}
