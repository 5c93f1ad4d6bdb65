/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/dl.h"

#include "interposer/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

sy_dlsym_fn sy_real_dlsym;
sy_dlsym_fn sy_libc_dlsym;
static pid_t first_pid; /* of the process that the library was loaded into */
sy_dlvsym_fn sy_real_dlvsym;

/* The versions under which glibc has carried dlsym: since 2.34 in libc itself, before in libdl. */
#if defined(__x86_64__)
static const char *const dl_versions[] = { "GLIBC_2.34", "GLIBC_2.2.5" };
#else
static const char *const dl_versions[] = { "GLIBC_2.34", "GLIBC_2.17" };
#endif
#define N_DL_VERSIONS (sizeof(dl_versions) / sizeof(dl_versions[0]))

/* The dynamic symbol tables of one loaded object. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions; /* may be NULL */
	const ElfW(Verdef) *verdef; /* may be NULL */
	const uint32_t *gnu_hash;
};

/* Own copies: strcmp and the like may be an interposer's, not yet ready to be called. */
static bool same_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const char *base_name(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

/* glibc relocates most table addresses in place, but not the vdso's. */
static const void *table_at(ElfW(Addr) base, ElfW(Addr) address)
{
	return (const void *)(address >= base ? address : address + base);
}

static bool read_object(ElfW(Addr) base, const ElfW(Dyn) *dynamic, struct object *object)
{
	*object = (struct object){ .base = base };
	if (!dynamic)
		return false;
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		const void *at = table_at(base, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			object->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			object->strings = at;
		else if (d->d_tag == DT_VERSYM)
			object->versions = at;
		else if (d->d_tag == DT_VERDEF)
			object->verdef = at;
		else if (d->d_tag == DT_GNU_HASH)
			object->gnu_hash = at;
	}
	return object->symbols && object->strings && object->gnu_hash && object->gnu_hash[0];
}

static bool has_version(const struct object *object, uint32_t index, const char *version)
{
	const ElfW(Verdef) *def = object->verdef;

	if (!object->versions || !def)
		return false;
	for (;;) {
		if (def->vd_ndx == (object->versions[index] & 0x7fff)) {
			const ElfW(Verdaux) *aux = (const void *)((const char *)def + def->vd_aux);

			return same_text(object->strings + aux->vda_name, version);
		}
		if (!def->vd_next)
			return false;
		def = (const void *)((const char *)def + def->vd_next);
	}
}

/* Looks a defined symbol up in one object; with a version, only under that one. */
static void *find_in(const struct object *object, const char *name, const char *version)
{
	const uint32_t *table = object->gnu_hash;
	const uint32_t n_buckets = table[0], first = table[1], n_bloom = table[2];
	const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + n_bloom);
	const uint32_t *chains = buckets + n_buckets;
	uint32_t hash = 5381;
	uint32_t i;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	i = buckets[hash % n_buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *symbol = &object->symbols[i];
		uint32_t chain = chains[i - first];

		if ((chain | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    same_text(object->strings + symbol->st_name, name) && (!version || has_version(object, i, version)))
			return (void *)(object->base + symbol->st_value);
		if (chain & 1)
			return NULL;
	}
}

/*
 * dlvsym by hand: ours would be found by any reference from here, and calling
 * dl_iterate_phdr instead of reading _r_debug has crashed under
 * AddressSanitizer, whose start-up asks dlsym for the originals of its own
 * interceptors while they are still null.
 */
static void *find_in_libc(const char *name)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const char *base = base_name(map->l_name);
		struct object object;

		if ((!same_text(base, "libc.so.6") && !same_text(base, "libdl.so.2")) ||
		    !read_object(map->l_addr, map->l_ld, &object))
			continue;
		for (size_t i = 0; i < N_DL_VERSIONS; i++) {
			void *at = find_in(&object, name, dl_versions[i]);

			if (at)
				return at;
		}
	}
	return NULL;
}

void sy_dl_init(void)
{
	/* ISO C has no conversion from object to function pointer; a union is the loader's own idiom. */
	union {
		void *object;
		sy_dlsym_fn dlsym;
		sy_dlvsym_fn dlvsym;
	} vsym = { find_in_libc("dlvsym") }, libc = { find_in_libc("dlsym") }, next = libc;

	/*
	 * Another tool's dlsym behind us in the preload order stays in the chain. Asked for without a version,
	 * since with one only libc's matches.
	 */
	if (libc.object)
		next.object = libc.dlsym(RTLD_NEXT, "dlsym");
	first_pid = getpid();
	__atomic_store_n(&sy_real_dlvsym, vsym.dlvsym, __ATOMIC_RELEASE);
	__atomic_store_n(&sy_libc_dlsym, libc.dlsym, __ATOMIC_RELEASE);
	__atomic_store_n(&sy_real_dlsym, next.object ? next.dlsym : libc.dlsym, __ATOMIC_RELEASE);
}

bool sy_dl_is_child(void)
{
	return getpid() != first_pid;
}

void *sy_dl_answer(void *handle, const char *name)
{
	/* Those two depend on who asks, which we would hide. */
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT)
		return NULL;
	return sy_real_replace_symbol(handle, name);
}

struct question {
	const char *name;
	bool is_defined;
};

static int ask_object(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct question *question = data;
	const ElfW(Dyn) *dynamic = NULL;
	struct object object;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (read_object(info->dlpi_addr, dynamic, &object) && find_in(&object, question->name, NULL))
		question->is_defined = true;
	return question->is_defined;
}

bool sy_dl_is_defined(const char *name)
{
	struct question question = { name, false };

	dl_iterate_phdr(ask_object, &question);
	return question.is_defined;
}
