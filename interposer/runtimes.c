/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/runtimes.h"

#include "interposer/compiler.h"
#include "interposer/dl.h"
#include "interposer/undisturbed.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define PREFIX "libcudart.so"
#define MAX_RUNTIMES 4
#define N_CALLERS 4096 /* places in programs that call the runtime; more are asked for each time */

bool sy_runtimes_are_many;

static struct runtime {
	char name[32];
	void *handle;              /* never given back */
	sy_fn functions[SY_N_API]; /* atomic; NULL: not asked for yet */
} runtimes[MAX_RUNTIMES];
static unsigned n_runtimes; /* atomic; grows under the mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The runtime of a caller, index + 1, in the low bits of its address: atomic, 0 empty. */
static uint64_t callers[N_CALLERS];

_Static_assert(MAX_RUNTIMES < 8, "index + 1 has to fit below the address");

/* ISO C has no conversion from object to function pointer; dlsym's callers need one. */
static sy_fn to_function(void *object)
{
	union {
		void *object;
		sy_fn function;
	} u = { object };

	return u.function;
}

/* The runtime that an object names: as what it needs (DT_NEEDED), or as what it is (DT_SONAME). NULL: none. */
static const char *named_runtime(const struct link_map *map, int64_t tag)
{
	const char *strings = NULL;

	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_STRTAB)
			strings = (const char *)entry->d_un.d_ptr;
	/* The vdso's table is not relocated. */
	if ((uintptr_t)strings < map->l_addr)
		return NULL;
	for (const ElfW(Dyn) *entry = map->l_ld; strings && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag && strncmp(strings + entry->d_un.d_val, PREFIX, sizeof(PREFIX) - 1) == 0)
			return strings + entry->d_un.d_val;
	return NULL;
}

static const char *runtime_of(const void *address)
{
	void *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, &map, RTLD_DL_LINKMAP) && map ? named_runtime(map, DT_NEEDED) : NULL;
}

/* Under the mutex. The runtime with that name, index + 1; 0: it is not loaded, or there are too many. */
static unsigned add_runtime(const char *name)
{
	unsigned n = __atomic_load_n(&n_runtimes, __ATOMIC_RELAXED);
	void *handle;

	for (unsigned i = 0; i < n; i++)
		if (strcmp(runtimes[i].name, name) == 0)
			return i + 1;
	if (n == MAX_RUNTIMES || strlen(name) >= sizeof(runtimes[0].name))
		return 0;
	handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!handle) {
		(void)dlerror(); /* ours, not the program's */
		return 0;
	}
	strcpy(runtimes[n].name, name);
	runtimes[n].handle = handle;
	__atomic_store_n(&n_runtimes, n + 1, __ATOMIC_RELEASE);
	if (n == 1) {
		__atomic_store_n(&sy_runtimes_are_many, true, __ATOMIC_SEQ_CST);
		sy_real_forget_runtime();
	}
	return n + 1;
}

static unsigned find_runtime(const char *name)
{
	unsigned found;

	pthread_mutex_lock(&mutex);
	found = add_runtime(name);
	pthread_mutex_unlock(&mutex);
	return found;
}

/* Who is linked to none has found its functions by name, in the first one. */
static SY_COLD unsigned ask_caller(const void *caller)
{
	/* A forked child asks the loader for nothing (dl.h), and has no device in any runtime. */
	const char *name = sy_dl_is_child() ? NULL : runtime_of(caller);
	unsigned found = name ? find_runtime(name) : 0;
	uint64_t key = (uint64_t)(uintptr_t)caller << 3;

	found = found ? found : 1;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t *slot = &callers[((uintptr_t)caller + i) % N_CALLERS], expected = 0;

		if (__atomic_compare_exchange_n(slot, &expected, key | found, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED))
			break;
	}
	return found;
}

static unsigned runtime_of_caller(const void *caller)
{
	uint64_t key = (uint64_t)(uintptr_t)caller << 3;

	if (!caller)
		return 1;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t seen = __atomic_load_n(&callers[((uintptr_t)caller + i) % N_CALLERS], __ATOMIC_RELAXED);

		if ((seen & ~7ull) == key)
			return seen & 7;
	}
	return ask_caller(caller);
}

sy_fn sy_runtimes_find(enum sy_api api, const void *caller)
{
	struct runtime *runtime = &runtimes[runtime_of_caller(caller) - 1];
	sy_fn found = __atomic_load_n(&runtime->functions[api], __ATOMIC_RELAXED);

	if (found)
		return found;
	found = to_function(sy_libc_dlsym(runtime->handle, sy_api_desc[api].name));
	if (!found)
		(void)dlerror();
	__atomic_store_n(&runtime->functions[api], found, __ATOMIC_RELAXED);
	return found;
}

void sy_runtimes_note(const void *link_map)
{
	const char *name = named_runtime(link_map, DT_SONAME);

	if (name)
		(void)find_runtime(name);
}

void sy_runtimes_init(void)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		sy_runtimes_note(map);
}

/*
 * What the start-up code calls that nvcc writes into each library with kernels.
 * Handed on to the caller's own runtime, as the loader would have done without us.
 */
void **__cudaRegisterFatBinary(void *binary);

SY_EXPORT void **__cudaRegisterFatBinary(void *binary)
{
	typedef void **(*register_fn)(void *binary);
	const char *name = runtime_of(__builtin_return_address(0));
	struct sy_undisturbed saved;
	unsigned found;
	union {
		void *object;
		register_fn function;
	} real;

	sy_undisturbed_begin(&saved);
	if (!sy_real_dlsym)
		sy_dl_init();
	found = name ? find_runtime(name) : 0;
	real.object = sy_libc_dlsym(found ? runtimes[found - 1].handle : RTLD_NEXT, __func__);
	sy_undisturbed_end(&saved);
	return real.object ? real.function(binary) : NULL;
}
