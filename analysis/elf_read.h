/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_read.h - what an object file needs, imports and exports
 *
 * A thin layer over libelf for 64-bit x86-64 files. Reads the section headers
 * only where they point; damaged files give fewer entries, never a crash.
 */
#ifndef SY_ANALYSIS_ELF_READ_H
#define SY_ANALYSIS_ELF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sy_elf;

/* One undefined or defined dynamic symbol. Strings live until sy_elf_close(). */
struct sy_elf_entry {
	const char *name;
	const char *version; /* version node, or NULL */
	const char *file;    /* imports: the library the version is expected in, or NULL */
	uint64_t size;       /* bytes, 0 if not stated */
	bool is_object;
};

/* Called for each entry; a return value other than 0 ends the walk, which returns it. */
typedef int (*sy_elf_entry_fn)(const struct sy_elf_entry *entry, void *context);
typedef int (*sy_elf_name_fn)(const char *name, void *context);

/* Opens and maps the file. NULL with one line in `err` if it is no 64-bit x86-64 object. */
struct sy_elf *sy_elf_open(const char *path, char *err, size_t err_bytes);
void sy_elf_close(struct sy_elf *elf);

int sy_elf_each_needed(struct sy_elf *elf, sy_elf_name_fn fn, void *context);
int sy_elf_each_import(struct sy_elf *elf, sy_elf_entry_fn fn, void *context);
int sy_elf_each_export(struct sy_elf *elf, sy_elf_entry_fn fn, void *context);
/* Functions in the full symbol table, which a stripped file lacks; versions and sizes are not filled in. */
int sy_elf_each_local(struct sy_elf *elf, sy_elf_entry_fn fn, void *context);

bool sy_elf_is_dynamic(struct sy_elf *elf);
/* The loader that a program names, or NULL. Lives until sy_elf_close(). */
const char *sy_elf_interpreter(struct sy_elf *elf);

/*
 * Which of the texts stand in the constant data of the file, each ended by a
 * zero byte or, if `is_prefix`, by anything. A file without section headers is
 * searched as a whole.
 */
struct sy_elf_text {
	const char *text;
	bool is_prefix;
};
void sy_elf_find_texts(struct sy_elf *elf, const struct sy_elf_text *texts, size_t n, bool *found);

/*
 * Text that changes when the file does: the build-id in hexadecimal, or else
 * size and time of modification. 0, or -1 if the file cannot be examined.
 */
int sy_elf_identity(const char *path, char *out, size_t out_bytes);

#endif
