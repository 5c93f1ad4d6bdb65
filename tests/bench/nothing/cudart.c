/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.c - a CUDA runtime that does nothing, for measuring what we add to a call
 *
 * Against the simulated device the cost of the simulation would hide it.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
	*pointer = calloc(1, bytes);
	return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
	return cudaMallocHost(pointer, bytes);
}

EXPORT cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                                    cudaStream_t stream)
{
	(void)function, (void)grid, (void)block, (void)arguments, (void)shared_bytes, (void)stream;
	return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
	(void)to, (void)from, (void)bytes, (void)kind, (void)stream;
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
	(void)event;
	return cudaSuccess;
}
