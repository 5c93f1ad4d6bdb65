/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.c - a program that calls CUDA and then starts another
 *
 *   children HOW COMMAND...    HOW: none, exec, vfork, spawn, system; without COMMAND only its own calls
 *
 * Prints its own pid on standard error, so that its trace can be told from its child's.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int finish(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	pid_t child;

	if (argc < 2 || cudaDeviceSynchronize() != cudaSuccess)
		return 98;
	fprintf(stderr, "pid %d\n", (int)getpid());
	if (argc == 2)
		return 0;
	if (strcmp(argv[1], "exec") == 0) {
		execvp(argv[2], argv + 2);
		return 97;
	}
	if (strcmp(argv[1], "vfork") == 0) {
		child = vfork();
		if (child == 0) {
			execvp(argv[2], argv + 2);
			_exit(97);
		}
		return finish(child);
	}
	if (strcmp(argv[1], "spawn") == 0)
		return posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ) ? 97 : finish(child);
	if (strcmp(argv[1], "system") == 0)
		return WEXITSTATUS(system(argv[2]));
	return 96;
}
