/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - more launches than a stream's queue holds (stackoverflow question 53970187)
 *
 *	queue N_LAUNCHES N_STEPS [STREAMS]    each step: so many launches, in turn on so many streams, and one wait at its end
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <synctally.h>
#include <synctally_sim.h>

enum { MAX_STREAMS = 8 };

static char stub;

int main(int argc, char **argv)
{
	struct synctally_sim_kernel kernel = { .name = "slow", .stub = &stub, .device_ns = 50000 };
	const dim3 one = { 1, 1, 1 };
	cudaStream_t streams[MAX_STREAMS];
	int n_launches = argc > 1 ? atoi(argv[1]) : 0, n_steps = argc > 2 ? atoi(argv[2]) : 1;
	int n_streams = argc > 3 ? atoi(argv[3]) : 1;

	if (n_streams < 1 || n_streams > MAX_STREAMS || synctally_sim_register_kernel(&kernel) != 0)
		return 2;
	for (int i = 0; i < n_streams; i++)
		if (cudaStreamCreate(&streams[i]) != cudaSuccess)
			return 1;
	for (int step = 0; step < n_steps; step++) {
		for (int i = 0; i < n_launches; i++)
			if (cudaLaunchKernel(&stub, one, one, NULL, 0, streams[i % n_streams]) != cudaSuccess)
				return 1;
		if (cudaDeviceSynchronize() != cudaSuccess)
			return 1;
		synctally_step_end();
	}
	return 0;
}
