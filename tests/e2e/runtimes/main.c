/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - a program whose libraries are linked to different CUDA runtimes
 *
 *	main N LIBRARY...    loads each, then calls them in turn N times, each launching and waiting three times
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_LIBRARIES = 4 };

int main(int argc, char **argv)
{
	union {
		void *object;
		int (*run)(int n);
	} libraries[MAX_LIBRARIES];
	int n = 0;

	for (int i = 2; i < argc && n < MAX_LIBRARIES; i++) {
		void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		libraries[n].object = handle ? dlsym(handle, "kernels_run") : NULL;
		if (!libraries[n++].object) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
	}
	for (int round = 0; round < atoi(argv[1]); round++)
		for (int i = 0; i < n; i++)
			printf("%d\n", libraries[i].run(3));
	return 0;
}
