/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - what a program does to its surroundings while it is recorded
 *
 *	limits CONDITION FILE     FILE: where its trace will be, or what the condition needs
 *
 * One call, then the condition, then calls of three threads at once, enough of
 * them that the trace has to be extended. Prints what the calls returned.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_THREADS = 3, N_CALLS = 3000, DESCRIPTORS = 1024 };

static pthread_barrier_t barrier;

static void *call_many(void *result)
{
	int *n_bad = result;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < N_CALLS; i++) {
		errno = 77;
		*n_bad += cudaStreamSynchronize(NULL) != cudaSuccess || errno != 77;
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static bool limit(__rlimit_resource_t what, rlim_t value)
{
	struct rlimit limits;

	if (getrlimit(what, &limits) != 0)
		return false;
	limits.rlim_cur = value;
	return setrlimit(what, &limits) == 0;
}

/* As a daemon does that knows no better: whatever was open is closed, and the numbers come to mean other things. */
static bool close_all(const char *file)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		close(fd);
	return open("/dev/null", O_RDONLY) == 0 && open("answer", O_WRONLY | O_CREAT | O_TRUNC, 0600) == 1 &&
	       open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600) == 2;
}

static bool replace(const char *file)
{
	int fd = open("other", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	return fd >= 0 && write(fd, "somebody else's\n", 16) == 16 && close(fd) == 0 && rename("other", file) == 0;
}

static bool apply(const char *condition, const char *file)
{
	if (strcmp(condition, "nothing") == 0)
		return true;
	if (strcmp(condition, "nofile") == 0)
		return limit(RLIMIT_NOFILE, 3);
	if (strcmp(condition, "fsize") == 0)
		return limit(RLIMIT_FSIZE, 300000);
	if (strcmp(condition, "closed") == 0)
		return close_all(file);
	if (strcmp(condition, "closed-removed") == 0)
		return unlink("run.trace") == 0 && close_all(file);
	if (strcmp(condition, "removed") == 0)
		return unlink(file) == 0;
	if (strcmp(condition, "replaced") == 0)
		return replace(file);
	if (strcmp(condition, "chdir") == 0)
		return chdir("/") == 0;
	return false;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];
	int n_bad[N_THREADS] = { 0 };

	if (argc < 3 || cudaStreamSynchronize(NULL) != cudaSuccess)
		return 2;
	if (!apply(argv[1], argv[2]))
		return 3;
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, call_many, &n_bad[i]) != 0)
			return 4;
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s: %d bad\n", argv[1], n_bad[0] + n_bad[1] + n_bad[2]);
	return 0;
}
