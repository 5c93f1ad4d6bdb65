/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_read.c - what an object file needs, imports and exports
 */
#include "analysis/elf_read.h"

#include "analysis/complain.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sy_elf {
	int fd;
	Elf *elf;
};

/* The tables needed to name a dynamic symbol. Absent tables are NULL. */
struct tables {
	Elf_Data *symbols, *versym, *verneed;
	size_t n_symbols, symbol_names;
	size_t n_verneed, verneed_names;
};

struct sy_elf *sy_elf_open(const char *path, char *err, size_t err_bytes)
{
	struct sy_elf *elf = calloc(1, sizeof(*elf));
	GElf_Ehdr header;

	if (!elf || elf_version(EV_CURRENT) == EV_NONE) {
		sy_complain(err, err_bytes, "cannot read %s: out of memory", path);
		free(elf);
		return NULL;
	}
	elf->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (elf->fd < 0) {
		sy_complain(err, err_bytes, "cannot read %s: %s", path, strerror(errno));
		free(elf);
		return NULL;
	}
	elf->elf = elf_begin(elf->fd, ELF_C_READ_MMAP, NULL);
	if (!elf->elf || elf_kind(elf->elf) != ELF_K_ELF || !gelf_getehdr(elf->elf, &header) ||
	    header.e_machine != EM_X86_64 || gelf_getclass(elf->elf) != ELFCLASS64) {
		sy_complain(err, err_bytes, "cannot read %s: not a 64-bit x86-64 object file", path);
		sy_elf_close(elf);
		return NULL;
	}
	return elf;
}

void sy_elf_close(struct sy_elf *elf)
{
	if (!elf)
		return;
	elf_end(elf->elf);
	close(elf->fd);
	free(elf);
}

/* The first section of a type, with its data. False if there is none. */
static bool find_section(struct sy_elf *elf, uint32_t type, GElf_Shdr *header, Elf_Data **data)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf->elf, section))) {
		if (!gelf_getshdr(section, header) || header->sh_type != type)
			continue;
		*data = elf_getdata(section, NULL);
		return *data != NULL;
	}
	return false;
}

static bool find_tables(struct sy_elf *elf, struct tables *tables)
{
	GElf_Shdr header;

	memset(tables, 0, sizeof(*tables));
	if (!find_section(elf, SHT_DYNSYM, &header, &tables->symbols) || !header.sh_entsize)
		return false;
	tables->n_symbols = header.sh_size / header.sh_entsize;
	tables->symbol_names = header.sh_link;
	if (!find_section(elf, SHT_GNU_versym, &header, &tables->versym))
		tables->versym = NULL;
	if (find_section(elf, SHT_GNU_verneed, &header, &tables->verneed)) {
		tables->n_verneed = header.sh_info;
		tables->verneed_names = header.sh_link;
	} else {
		tables->verneed = NULL;
	}
	return true;
}

/* Fills version and file of an import from the list of needed versions. */
static void find_needed_version(struct sy_elf *elf, const struct tables *tables, GElf_Versym index,
                                struct sy_elf_entry *entry)
{
	size_t i, j, at = 0, aux_at;
	GElf_Vernaux aux;
	GElf_Verneed need;

	for (i = 0; i < tables->n_verneed && gelf_getverneed(tables->verneed, (int)at, &need); i++) {
		aux_at = at + need.vn_aux;
		for (j = 0; j < need.vn_cnt && gelf_getvernaux(tables->verneed, (int)aux_at, &aux); j++) {
			if ((aux.vna_other & 0x7fff) == index) {
				entry->version = elf_strptr(elf->elf, tables->verneed_names, aux.vna_name);
				entry->file = elf_strptr(elf->elf, tables->verneed_names, need.vn_file);
				return;
			}
			if (aux.vna_next == 0)
				break;
			aux_at += aux.vna_next;
		}
		/* The last one says so; a damaged count would walk in place for long. */
		if (need.vn_next == 0)
			return;
		at += need.vn_next;
	}
}

static int each_symbol(struct sy_elf *elf, bool want_imports, sy_elf_entry_fn fn, void *context)
{
	struct tables tables;
	size_t i;
	int result = 0;

	if (!find_tables(elf, &tables))
		return 0;
	for (i = 1; i < tables.n_symbols && result == 0; i++) {
		struct sy_elf_entry entry = { .name = NULL };
		GElf_Versym index = VER_NDX_GLOBAL;
		GElf_Sym symbol;

		if (!gelf_getsym(tables.symbols, (int)i, &symbol))
			break;
		if ((symbol.st_shndx == SHN_UNDEF) != want_imports || GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
			continue;
		entry.name = elf_strptr(elf->elf, tables.symbol_names, symbol.st_name);
		if (!entry.name || !*entry.name)
			continue;
		if (tables.versym && gelf_getversym(tables.versym, (int)i, &index))
			index &= 0x7fff;
		entry.size = symbol.st_size;
		entry.is_object = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT;
		if (want_imports && tables.verneed && index > VER_NDX_GLOBAL)
			find_needed_version(elf, &tables, index, &entry);
		result = fn(&entry, context);
	}
	return result;
}

int sy_elf_each_import(struct sy_elf *elf, sy_elf_entry_fn fn, void *context)
{
	return each_symbol(elf, true, fn, context);
}

int sy_elf_each_export(struct sy_elf *elf, sy_elf_entry_fn fn, void *context)
{
	return each_symbol(elf, false, fn, context);
}

int sy_elf_each_needed(struct sy_elf *elf, sy_elf_name_fn fn, void *context)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Dyn entry;
	int i, result = 0;

	if (!find_section(elf, SHT_DYNAMIC, &header, &data))
		return 0;
	for (i = 0; result == 0 && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name;

		if (entry.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf->elf, header.sh_link, entry.d_un.d_val);
		if (name)
			result = fn(name, context);
	}
	return result;
}

int sy_elf_each_local(struct sy_elf *elf, sy_elf_entry_fn fn, void *context)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Sym symbol;
	int result = 0;

	if (!find_section(elf, SHT_SYMTAB, &header, &data))
		return 0;
	for (int i = 1; result == 0 && gelf_getsym(data, i, &symbol); i++) {
		struct sy_elf_entry entry = { .name = NULL };

		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		entry.name = elf_strptr(elf->elf, header.sh_link, symbol.st_name);
		if (entry.name)
			result = fn(&entry, context);
	}
	return result;
}

bool sy_elf_is_dynamic(struct sy_elf *elf)
{
	bool has_dynamic = false, is_program = false;
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Dyn entry;
	GElf_Phdr segment;
	size_t n = 0;

	if (sy_elf_interpreter(elf))
		return true;
	if (elf_getphdrnum(elf->elf, &n) == 0)
		for (size_t i = 0; i < n && gelf_getphdr(elf->elf, (int)i, &segment); i++)
			has_dynamic |= segment.p_type == PT_DYNAMIC;
	/* A static program that may be loaded anywhere looks like a library, but says that it is none. */
	if (has_dynamic && find_section(elf, SHT_DYNAMIC, &header, &data))
		for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
			is_program |= entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE;
	return has_dynamic && !is_program;
}

const char *sy_elf_interpreter(struct sy_elf *elf)
{
	size_t n = 0, file_bytes = 0;
	const char *file = elf_rawfile(elf->elf, &file_bytes);
	GElf_Phdr segment;

	if (!file || elf_getphdrnum(elf->elf, &n) != 0)
		return NULL;
	for (size_t i = 0; i < n && gelf_getphdr(elf->elf, (int)i, &segment); i++)
		if (segment.p_type == PT_INTERP && segment.p_offset < file_bytes &&
		    memchr(file + segment.p_offset, '\0', file_bytes - segment.p_offset))
			return file + segment.p_offset;
	return NULL;
}

static void search(const char *at, size_t bytes, const struct sy_elf_text *texts, size_t n, bool *found)
{
	for (size_t i = 0; i < n; i++) {
		/* Behind the text its zero byte has to fit. */
		size_t length = strlen(texts[i].text) + !texts[i].is_prefix;

		found[i] = found[i] || (at && memmem(at, bytes, texts[i].text, length));
	}
}

void sy_elf_find_texts(struct sy_elf *elf, const struct sy_elf_text *texts, size_t n, bool *found)
{
	size_t names = 0, file_bytes = 0;
	Elf_Scn *section = NULL;
	bool has_constants = false;
	GElf_Shdr header;

	(void)elf_getshdrstrndx(elf->elf, &names);
	while ((section = elf_nextscn(elf->elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf->elf, names, header.sh_name) : NULL;
		Elf_Data *data;

		if (!name || header.sh_type != SHT_PROGBITS || strncmp(name, ".rodata", 7) != 0)
			continue;
		has_constants = true;
		data = elf_rawdata(section, NULL);
		if (data)
			search(data->d_buf, data->d_size, texts, n, found);
	}
	if (!has_constants) {
		const char *file = elf_rawfile(elf->elf, &file_bytes);

		search(file, file_bytes, texts, n, found);
	}
}

/* The build-id in hexadecimal. False if there is none or it does not fit. */
static bool build_id(struct sy_elf *elf, char *out, size_t out_bytes)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section))) {
		size_t at = 0, name_at, desc_at, i;
		Elf_Data *data;
		GElf_Nhdr note;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		while ((at = gelf_getnote(data, at, &note, &name_at, &desc_at))) {
			const unsigned char *desc = (const unsigned char *)data->d_buf + desc_at;

			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
			    memcmp((const char *)data->d_buf + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
				continue;
			if (note.n_descsz == 0 || note.n_descsz * 2 + 1 > out_bytes)
				return false;
			for (i = 0; i < note.n_descsz; i++)
				snprintf(out + 2 * i, 3, "%02x", desc[i]);
			return true;
		}
	}
	return false;
}

int sy_elf_identity(const char *path, char *out, size_t out_bytes)
{
	char err[1];
	struct sy_elf *elf = sy_elf_open(path, err, sizeof(err));
	bool is_known = elf && build_id(elf, out, out_bytes);
	struct stat status;

	sy_elf_close(elf);
	if (is_known)
		return 0;
	if (stat(path, &status) < 0)
		return -1;
	snprintf(out, out_bytes, "%llx-%llx.%lx", (unsigned long long)status.st_size,
	         (unsigned long long)status.st_mtim.tv_sec, (unsigned long)status.st_mtim.tv_nsec);
	return 0;
}
