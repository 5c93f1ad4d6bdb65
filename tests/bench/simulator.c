/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulator.c - what the simulated device itself costs, in virtual time
 *
 * A step of 10,000 launches with copies and waits between them, as a trainer
 * makes them. Prints one line per kind of call: a name and the best of several
 * rounds, in nanoseconds per call.
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <synctally_sim.h>

enum { N_ROUNDS = 7, N_CALLS = 10000 };

static void *device, *pinned, *pageable;
static const char stub;

static void launch(void)
{
	(void)cudaLaunchKernel(&stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL);
}

static void copy_down_pinned(void)
{
	(void)cudaMemcpyAsync(pinned, device, sizeof(float), cudaMemcpyDeviceToHost, NULL);
}

static void copy_up_pageable(void)
{
	(void)cudaMemcpyAsync(device, pageable, sizeof(float), cudaMemcpyHostToDevice, NULL);
}

static void wait_for_stream(void)
{
	(void)cudaStreamSynchronize(NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void measure(const char *name, void (*call)(void))
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < N_ROUNDS; round++) {
		uint64_t begin = now_ns(), spent;

		for (int i = 0; i < N_CALLS; i++)
			call();
		spent = now_ns() - begin;
		best = spent < best ? spent : best;
		(void)cudaDeviceSynchronize();
	}
	printf("%s %.1f\n", name, (double)best / N_CALLS);
}

int main(void)
{
	const struct synctally_sim_kernel kernel = { .name = "only_takes_time", .stub = &stub };

	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	pageable = malloc(64);
	if (synctally_sim_register_kernel(&kernel) != 0 || cudaMalloc(&device, 64) != cudaSuccess ||
	    cudaMallocHost(&pinned, 64) != cudaSuccess || !pageable)
		return 1;
	measure("launch", launch);
	measure("copy_down_pinned", copy_down_pinned);
	measure("copy_up_pageable", copy_up_pageable);
	measure("wait", wait_for_stream);
	return 0;
}
