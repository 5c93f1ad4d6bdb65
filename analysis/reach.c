/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reach.h"

#include "analysis/complain.h"
#include "analysis/elf_read.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

const struct sy_reach_desc sy_reach_desc[SY_N_REACHES] = {
#define REACH(id, words, seen, why) { words, SY_SEEN_##seen, why },
#include "analysis/reaches.def"
#undef REACH
};

#define BIT(id) (1u << SY_REACH_##id)
#define NOT_PRELOADED (BIT(NO_LOADER) | BIT(OTHER_LIBC) | BIT(PRIVILEGED))

enum sy_seen sy_reach_seen(uint32_t reaches)
{
	enum sy_seen least = SY_SEEN_YES;

	for (int i = 0; i < SY_N_REACHES; i++)
		if (reaches >> i & 1 && sy_reach_desc[i].seen > least)
			least = sy_reach_desc[i].seen;
	return least;
}

const char *sy_seen_word(enum sy_seen seen)
{
	static const char *const words[] = { "yes", "partly", "no" };

	return words[seen];
}

/* ---- what the symbols tell ---------------------------------------------------------- */

/* cudaMalloc, cuMemAlloc_v2; not cudart's own __cuda..., not cublas... */
static bool is_runtime_name(const char *name)
{
	return strncmp(name, "cuda", 4) == 0 && isupper((unsigned char)name[4]);
}

static bool is_driver_name(const char *name)
{
	return strncmp(name, "cu", 2) == 0 && isupper((unsigned char)name[2]);
}

struct symbols {
	bool imports_runtime, imports_driver, imports_dlsym;
	bool exports_runtime, exports_driver; /* it is CUDA's library itself */
	bool has_own_runtime;                 /* functions of the runtime that nobody else can bind to */
};

static int note_import(const struct sy_elf_entry *entry, void *context)
{
	struct symbols *symbols = context;

	symbols->imports_runtime |= is_runtime_name(entry->name);
	symbols->imports_driver |= is_driver_name(entry->name);
	symbols->imports_dlsym |= strcmp(entry->name, "dlsym") == 0 || strcmp(entry->name, "dlvsym") == 0;
	return 0;
}

/* Some functions that every version of the two libraries has. */
static int note_export(const struct sy_elf_entry *entry, void *context)
{
	struct symbols *symbols = context;

	symbols->exports_runtime |= strcmp(entry->name, "cudaMemcpyAsync") == 0;
	symbols->exports_driver |= strcmp(entry->name, "cuMemcpyDtoHAsync_v2") == 0;
	return 0;
}

static int note_local(const struct sy_elf_entry *entry, void *context)
{
	struct symbols *symbols = context;

	symbols->has_own_runtime =
		strcmp(entry->name, "cudaMemcpyAsync") == 0 || strcmp(entry->name, "cudaStreamSynchronize") == 0;
	return symbols->has_own_runtime;
}

/* ---- what the texts tell -------------------------------------------------------------- */

enum text { DRIVER, RUNTIME, PROC_ADDRESS, EXPORT_TABLE, RUNTIME_ERROR, N_TEXTS };

/* A text that goes on behind what is here, such as the number of a version, is meant as well where `is_prefix`. */
static const struct sy_elf_text texts[N_TEXTS] = {
	[DRIVER] = { "libcuda.so", true },
	[RUNTIME] = { "libcudart.so", true },
	[PROC_ADDRESS] = { "cuGetProcAddress", true },
	[EXPORT_TABLE] = { "cuGetExportTable", false },
	[RUNTIME_ERROR] = { "cudaErrorMissingConfiguration", false }, /* of the runtime's list of its errors */
};

static uint32_t reaches_of(struct sy_elf *elf)
{
	struct symbols symbols = { 0 };
	bool found[N_TEXTS] = { 0 }, is_looking;
	uint32_t reaches = 0;

	sy_elf_each_import(elf, note_import, &symbols);
	sy_elf_each_export(elf, note_export, &symbols);
	if (!symbols.exports_runtime)
		sy_elf_each_local(elf, note_local, &symbols);
	sy_elf_find_texts(elf, texts, N_TEXTS, found);
	if (symbols.imports_runtime)
		reaches |= BIT(RUNTIME_LINKED);
	if (symbols.imports_driver)
		reaches |= BIT(DRIVER_LINKED);
	if (symbols.exports_driver)
		return reaches; /* the driver */
	if (found[DRIVER] && symbols.imports_dlsym)
		reaches |= BIT(DRIVER_NAMED);
	if (symbols.exports_runtime)
		return reaches; /* the runtime: how it comes to the driver is seen by its own names */
	if (found[RUNTIME] && symbols.imports_dlsym)
		reaches |= BIT(RUNTIME_NAMED);
	is_looking = found[DRIVER] && (symbols.imports_dlsym || !sy_elf_is_dynamic(elf));
	if (is_looking && (symbols.has_own_runtime || (found[PROC_ADDRESS] && found[RUNTIME_ERROR])))
		reaches |= BIT(RUNTIME_STATIC);
	if (is_looking && found[EXPORT_TABLE])
		reaches |= BIT(PRIVATE_TABLES);
	/* Without a loader there is no import to be seen: what it carries tells. */
	if (!sy_elf_is_dynamic(elf) && (reaches || found[DRIVER] || symbols.has_own_runtime))
		reaches |= BIT(NO_LOADER);
	return reaches;
}

/* ---- what keeps the loader from preloading --------------------------------------------- */

static bool is_privileged(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	if (status.st_mode & S_ISUID && status.st_uid != getuid())
		return true;
	if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid())
		return true;
	return getxattr(path, "security.capability", NULL, 0) > 0;
}

static uint32_t hindrances(const char *path, struct sy_elf *elf)
{
	const char *interpreter = sy_elf_interpreter(elf);
	uint32_t reaches = 0;

	if (interpreter && strstr(interpreter, "ld-musl"))
		reaches |= BIT(OTHER_LIBC);
	if (interpreter && is_privileged(path))
		reaches |= BIT(PRIVILEGED);
	return reaches;
}

static bool is_elf(const char *path, enum sy_reach_result *otherwise, char *err, size_t err_bytes)
{
	char magic[4];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	*otherwise = SY_REACH_UNREADABLE;
	if (fd < 0) {
		sy_complain(err, err_bytes, "cannot read %s: %s", path, strerror(errno));
		return false;
	}
	n = read(fd, magic, sizeof(magic));
	if (n < 0)
		sy_complain(err, err_bytes, "cannot read %s: %s", path, strerror(errno));
	else
		*otherwise = SY_REACH_NOT_ELF;
	close(fd);
	return n == sizeof(magic) && memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

enum sy_reach_result sy_reach_examine(const char *path, uint32_t *reaches, char *err, size_t err_bytes)
{
	enum sy_reach_result otherwise;
	struct sy_elf *elf;

	*reaches = 0;
	if (!is_elf(path, &otherwise, err, err_bytes))
		return otherwise;
	elf = sy_elf_open(path, err, err_bytes);
	if (!elf)
		return SY_REACH_UNREADABLE;
	*reaches = reaches_of(elf);
	if (*reaches)
		*reaches |= hindrances(path, elf);
	sy_elf_close(elf);
	return SY_REACH_EXAMINED;
}
