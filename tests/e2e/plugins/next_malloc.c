/* SPDX-License-Identifier: Apache-2.0 */
/* next_malloc.c - an allocator in front of the next one, which it must find by RTLD_NEXT to be libc's */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *(*malloc_fn)(size_t bytes);

static void *next_malloc;

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
	union {
		void *object;
		malloc_fn function;
	} next = { __atomic_load_n(&next_malloc, __ATOMIC_RELAXED) };

	if (!next.object) {
		next.object = dlsym(RTLD_NEXT, "malloc");
		__atomic_store_n(&next_malloc, next.object, __ATOMIC_RELAXED);
	}
	return next.function(bytes);
}

__attribute__((destructor)) static void tell(void)
{
	Dl_info info = { .dli_fname = "?" };
	const char *base;

	dladdr(next_malloc, &info);
	base = strrchr(info.dli_fname, '/');
	fprintf(stderr, "malloc comes from %s\n", base ? base + 1 : info.dli_fname);
}
