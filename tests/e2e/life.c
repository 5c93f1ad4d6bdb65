/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.c - threads and processes that come and go around CUDA calls
 *
 *	life threads N      N short threads, at most 8 at once, one recorded call each
 *	life forks N        N children forked while 4 threads call; every second one calls CUDA itself
 *	life workers        8 children that wait for work, ended by SIGTERM; the parent goes on
 *	life wait           one call, then nothing until a signal
 *	life stacks BYTES   a thread with a stack of that size
 *
 * Prints what it did and what it got, which must not depend on who watches.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_AT_ONCE = 8, N_CALLERS = 4, N_WORKERS = 8 };

static uint32_t is_over; /* atomic */

static void *call_once(void *result)
{
	*(int *)result = (int)cudaStreamSynchronize(NULL);
	return NULL;
}

static int short_threads(int n)
{
	int n_bad = 0;

	for (int done = 0; done < n; done += N_AT_ONCE) {
		pthread_t threads[N_AT_ONCE];
		int results[N_AT_ONCE];

		for (int i = 0; i < N_AT_ONCE; i++)
			if (pthread_create(&threads[i], NULL, call_once, &results[i]) != 0)
				return 2;
		for (int i = 0; i < N_AT_ONCE; i++) {
			pthread_join(threads[i], NULL);
			n_bad += results[i] != 0;
		}
	}
	printf("%d threads, %d bad results\n", n, n_bad);
	return 0;
}

static void *call_on(void *unused)
{
	void *device = NULL, *host = NULL;
	cudaStream_t stream;

	(void)unused;
	cudaStreamCreate(&stream);
	cudaMalloc(&device, 64);
	cudaMallocHost(&host, 64);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		cudaMemcpyAsync(host, device, 16, cudaMemcpyDeviceToHost, stream);
		cudaStreamSynchronize(stream);
	}
	return NULL;
}

/* A child's exit status says what its own calls returned. */
static void be_child(int number)
{
	int status = 0;

	if (number % 2 == 0)
		for (int i = 0; i < 3; i++)
			status = (int)cudaStreamSynchronize(NULL);
	if (number % 4 == 0)
		exit(status + 10);
	_exit(status + 10);
}

static int forks(int n)
{
	pthread_t threads[N_CALLERS];

	/* The device is in use before the first fork, or that child could still begin with it anew. */
	(void)cudaDeviceSynchronize();
	for (int i = 0; i < N_CALLERS; i++)
		if (pthread_create(&threads[i], NULL, call_on, NULL) != 0)
			return 2;
	for (int i = 0; i < n; i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			be_child(i);
		waitpid(child, &status, 0);
		printf("child %d: exit %d, signal %d\n", i, WEXITSTATUS(status),
		       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		fflush(stdout);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < N_CALLERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* As the workers of a data loader: they touch no device, and end by the default action of SIGTERM. */
static int workers(void)
{
	pid_t children[N_WORKERS];

	(void)cudaDeviceSynchronize();
	for (int i = 0; i < N_WORKERS; i++) {
		children[i] = fork();
		if (children[i] == 0)
			for (;;)
				pause();
	}
	for (int i = 0; i < N_WORKERS; i++) {
		int status = 0;

		(void)cudaDeviceSynchronize();
		kill(children[i], SIGTERM);
		waitpid(children[i], &status, 0);
		printf("worker %d: signal %d\n", i, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
	printf("parent: %d\n", (int)cudaDeviceSynchronize());
	return 0;
}

static int small_stack(size_t bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int result = -1;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, bytes) != 0 ||
	    pthread_create(&thread, &attributes, call_once, &result) != 0)
		return 2;
	pthread_join(thread, NULL);
	printf("stack of %zu bytes: %d\n", bytes, result);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(what, "threads") == 0)
		return short_threads(n);
	if (strcmp(what, "forks") == 0)
		return forks(n);
	if (strcmp(what, "workers") == 0)
		return workers();
	if (strcmp(what, "stacks") == 0)
		return small_stack((size_t)n);
	if (strcmp(what, "wait") == 0 && cudaDeviceSynchronize() == cudaSuccess && puts("waiting") >= 0 &&
	    fflush(stdout) == 0)
		for (;;)
			pause();
	return 2;
}
