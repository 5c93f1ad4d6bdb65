/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - how long CUDA calls take that do nothing
 *
 * Linked to nothing/cudart.c. scripts/bench.sh runs it bare and with the preload
 * library; the difference is what we add. Prints one line per case: a name
 * and the best of several rounds, in nanoseconds per call.
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { N_ROUNDS = 7, N_CALLS = 50000 };

static void *device, *pinned;

static void launch(void)
{
	(void)cudaLaunchKernel(&device, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL);
}

static void query(void)
{
	(void)cudaEventQuery(NULL);
}

static void synchronize(void)
{
	(void)cudaStreamSynchronize(NULL);
}

static void readback(void)
{
	(void)cudaMemcpyAsync(pinned, device, sizeof(float), cudaMemcpyDeviceToHost, NULL);
	(void)cudaStreamSynchronize(NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double best_ns(void (*call)(void))
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < N_ROUNDS; round++) {
		uint64_t begin = now_ns(), spent;

		for (int i = 0; i < N_CALLS; i++)
			call();
		spent = now_ns() - begin;
		best = spent < best ? spent : best;
	}
	return (double)best / N_CALLS;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} cases[] = {
		{ "launch", launch }, { "query", query }, { "synchronize", synchronize }, { "readback", readback }
	};

	if (cudaMalloc(&device, 64) != cudaSuccess || cudaMallocHost(&pinned, 64) != cudaSuccess)
		return 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		printf("%s %.2f\n", cases[i].name, best_ns(cases[i].call));
	return 0;
}
