/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handles.c - a stream whose handle comes again while its old place is another stream's
 *
 * To be run with the functions of plugins/nothing.c, which make the handle out
 * of the priority that is asked for. Prints nothing; the waits at the end are
 * what the recorder is asked about: the first has nothing to wait for, the second has.
 */
#include <cuda_runtime_api.h>

static const char kernel[1];

int main(void)
{
	cudaStream_t first, second, again;
	int sum = 0;

	sum += (int)cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, 1);
	sum += (int)cudaStreamSynchronize(first);
	sum += (int)cudaStreamDestroy(first);
	sum += (int)cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 2);
	sum += (int)cudaStreamCreateWithPriority(&again, cudaStreamNonBlocking, 1);
	sum += (int)cudaLaunchKernel(kernel, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, again);
	sum += (int)cudaStreamSynchronize(second);
	sum += (int)cudaStreamSynchronize(again);
	return sum + (first != again);
}
