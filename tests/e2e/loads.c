/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads.c - loads a library that calls CUDA, in every way there is
 *
 *	loads plain|local|deepbind|newspace|again LIBRARY
 *	                                           (newspace: driver calls only; glibc does not survive
 *	                                           there the RTLD_GLOBAL of a runtime)
 *	loads lookups                              names on standard input
 *
 * Prints what its calls returned; for names, where each way of looking up finds them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*calls_fn)(int n);

enum { N_CALLS = 3, N_AGAIN = 20 };

static void *load(const char *how, const char *path)
{
	if (strcmp(how, "deepbind") == 0)
		return dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
	if (strcmp(how, "newspace") == 0)
		return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	return dlopen(path, RTLD_NOW | (strcmp(how, "plain") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
}

static int call(const char *how, const char *path)
{
	union {
		void *object;
		calls_fn function;
	} calls;
	void *handle = load(how, path);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	calls.object = dlsym(handle, strcmp(how, "newspace") == 0 ? "plugin_driver_calls" : "plugin_calls");
	printf("%s: %d\n", how, calls.object ? calls.function(N_CALLS) : -1);
	return dlclose(handle);
}

static void print_place(const char *how, const char *name, void *found)
{
	Dl_info info;
	const char *base, *error = dlerror();

	if (!found || !dladdr(found, &info)) {
		printf("%s %s: %s\n", name, how, error ? error : "nothing");
		return;
	}
	base = strrchr(info.dli_fname, '/');
	printf("%s %s: %s+%#tx\n", name, how, base ? base + 1 : info.dli_fname, (char *)found - (char *)info.dli_fbase);
}

static int lookups(void)
{
	void *self = dlopen(NULL, RTLD_LAZY), *libc = dlopen("libc.so.6", RTLD_LAZY);
	void *cudart = dlopen("libcudart.so.13", RTLD_LAZY);
	char name[256];

	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = '\0';
		print_place("default", name, dlsym(RTLD_DEFAULT, name));
		print_place("next", name, dlsym(RTLD_NEXT, name));
		print_place("self", name, dlsym(self, name));
		print_place("libc", name, dlsym(libc, name));
		print_place("cudart", name, dlsym(cudart, name));
	}
	return 0;
}

int main(int argc, char **argv)
{
	int result = 0;

	if (argc > 1 && strcmp(argv[1], "lookups") == 0)
		return lookups();
	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "again") != 0)
		return call(argv[1], argv[2]);
	for (int i = 0; i < N_AGAIN && result == 0; i++)
		result = call("local", argv[2]);
	return result;
}
