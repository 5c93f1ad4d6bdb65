/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_stubs.c - stand-ins for the NVIDIA libraries a PyTorch installation needs
 *
 * Two walks over the installation's libraries: first which NVIDIA libraries
 * they need, then which symbols they import. A symbol with a version node
 * names its library; one without is given to the needed library whose name it
 * fits best. What our own libraries export is taken off again.
 */
#include "analysis/vendor_stubs.h"

#include "analysis/complain.h"
#include "analysis/elf_read.h"
#include "analysis/vendor_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for any PyTorch; a table so that entries keep their place. */
#define MAX_LIBRARIES 48

/* Data that is only ever used through its address gets this many bytes at least. */
#define MIN_OBJECT_BYTES 4096

struct library {
	char *soname;
	struct sy_stub *stubs; /* name and version are owned */
	size_t n_stubs, room;
};

struct collection {
	const struct sy_torch *torch;
	const char *sim_dir;
	struct library libraries[MAX_LIBRARIES];
	size_t n_libraries;
	char *err;
	size_t err_bytes;
};

static int out_of_memory(struct collection *all)
{
	return sy_complain(all->err, all->err_bytes, "cannot make the vendor stubs: out of memory");
}

static struct library *find_library(struct collection *all, const char *soname)
{
	size_t i;

	for (i = 0; i < all->n_libraries; i++) {
		if (strcmp(all->libraries[i].soname, soname) == 0)
			return &all->libraries[i];
	}
	return NULL;
}

static int note_needed(const char *soname, void *context)
{
	struct collection *all = context;
	struct library *library;

	if (!sy_vendor_is_nvidia(soname) || find_library(all, soname))
		return 0;
	if (all->n_libraries == MAX_LIBRARIES)
		return sy_complain(all->err, all->err_bytes,
		                   "cannot make the vendor stubs: %s needs more than %d libraries", all->torch->package,
		                   MAX_LIBRARIES);
	library = &all->libraries[all->n_libraries];
	library->soname = strdup(soname);
	if (!library->soname)
		return out_of_memory(all);
	all->n_libraries++;
	return 0;
}

static struct library *owner_of(struct collection *all, const struct sy_elf_entry *entry)
{
	struct library *best = NULL;
	size_t i, fit, best_fit = 0;

	if (entry->file)
		return find_library(all, entry->file);
	for (i = 0; i < all->n_libraries; i++) {
		fit = sy_vendor_fit(all->libraries[i].soname, entry->name);
		if (fit > best_fit) {
			best = &all->libraries[i];
			best_fit = fit;
		}
	}
	return best;
}

static bool is_same_version(const char *left, const char *right)
{
	return left == right || (left && right && strcmp(left, right) == 0);
}

static bool has_stub(const struct library *library, const struct sy_elf_entry *entry)
{
	size_t i;

	for (i = 0; i < library->n_stubs; i++) {
		if (strcmp(library->stubs[i].name, entry->name) == 0 &&
		    is_same_version(library->stubs[i].version, entry->version))
			return true;
	}
	return false;
}

static int add_stub(struct library *library, const char *name, const char *version)
{
	struct sy_stub *stub;

	if (library->n_stubs == library->room) {
		size_t room = library->room ? 2 * library->room : 64;
		struct sy_stub *grown = reallocarray(library->stubs, room, sizeof(*grown));

		if (!grown)
			return -1;
		library->stubs = grown;
		library->room = room;
	}
	stub = &library->stubs[library->n_stubs];
	memset(stub, 0, sizeof(*stub));
	stub->name = strdup(name);
	stub->version = version ? strdup(version) : NULL;
	if (!stub->name || (version && !stub->version)) {
		free((char *)stub->name);
		return -1;
	}
	library->n_stubs++;
	return 0;
}

static int note_import(const struct sy_elf_entry *entry, void *context)
{
	struct collection *all = context;
	struct library *library = owner_of(all, entry);
	struct sy_stub *stub;

	if (!library || has_stub(library, entry))
		return 0;
	if (add_stub(library, entry->name, entry->version) < 0)
		return out_of_memory(all);
	stub = &library->stubs[library->n_stubs - 1];
	if (entry->is_object) {
		stub->kind = SY_STUB_OBJECT;
		stub->value = entry->size > MIN_OBJECT_BYTES && entry->size < INT32_MAX ? (int32_t)entry->size
		                                                                        : MIN_OBJECT_BYTES;
	}
	return 0;
}

/* Calls one of the walks for every library of the installation, NVIDIA's own left out. */
static int each_torch_library(struct collection *all, bool want_imports)
{
	char path[2 * PATH_MAX];
	const struct dirent *entry;
	int result = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/lib", all->torch->package);
	dir = opendir(path);
	if (!dir)
		return sy_complain(all->err, all->err_bytes, "cannot read %s: %s", path, strerror(errno));
	while (result == 0 && (entry = readdir(dir))) {
		const char *suffix = strstr(entry->d_name, ".so");
		struct sy_elf *elf;

		if (!suffix || strcmp(suffix, ".so") != 0 || sy_vendor_is_nvidia(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/lib/%s", all->torch->package, entry->d_name);
		elf = sy_elf_open(path, all->err, all->err_bytes);
		if (!elf)
			result = -1;
		else if (want_imports)
			result = sy_elf_each_import(elf, note_import, all);
		else
			result = sy_elf_each_needed(elf, note_needed, all);
		sy_elf_close(elf);
	}
	closedir(dir);
	return result;
}

static void drop_stub(struct library *library, size_t i)
{
	free((char *)library->stubs[i].name);
	free((char *)library->stubs[i].version);
	library->stubs[i] = library->stubs[--library->n_stubs];
}

static int drop_provided(const struct sy_elf_entry *entry, void *context)
{
	struct library *library = context;
	size_t i;

	for (i = 0; i < library->n_stubs; i++) {
		if (strcmp(library->stubs[i].name, entry->name) == 0) {
			drop_stub(library, i);
			break;
		}
	}
	return 0;
}

/* The file of ours behind a name such as libcudart.so.13 or libcudart-0123abcd.so.12. */
static void own_path(const struct collection *all, const char *soname, char *path, size_t path_bytes)
{
	const char *suffix = strstr(soname, ".so");

	snprintf(path, path_bytes, "%s/%.*s%s", all->sim_dir, (int)strcspn(soname, ".-"), soname, suffix ? suffix : "");
}

/* Moves what one of our libraries lacks into the library of extras, the last entry of the table. */
static int keep_missing(struct collection *all, struct library *library, struct library *extras)
{
	char path[2 * PATH_MAX];
	struct sy_elf *elf;
	int result = 0;

	own_path(all, library->soname, path, sizeof(path));
	elf = sy_elf_open(path, all->err, all->err_bytes);
	if (!elf)
		return -1;
	sy_elf_each_export(elf, drop_provided, library);
	sy_elf_close(elf);
	while (library->n_stubs && result == 0) {
		struct sy_stub *stub = &library->stubs[library->n_stubs - 1];

		result = add_stub(extras, stub->name, stub->version);
		if (result == 0)
			sy_vendor_answer(library->soname, all->torch, &extras->stubs[extras->n_stubs - 1]);
		drop_stub(library, library->n_stubs - 1);
	}
	return result < 0 ? out_of_memory(all) : 0;
}

static int compare_stubs(const void *left, const void *right)
{
	return strcmp(((const struct sy_stub *)left)->name, ((const struct sy_stub *)right)->name);
}

static int emit(struct collection *all, struct library *library, sy_stub_file_fn fn, void *context)
{
	struct sy_bytes image = { .data = NULL };
	int result;

	/* Directory order is the file system's; the libraries should not depend on it. */
	if (library->n_stubs)
		qsort(library->stubs, library->n_stubs, sizeof(*library->stubs), compare_stubs);
	if (sy_stub_library(library->soname, SY_STUB_IMPORT, library->stubs, library->n_stubs, &image) < 0)
		result = sy_complain(all->err, all->err_bytes,
		                     "cannot lay out a stub of %s: out of memory or of versions", library->soname);
	else
		result = fn(library->soname, image.data, image.used, context);
	sy_bytes_free(&image);
	return result;
}

static int emit_all(struct collection *all, sy_stub_file_fn fn, void *context)
{
	struct library extras = { .soname = (char[]){ SY_STUB_EXTRAS } };
	struct library *library;
	int result = 0;
	size_t i, j;

	for (i = 0; i < all->n_libraries && result == 0; i++) {
		library = &all->libraries[i];
		if (sy_vendor_is_own(library->soname) ||
		    sy_vendor_has_simulated(all->sim_dir, all->torch->cuda_major, library->soname)) {
			result = keep_missing(all, library, &extras);
			continue;
		}
		for (j = 0; j < library->n_stubs; j++)
			sy_vendor_answer(library->soname, all->torch, &library->stubs[j]);
		result = emit(all, library, fn, context);
	}
	if (result == 0 && extras.n_stubs)
		result = emit(all, &extras, fn, context);
	while (extras.n_stubs)
		drop_stub(&extras, extras.n_stubs - 1);
	free(extras.stubs);
	return result;
}

static void free_collection(struct collection *all)
{
	size_t i;

	for (i = 0; i < all->n_libraries; i++) {
		struct library *library = &all->libraries[i];

		while (library->n_stubs)
			drop_stub(library, library->n_stubs - 1);
		free(library->stubs);
		free(library->soname);
	}
}

int sy_vendor_stubs(const struct sy_torch *torch, const char *sim_dir, sy_stub_file_fn fn, void *context, char *err,
                    size_t err_bytes)
{
	struct collection all = { .torch = torch, .sim_dir = sim_dir, .err = err, .err_bytes = err_bytes };
	int result = each_torch_library(&all, false);

	if (result == 0)
		result = each_torch_library(&all, true);
	if (result == 0)
		result = emit_all(&all, fn, context);
	free_collection(&all);
	return result;
}
