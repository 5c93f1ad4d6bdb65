/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - a library that is loaded while the program runs, and calls CUDA */
#include <cuda.h>
#include <cuda_runtime_api.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int plugin_calls(int n);
EXPORT int plugin_driver_calls(int n);

int plugin_calls(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		void *device = 0;
		char host[16];

		sum += (int)cudaMalloc(&device, sizeof(host));
		sum += (int)cudaMemset(device, 1, sizeof(host));
		sum += (int)cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
		sum += (int)cudaFree(device);
	}
	return sum;
}

int plugin_driver_calls(int n)
{
	CUcontext context = 0;
	CUdevice device = 0;
	int sum = 0;

	sum += (int)cuInit(0);
	sum += (int)cuDeviceGet(&device, 0);
	sum += (int)cuDevicePrimaryCtxRetain(&context, device);
	sum += (int)cuCtxSetCurrent(context);
	for (int i = 0; i < n; i++)
		sum += (int)cuCtxSynchronize();
	return sum;
}
