/* SPDX-License-Identifier: Apache-2.0 */
/* second_dlsym.c - another tool that stands in for dlsym, in the plain way: in C, and going on to the next one */
#define DLSYM_VERSION "GLIBC_2.34"
#define DLSYM_VERSION_BEFORE "GLIBC_2.2.5"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *(*dlsym_fn)(void *handle, const char *name);

static unsigned long n_seen; /* atomic */

static dlsym_fn find_next(void)
{
	union {
		void *object;
		dlsym_fn function;
	} next = { dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION) };

	if (!next.object)
		next.object = dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION_BEFORE);
	return next.function;
}

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
	static dlsym_fn next;

	if (!next)
		next = find_next();
	__atomic_fetch_add(&n_seen, 1, __ATOMIC_RELAXED);
	return next(handle, name);
}

__attribute__((destructor)) static void tell(void)
{
	if (getenv("TELL_DLSYM"))
		fprintf(stderr, "dlsym was asked: %s\n", n_seen ? "yes" : "no");
}
