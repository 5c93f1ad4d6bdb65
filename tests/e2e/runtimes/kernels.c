/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - a library with a kernel, as nvcc makes them: it registers the kernel with its runtime when it is loaded
 *
 * Built for each version of CUDA, and linked to that version's runtime.
 */
#include <cuda_runtime_api.h>
#include <stddef.h>

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFunction(void **binary, const char *stub, char *device_stub, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp);

__attribute__((visibility("default"))) int kernels_run(int n);

static char image, stub;

__attribute__((constructor)) static void enlist(void)
{
	void **binary = __cudaRegisterFatBinary(&image);

	__cudaRegisterFunction(binary, &stub, &stub, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
}

/* Launches and waits `n` times, makes a call that fails, and tells by one number what came of all that. */
int kernels_run(int n)
{
	const dim3 one = { 1, 1, 1 };
	int version = 0, sum = 0;
	float *device, host;

	sum += (int)cudaRuntimeGetVersion(&version);
	sum += (int)cudaMalloc((void **)&device, sizeof(host));
	for (int i = 0; i < n; i++) {
		sum += (int)cudaLaunchKernel(&stub, one, one, NULL, 0, NULL);
		sum += (int)cudaMemcpy(&host, device, sizeof(host), cudaMemcpyDeviceToHost);
	}
	sum += 10000 * (int)cudaFree((void *)8);
	sum += 100000 * (int)cudaGetLastError();
	return sum + 1000000 * (version / 1000);
}
