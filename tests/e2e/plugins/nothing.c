/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nothing.c - CUDA functions that do nothing, to be preloaded behind a recorder
 *
 * The handle of a stream is made out of its priority. A wait raises SIGURG first: without a handler that is ignored, with one the
 * program is interrupted inside the call.
 */
#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

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

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	(void)flags;
	*stream = (cudaStream_t)((uintptr_t)priority << 12);
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	(void)stream;
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	raise(SIGURG);
	return cudaSuccess;
}
