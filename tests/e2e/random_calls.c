/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_calls.c - a seeded program of CUDA calls by several threads on several
 *                  streams, for comparing what was recorded with what was so
 *
 *	random_calls [SEED] [CALLS] [THREADS]
 *
 * Threads take turns in a seeded order, so that the same seed makes the same
 * calls in the same order and the simulated device's virtual clock gives every
 * wait one true length. Prints a checksum of all results and of the memory read
 * back, which must not depend on who watches.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_STREAMS = 8, N_EVENTS = 12, MAX_THREADS = 16, BUFFER_BYTES = 1 << 18, N_EXTRA = 16 };

/* Spellings that a program gets from a compiler option; the headers declare them only then. */
cudaError_t cudaMemcpyAsync_ptsz(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
cudaError_t cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);

static struct world {
	cudaStream_t streams[N_STREAMS]; /* 0: legacy, then three blocking, then non-blocking */
	cudaEvent_t events[N_EVENTS];
	char *device[2], *pinned[2], *pageable[2];
	void *extra_device[N_EXTRA], *extra_pinned[N_EXTRA], *extra_ordered[N_EXTRA];
	CUfunction kernel;
	uint64_t random;
	uint64_t checksum;
	long calls_left;
	int n_threads;
	int turn; /* whose call is next */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
} world = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static uint32_t draw(uint32_t below)
{
	world.random = world.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(world.random >> 33) % below;
}

static void note(uint64_t value)
{
	world.checksum = (world.checksum ^ value) * 0x100000001b3ull;
}

static cudaStream_t any_stream(void)
{
	return world.streams[draw(N_STREAMS)];
}

static cudaEvent_t any_event(void)
{
	return world.events[draw(N_EVENTS)];
}

static size_t any_size(void)
{
	static const size_t sizes[] = { 1, 4, 8, 16, 17, 4096, 65536, 65537, 200000 };

	return sizes[draw(sizeof(sizes) / sizeof(sizes[0]))];
}

static char *host_end(void)
{
	return draw(2) ? world.pinned[draw(2)] : world.pageable[draw(2)];
}

/* Source, destination and direction of one copy; never the same buffer twice. */
static void any_copy(void **dst, void **src, enum cudaMemcpyKind *kind)
{
	switch (draw(8)) {
	case 0:
		*src = world.device[0], *dst = world.device[1], *kind = cudaMemcpyDeviceToDevice;
		break;
	case 1:
		*src = world.pageable[0], *dst = world.pinned[1], *kind = cudaMemcpyHostToHost;
		break;
	case 2:
	case 3:
	case 4:
		*src = host_end(), *dst = world.device[draw(2)], *kind = cudaMemcpyHostToDevice;
		break;
	default:
		*src = world.device[draw(2)], *dst = host_end(), *kind = cudaMemcpyDeviceToHost;
		break;
	}
	if (draw(4) == 0)
		*kind = cudaMemcpyDefault;
}

static void CUDART_CB host_function(void *data)
{
	(void)data;
}

static uint64_t copy_call(void)
{
	enum cudaMemcpyKind kind;
	void *dst, *src;

	any_copy(&dst, &src, &kind);
	switch (draw(8)) {
	case 0:
		return cudaMemcpy(dst, src, any_size(), kind);
	case 1:
		return cudaMemcpyAsync_ptsz(dst, src, any_size(), kind, NULL);
	case 2:
		return cudaMemcpy_ptds(dst, src, any_size(), kind);
	case 3:
		return cuMemcpyDtoHAsync_v2(host_end(), (CUdeviceptr)world.device[draw(2)], any_size(), any_stream());
	case 4:
		return cuMemcpyHtoDAsync_v2((CUdeviceptr)world.device[draw(2)], host_end(), any_size(), any_stream());
	default:
		return cudaMemcpyAsync(dst, src, any_size(), kind, any_stream());
	}
}

static uint64_t wait_call(void)
{
	switch (draw(9)) {
	case 0:
		return cudaDeviceSynchronize();
	case 1:
		return cuCtxSynchronize();
	case 2:
		return cudaEventSynchronize(any_event());
	case 3:
		return cuEventSynchronize(any_event());
	case 4:
		return cuStreamSynchronize(any_stream());
	case 5:
		return cudaStreamSynchronize_ptsz(NULL);
	case 6:
		return cudaStreamSynchronize(cudaStreamPerThread);
	default:
		return cudaStreamSynchronize(any_stream());
	}
}

static uint64_t stream_call(void)
{
	switch (draw(8)) {
	case 0:
		return cudaStreamQuery(any_stream());
	case 1:
		return cudaEventQuery(any_event());
	case 2:
	case 3:
		return cudaStreamWaitEvent(any_stream(), any_event(), 0);
	case 4:
		return cudaLaunchHostFunc(any_stream(), host_function, NULL);
	default:
		return cudaEventRecord(any_event(), any_stream());
	}
}

/* One launch or a row of them on one stream, some of which fail. */
static uint64_t launch_call(void)
{
	CUstream stream = draw(8) == 0 ? CU_STREAM_PER_THREAD : any_stream();
	unsigned n = draw(3) ? 1 : 2 + draw(8);
	uint64_t results = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned grid = draw(10) ? 1 + draw(64) : 0;

		results += cuLaunchKernel(world.kernel, grid, 1, 1, 32, 1, 1, 0, stream, NULL, NULL) * (i + 1);
	}
	return results;
}

static uint64_t set_call(void)
{
	char *dst = draw(3) ? world.device[draw(2)] : world.pinned[draw(2)];

	if (draw(2))
		return cudaMemset(dst, (int)draw(256), any_size());
	return cudaMemsetAsync(dst, (int)draw(256), any_size(), any_stream());
}

/* One slot of each kind is filled or emptied. */
static uint64_t memory_call(void)
{
	unsigned i = draw(N_EXTRA);
	cudaError_t result;

	switch (draw(3)) {
	case 0:
		if (!world.extra_device[i])
			return cudaMalloc(&world.extra_device[i], any_size());
		result = cudaFree(world.extra_device[i]);
		world.extra_device[i] = NULL;
		return result;
	case 1:
		if (!world.extra_pinned[i])
			return cudaHostAlloc(&world.extra_pinned[i], any_size(), 0);
		result = cudaFreeHost(world.extra_pinned[i]);
		world.extra_pinned[i] = NULL;
		return result;
	default:
		if (!world.extra_ordered[i])
			return cudaMallocAsync(&world.extra_ordered[i], any_size(), any_stream());
		result = cudaFreeAsync(world.extra_ordered[i], any_stream());
		world.extra_ordered[i] = NULL;
		return result;
	}
}

/* Calls that must fail, and leave no trace in what is pending. */
static uint64_t bad_call(void)
{
	switch (draw(3)) {
	case 0:
		return cudaFree((char *)world.device[0] + 64);
	case 1:
		return cudaEventRecord(NULL, any_stream());
	default:
		return cudaMemcpyAsync(world.device[0], world.pinned[0], 16, (enum cudaMemcpyKind)77, any_stream());
	}
}

static void one_call(void)
{
	uint32_t what = draw(100);

	note(what < 30   ? launch_call()
	     : what < 55 ? copy_call()
	     : what < 72 ? stream_call()
	     : what < 87 ? wait_call()
	     : what < 93 ? set_call()
	     : what < 98 ? memory_call()
	                 : bad_call());
	note(cudaGetLastError());
}

static void *thread_main(void *argument)
{
	int self = (int)(intptr_t)argument;

	pthread_mutex_lock(&world.mutex);
	while (world.calls_left > 0) {
		if (world.turn != self) {
			pthread_cond_wait(&world.changed, &world.mutex);
			continue;
		}
		world.calls_left--;
		one_call();
		world.turn = (int)draw((uint32_t)world.n_threads);
		pthread_cond_broadcast(&world.changed);
	}
	pthread_mutex_unlock(&world.mutex);
	return NULL;
}

static void prepare(void)
{
	CUmodule module;

	for (int i = 1; i < N_STREAMS; i++)
		cudaStreamCreateWithFlags(&world.streams[i], i < 4 ? cudaStreamDefault : cudaStreamNonBlocking);
	for (int i = 0; i < N_EVENTS; i++)
		cudaEventCreateWithFlags(&world.events[i], cudaEventDisableTiming);
	for (int i = 0; i < 2; i++) {
		cudaMalloc((void **)&world.device[i], BUFFER_BYTES);
		cudaMallocHost((void **)&world.pinned[i], BUFFER_BYTES);
		world.pageable[i] = calloc(1, BUFFER_BYTES);
	}
	cuModuleLoadData(&module, "");
	cuModuleGetFunction(&world.kernel, module, "random_kernel");
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];

	world.random = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	world.calls_left = argc > 2 ? atol(argv[2]) : 10000;
	world.n_threads = argc > 3 ? atoi(argv[3]) : 4;
	if (world.n_threads < 1 || world.n_threads > MAX_THREADS)
		return 2;
	prepare();
	for (int i = 0; i < world.n_threads; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int i = 0; i < world.n_threads; i++)
		pthread_join(threads[i], NULL);
	note(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < BUFFER_BYTES; j++)
			note((unsigned char)world.pinned[i][j] + 256u * (unsigned char)world.pageable[i][j]);
	printf("%016llx\n", (unsigned long long)world.checksum);
	return 0;
}
