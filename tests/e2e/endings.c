/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endings.c - a program that ends in the way it is told to, with calls under way
 *
 *	endings exit|_exit|abort|kill|segv|return COUNTS [CALLS] [SEED]
 *
 * Four threads make recorded calls and count each finished one in the file
 * COUNTS (four 64-bit numbers, a shared mapping, so it survives any ending).
 * When CALLS are done in all (a random number for "kill", from SEED) the
 * program ends, while the other threads go on calling. Who recorded them must
 * have every call that was counted.
 */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_THREADS = 4 };

static struct {
	uint64_t *counts;   /* finished calls, by thread */
	uint64_t n_calls;   /* of all threads, after which to end */
	uint64_t n_done;    /* atomic */
	uint32_t is_ending; /* atomic */
	const char *how;
} run;

static void end(void)
{
	if (strcmp(run.how, "exit") == 0)
		exit(3);
	if (strcmp(run.how, "_exit") == 0)
		_exit(4);
	if (strcmp(run.how, "abort") == 0)
		abort();
	if (strcmp(run.how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(run.how, "segv") == 0)
		raise(SIGSEGV);
}

/* What is to be counted is finished: first the call returned, then the count goes up. */
static void count(uint64_t *own)
{
	__atomic_fetch_add(own, 1, __ATOMIC_RELEASE);
	if (__atomic_add_fetch(&run.n_done, 1, __ATOMIC_RELAXED) < run.n_calls)
		return;
	if (strcmp(run.how, "return") != 0 && __atomic_exchange_n(&run.is_ending, 1, __ATOMIC_RELAXED) == 0)
		end();
}

static void *thread_main(void *argument)
{
	uint64_t *own = &run.counts[(intptr_t)argument];
	float *device, *pinned;
	cudaStream_t stream;

	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	cudaMalloc((void **)&device, 64);
	cudaMallocHost((void **)&pinned, 64);
	while (strcmp(run.how, "return") != 0 || __atomic_load_n(&run.n_done, __ATOMIC_RELAXED) < run.n_calls) {
		cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream);
		count(own);
		cudaStreamSynchronize(stream);
		count(own);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];
	int fd;

	if (argc < 3)
		return 2;
	run.how = argv[1];
	run.n_calls = argc > 3 ? strtoull(argv[3], NULL, 10) : 2000;
	if (argc > 4) {
		srand((unsigned)atoi(argv[4]));
		run.n_calls = 1 + (uint64_t)rand() % run.n_calls;
	}
	fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, N_THREADS * sizeof(uint64_t)) != 0)
		return 2;
	run.counts = mmap(NULL, N_THREADS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (run.counts == MAP_FAILED)
		return 2;
	close(fd);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
