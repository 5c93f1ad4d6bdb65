/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_call.c - how often the first CUDA call of a process allocates
 *
 * It may come from a signal handler that interrupted malloc, whose lock is then held.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

#define VISIBLE __attribute__((visibility("default"))) /* the C library and the loader take these, too */

static volatile int is_counting;
static volatile unsigned n_allocations;

VISIBLE void *malloc(size_t bytes)
{
	n_allocations += is_counting != 0;
	return __libc_malloc(bytes);
}

VISIBLE void *calloc(size_t n, size_t bytes)
{
	n_allocations += is_counting != 0;
	return __libc_calloc(n, bytes);
}

VISIBLE void *realloc(void *block, size_t bytes)
{
	n_allocations += is_counting != 0;
	return __libc_realloc(block, bytes);
}

int main(void)
{
	int here = 0;

	is_counting = 1;
	(void)cudaMemcpyAsync(&here, NULL, sizeof here, cudaMemcpyDeviceToHost, NULL);
	is_counting = 0;
	printf("%u\n", n_allocations);
	return 0;
}
