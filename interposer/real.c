/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/real.h"

#include "interposer/compiler.h"
#include "interposer/dl.h"
#include "interposer/procaddr.h"
#include "interposer/runtimes.h"
#include "interposer/undisturbed.h"
#include "interposer/wrappers.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

sy_fn sy_real_fn[SY_N_API];

/* Names to rows. Filled at first use; threads that race fill in the same values. */
#define INDEX_SIZE 1024
static uint16_t name_index[INDEX_SIZE]; /* row + 1, 0 empty */
static _Bool is_index_ready;

_Static_assert(SY_N_API * 2 <= INDEX_SIZE, "the index must stay half empty");

static uint32_t name_hash(const char *name, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static SY_COLD void fill_index(void)
{
	for (unsigned api = 0; api < SY_N_API; api++) {
		const char *name = sy_api_desc[api].name;
		uint32_t i = name_hash(name, strlen(name)) % INDEX_SIZE;

		while (name_index[i] && name_index[i] != api + 1)
			i = (i + 1) % INDEX_SIZE;
		name_index[i] = (uint16_t)(api + 1);
	}
	__atomic_store_n(&is_index_ready, 1, __ATOMIC_RELEASE);
}

/* The row of an exported name, or -1. */
static int find_row(const char *name)
{
	uint32_t i = name_hash(name, strlen(name)) % INDEX_SIZE;

	if (SY_UNLIKELY(!__atomic_load_n(&is_index_ready, __ATOMIC_ACQUIRE)))
		fill_index();
	for (; name_index[i]; i = (i + 1) % INDEX_SIZE)
		if (strcmp(sy_api_desc[name_index[i] - 1].name, name) == 0)
			return name_index[i] - 1;
	return -1;
}

/* ISO C has no conversion between object and function pointers; dlsym's users need one. Here is the only one. */
static sy_fn to_function(void *object)
{
	union {
		void *object;
		sy_fn function;
	} u = { object };

	return u.function;
}

static void *to_object(sy_fn function)
{
	union {
		sy_fn function;
		void *object;
	} u = { function };

	return u.object;
}

/* What a program gets that calls a function no loaded library has. */
static int absent(void)
{
	return cudaErrorNotSupported;
}

_Static_assert((int)cudaErrorNotSupported == (int)CUDA_ERROR_NOT_SUPPORTED, "one stand-in serves both layers");

/* The libraries that are kept already, by their link maps. With more than fit, some are kept again. */
#define MAX_KEPT 16
static const void *kept[MAX_KEPT];

static bool is_kept(const void *map)
{
	for (unsigned i = 0; i < MAX_KEPT; i++)
		if (__atomic_load_n(&kept[i], __ATOMIC_RELAXED) == map)
			return true;
	return false;
}

static void note_kept(const void *map)
{
	for (unsigned i = 0; i < MAX_KEPT; i++) {
		const void *expected = NULL;

		if (__atomic_compare_exchange_n(&kept[i], &expected, map, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    expected == map)
			return;
	}
}

void sy_real_keep(const void *function)
{
	void *map = NULL;
	Lmid_t space;
	Dl_info info;

	if (sy_dl_is_child())
		return;
	if (!dladdr1(function, &info, &map, RTLD_DL_LINKMAP) || !map || is_kept(map))
		return;
	/* The handle is not given back; there is nothing to be unloaded any more. */
	if (dlinfo(map, RTLD_DI_LMID, &space) == 0 &&
	    dlmopen(space, info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) {
		note_kept(map);
		sy_runtimes_note(map);
	}
}

void sy_real_keep_loaded(void)
{
	static const char *const names[] = { "cudaMemcpyAsync", "cuMemcpyDtoHAsync_v2" };
	struct sy_undisturbed saved;

	sy_undisturbed_begin(&saved);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const void *at = sy_libc_dlsym(RTLD_NEXT, names[i]);

		if (at)
			sy_real_keep(at);
		else
			(void)dlerror();
	}
	sy_undisturbed_end(&saved);
}

void sy_real_forget_runtime(void)
{
	for (unsigned api = 0; api < SY_N_API; api++)
		if (sy_api_desc[api].lib == SY_LIB_RT)
			__atomic_store_n(&sy_real_fn[api], NULL, __ATOMIC_SEQ_CST);
}

/* Unless the row is one of the runtime and there are several of them; another thread may just have found that out. */
static void remember(enum sy_api api, sy_fn function)
{
	__atomic_store_n(&sy_real_fn[api], function, __ATOMIC_SEQ_CST);
	if (SY_UNLIKELY(sy_api_desc[api].lib == SY_LIB_RT && __atomic_load_n(&sy_runtimes_are_many, __ATOMIC_SEQ_CST)))
		__atomic_store_n(&sy_real_fn[api], NULL, __ATOMIC_SEQ_CST);
}

static sy_fn find_of_caller(enum sy_api api, const void *caller)
{
	struct sy_undisturbed saved;
	sy_fn found;

	sy_undisturbed_begin(&saved);
	found = sy_runtimes_find(api, caller);
	sy_undisturbed_end(&saved);
	return found ? found : (sy_fn)absent;
}

SY_COLD sy_fn sy_real_find(enum sy_api api, const void *caller)
{
	static const char *const libraries[][5] = {
		[SY_LIB_RT] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so", NULL },
		[SY_LIB_DRV] = { "libcuda.so.1", "libcuda.so", NULL },
	};
	const struct sy_api_desc *desc = &sy_api_desc[api];
	struct sy_undisturbed saved;
	bool has_failed;
	void *at;

	if (desc->lib == SY_LIB_RT && __atomic_load_n(&sy_runtimes_are_many, __ATOMIC_SEQ_CST))
		return find_of_caller(api, caller);
	sy_undisturbed_begin(&saved);
	if (!sy_real_dlsym)
		sy_dl_init();
	at = sy_libc_dlsym(RTLD_NEXT, desc->name);
	has_failed = !at;
	/* A library loaded with RTLD_LOCAL is not "next"; it can still be asked by its name. */
	for (const char *const *library = libraries[desc->lib]; !at && *library; library++) {
		void *handle = dlopen(*library, RTLD_LAZY | RTLD_NOLOAD);

		if (handle) {
			at = sy_libc_dlsym(handle, desc->name);
			dlclose(handle);
		}
	}
	if (at)
		sy_real_keep(at);
	if (has_failed)
		(void)dlerror(); /* the failed look-ups were ours, not the program's */
	sy_undisturbed_end(&saved);
	if (!at)
		return (sy_fn)absent;
	remember(api, to_function(at));
	return to_function(at);
}

/* Makes `found` the true function of the row unless another one already is. */
static void *adopt(enum sy_api api, void *found)
{
	sy_fn expected = NULL;
	sy_fn function = to_function(found);

	if (function == sy_wrapper_fn[api])
		return found;
	/* A caller that is linked to no runtime is led to the first. */
	if (sy_api_desc[api].lib == SY_LIB_RT && __atomic_load_n(&sy_runtimes_are_many, __ATOMIC_SEQ_CST))
		return sy_runtimes_find(api, NULL) == function ? to_object(sy_wrapper_fn[api]) : found;
	if (__atomic_compare_exchange_n(&sy_real_fn[api], &expected, function, false, __ATOMIC_RELAXED,
	                                __ATOMIC_RELAXED))
		sy_real_keep(found);
	else if (expected != function)
		return found;
	return to_object(sy_wrapper_fn[api]);
}

void *sy_real_replace_symbol(void *handle, const char *name)
{
	int row = find_row(name);
	bool is_proc = row < 0 && strncmp(name, "cuGetProcAddress", 16) == 0;
	void *found;

	if (row < 0 && !is_proc)
		return NULL;
	found = sy_real_dlsym(handle, name);
	if (!found)
		return NULL; /* asked again by the caller's own jump, which leaves the caller's dlerror() */
	return is_proc ? sy_procaddr_replace(name, found) : adopt((enum sy_api)row, found);
}

void *sy_real_replace_proc(const char *base, int cuda_version, bool is_per_thread, void *found)
{
	static const struct {
		const char *base;
		const char *row;
		int since;
	} versioned[] = {
#define PROC(base, row, since) { #base, #row, since },
#include "api/cuda_proc.def"
#undef PROC
	};
	char name[64];
	size_t length = strlen(base);
	int row;

	if (strncmp(base, "cuGetProcAddress", 16) == 0)
		return sy_procaddr_replace(cuda_version >= 12000 ? "cuGetProcAddress_v2" : base, found);
	if (length >= sizeof(name) - 8)
		return found;
	memcpy(name, base, length + 1);
	for (size_t i = 0; i < sizeof(versioned) / sizeof(versioned[0]); i++) {
		if (strcmp(versioned[i].base, base) != 0 || cuda_version < versioned[i].since)
			continue;
		length = strlen(versioned[i].row);
		memcpy(name, versioned[i].row, length + 1);
	}
	if (is_per_thread) {
		memcpy(name + length, "_ptsz", 6);
		row = find_row(name);
		if (row < 0) {
			memcpy(name + length, "_ptds", 6);
			row = find_row(name);
		}
		if (row >= 0)
			return adopt((enum sy_api)row, found);
		name[length] = '\0';
	}
	row = find_row(name);
	return row < 0 ? found : adopt((enum sy_api)row, found);
}
