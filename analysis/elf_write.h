/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_write.h - lay out a small x86-64 shared library, without a linker
 *
 * Knows the ELF format and the dynamic loader's demands on it: hash table,
 * version definitions, one import. Knows nothing of what the code does
 * (stub_code.h) or of why the library is made (vendor_stubs.h).
 */
#ifndef SY_ANALYSIS_ELF_WRITE_H
#define SY_ANALYSIS_ELF_WRITE_H

#include "analysis/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a 32-bit program-counter-relative field in the code points to. */
enum sy_elf_target { SY_ELF_TEXT, SY_ELF_RODATA, SY_ELF_IMPORT_SLOT };

struct sy_elf_fixup {
	size_t at; /* of the 4-byte field, from the start of the code; the field ends the instruction */
	enum sy_elf_target target;
	size_t offset; /* into the target; 0 for the import slot */
};

struct sy_elf_symbol {
	const char *name;
	const char *version; /* the version node, or NULL */
	uint64_t value;      /* from the start of the code, or of the data if is_object */
	uint64_t size;       /* bytes */
	bool is_object;
};

/* A library to lay out. All is borrowed from the caller. Data objects are zeros. */
struct sy_elf_library {
	const char *soname;
	const char *import; /* weak function, found when the library is loaded; its address is in the import slot */
	const struct sy_elf_symbol *symbols;
	size_t n_symbols;
	const struct sy_elf_fixup *fixups;
	size_t n_fixups;
	const struct sy_bytes *text;
	const struct sy_bytes *rodata;
	uint64_t data_bytes;
};

/* At most this many different version nodes in one library. */
#define SY_ELF_MAX_VERSIONS 16

/*
 * Appends the file to `image`, which must be empty. Returns 0, or -1 without
 * memory or with more version nodes than SY_ELF_MAX_VERSIONS. Any thread.
 */
int sy_elf_write(const struct sy_elf_library *library, struct sy_bytes *image);

#endif
