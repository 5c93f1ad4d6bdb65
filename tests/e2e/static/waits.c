/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - the same waits, with whichever runtime the program is linked to
 *
 * Ten steps: an upload, work, two readbacks by copy and wait, one by a copy that
 * waits itself, a copy on the device that nobody waits for, one explicit wait.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <synctally.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		if ((call) != cudaSuccess) {                                                                           \
			fprintf(stderr, "failed: %s\n", #call);                                                        \
			return 1;                                                                                      \
		}                                                                                                      \
	} while (0)

int main(void)
{
	enum { N_STEPS = 10, BYTES = 64 };
	void *device, *other, *pinned;
	cudaStream_t stream;
	char pageable[BYTES] = { 1 };

	CHECK(cudaMalloc(&device, BYTES));
	CHECK(cudaMalloc(&other, BYTES));
	CHECK(cudaMallocHost(&pinned, BYTES));
	CHECK(cudaStreamCreate(&stream));
	for (int step = 0; step < N_STEPS; step++) {
		CHECK(cudaMemcpy(device, pageable, BYTES, cudaMemcpyHostToDevice));
		CHECK(cudaMemsetAsync(device, step, BYTES, stream));
		for (int i = 0; i < 2; i++) {
			CHECK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
			CHECK(cudaStreamSynchronize(stream));
		}
		CHECK(cudaMemcpy(pageable, device, BYTES, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(other, device, BYTES, cudaMemcpyDeviceToDevice));
		CHECK(cudaDeviceSynchronize());
		synctally_step_end();
	}
	printf("%d %d\n", pageable[0], ((char *)pinned)[BYTES - 1]);
	CHECK(cudaFree(device));
	return 0;
}
