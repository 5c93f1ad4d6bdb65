/* SPDX-License-Identifier: Apache-2.0 */
/*
 * per_thread.c - the calls a program makes that was compiled for per-thread default streams
 *
 * The macro turns each name into its _ptsz or _ptds spelling (R22).
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include "tests/conformance/conformance.h"

cudaError_t conf_ptsz_occupy(const struct conf *c)
{
	uint64_t ns = c->spin_ns;
	void *params[] = { &ns };

	return (cudaError_t)cuLaunchKernel(c->spin, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
}

cudaError_t conf_ptsz_synchronize_0(void)
{
	return cudaStreamSynchronize(NULL);
}

cudaError_t conf_ptds_copy(void *to, const void *from, size_t bytes)
{
	return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
