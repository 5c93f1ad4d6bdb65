/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blind.c - a program that calls CUDA, and loads libraries that do so too
 *
 *	blind N_STEPS ENDING [HOW LIBRARY FUNCTION]...    ENDING: exit, _exit, "read FILE"; HOW: plain, deepbind, newspace
 *
 * Each library's function is called once in each step.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <synctally.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 8 };

typedef int (*calls_fn)(int n);

static calls_fn load(const char *how, const char *path, const char *function)
{
	union {
		void *object;
		calls_fn function;
	} calls = { NULL };
	void *handle = strcmp(how, "newspace") == 0   ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW)
	               : strcmp(how, "deepbind") == 0 ? dlopen(path, RTLD_LAZY | RTLD_DEEPBIND)
	                                              : dlopen(path, RTLD_LAZY);

	if (handle)
		calls.object = dlsym(handle, function);
	if (!calls.object)
		fprintf(stderr, "%s\n", dlerror());
	return calls.function;
}

int main(int argc, char **argv)
{
	calls_fn calls[MAX_LIBRARIES];
	int n = 0;

	for (int i = 3; i + 2 < argc && n < MAX_LIBRARIES; i += 3) {
		calls[n] = load(argv[i], argv[i + 1], argv[i + 2]);
		if (!calls[n++])
			return 2;
	}
	for (int step = 0; step < atoi(argv[1]); step++) {
		if (cudaDeviceSynchronize() != cudaSuccess)
			return 3;
		for (int i = 0; i < n; i++)
			if (calls[i](1) != 0)
				return 4;
		synctally_step_end();
	}
	if (strcmp(argv[2], "_exit") == 0)
		_exit(0);
	if (strncmp(argv[2], "read ", 5) == 0) {
		FILE *file = fopen(argv[2] + 5, "r");

		return !file || fgetc(file) == EOF;
	}
	return 0;
}
