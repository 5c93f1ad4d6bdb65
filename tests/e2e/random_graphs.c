/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_graphs.c - a seeded program of captures, graph launches and calls that
 *                   are illegal meanwhile, by several threads on several streams
 *
 *	random_graphs [SEED] [CALLS] [THREADS]
 *
 * Like random_calls.c: threads take turns in a seeded order, and a checksum of
 * all results, numbers of nodes included, must not depend on who watches.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_STREAMS = 7, N_EVENTS = 6, N_GRAPHS = 6, N_EXTRA = 4, MAX_THREADS = 8, BUFFER_BYTES = 1 << 17 };

/* Spellings that a program gets from a compiler option; the headers declare them only then. */
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t, enum cudaStreamCaptureMode);
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);

static struct world {
	cudaStream_t streams[N_STREAMS]; /* legacy, two blocking, three non-blocking, the thread's own */
	cudaEvent_t events[N_EVENTS];
	cudaGraph_t graphs[N_GRAPHS];
	cudaGraphExec_t execs[N_GRAPHS];
	void *extra[N_EXTRA];
	char *device, *pinned, *pageable;
	CUfunction kernel;
	uint64_t random;
	uint64_t checksum;
	long calls_left;
	int n_threads;
	int turn;
	cudaStream_t capturing;
	cudaError_t last;
	int n_captures; /* begun and not ended, as far as the program can tell */
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

/* The legacy stream, which blocking captures forbid, seldom: captures are to live for a while. */
static cudaStream_t any_stream(void)
{
	unsigned n_seldom = world.n_captures ? 200 : 8;

	return world.streams[draw(n_seldom) ? 1 + draw(N_STREAMS - 1) : 0];
}

/* The stream of the youngest capture, mostly. */
static cudaStream_t capturing_stream(void)
{
	return world.n_captures && draw(8) ? world.capturing : any_stream();
}

static size_t any_size(void)
{
	static const size_t sizes[] = { 4, 16, 4096, 65536, 65537, 100000 };

	return sizes[draw(sizeof(sizes) / sizeof(sizes[0]))];
}

static void CUDART_CB host_function(void *data)
{
	(void)data;
}

/* ---- work for a stream, which becomes a node if the stream captures ---- */

static uint64_t copy_call(void)
{
	char *host = draw(2) ? world.pinned : world.pageable;

	if (draw(2))
		return cudaMemcpyAsync(world.device, host, any_size(), cudaMemcpyHostToDevice, any_stream());
	return cudaMemcpyAsync(host, world.device, any_size(), cudaMemcpyDeviceToHost, any_stream());
}

static uint64_t ordered_memory_call(void)
{
	unsigned i = draw(N_EXTRA);
	cudaError_t error;

	if (!world.extra[i])
		return cudaMallocAsync(&world.extra[i], any_size(), any_stream());
	error = cudaFreeAsync(world.extra[i], any_stream());
	world.extra[i] = NULL;
	return error;
}

/* One stream comes after another: into a capture, or out of it, or neither. */
static uint64_t order_call(void)
{
	cudaEvent_t event = world.events[draw(N_EVENTS)];
	cudaStream_t from = any_stream(), to = any_stream();

	/* Waiting, in a capture, for what is not in it is illegal. */
	if (world.n_captures && draw(16))
		from = world.capturing;
	note(cudaEventRecord(event, from));
	return cudaStreamWaitEvent(to, event, 0);
}

/* What of other streams takes part in the capture ends up before its own stream's next node. */
static uint64_t join_call(void)
{
	for (unsigned i = 1; i < N_STREAMS; i++) {
		enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

		if (cudaStreamIsCapturing(world.streams[i], &status) || status != cudaStreamCaptureStatusActive ||
		    world.streams[i] == world.capturing)
			continue;
		note(cudaEventRecord(world.events[0], world.streams[i]));
		note(cudaStreamWaitEvent(world.capturing, world.events[0], 0));
	}
	return 0;
}

static uint64_t work_call(void)
{
	switch (draw(16)) {
	case 0:
	case 1:
		return copy_call();
	case 2:
		return cudaMemsetAsync(world.device, (int)draw(256), any_size(), any_stream());
	case 3:
		return cudaLaunchHostFunc(any_stream(), host_function, NULL);
	case 4:
		return ordered_memory_call();
	case 5:
	case 6:
		return order_call();
	case 7:
		return cudaEventRecord(world.events[draw(N_EVENTS)], any_stream());
	case 8:
	case 9:
		return cudaGraphLaunch(world.execs[draw(N_GRAPHS)], any_stream());
	default:
		return cuLaunchKernel(world.kernel, 1 + draw(64), 1, 1, 32, 1, 1, 0, any_stream(), NULL, NULL);
	}
}

/* ---- captures and graphs ---- */

static cudaError_t begin(void)
{
	enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)draw(3);
	cudaStream_t stream = any_stream();
	cudaError_t error;

	if (stream == cudaStreamPerThread)
		error = cudaStreamBeginCapture_ptsz(NULL, mode);
	else if (draw(6) == 0 && world.graphs[0])
		error = cudaStreamBeginCaptureToGraph(stream, world.graphs[0], NULL, NULL, 0, mode);
	else
		error = cudaStreamBeginCapture(stream, mode);
	if (error == cudaSuccess) {
		world.n_captures++;
		world.capturing = stream;
	}
	return error;
}

static void keep(cudaGraph_t graph)
{
	unsigned i = draw(N_GRAPHS);
	size_t n = 0;

	note(cudaGraphGetNodes(graph, NULL, &n));
	note(n);
	if (world.execs[i])
		note(cudaGraphExecDestroy(world.execs[i]));
	world.execs[i] = NULL;
	note(cudaGraphInstantiate(&world.execs[i], graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
	if (world.graphs[i] && world.graphs[i] != graph)
		note(cudaGraphDestroy(world.graphs[i]));
	world.graphs[i] = graph;
	for (unsigned other = 0; other < N_GRAPHS; other++)
		if (other != i && world.graphs[other] == graph)
			world.graphs[other] = NULL;
}

static cudaError_t end(void)
{
	cudaGraph_t graph = NULL;
	cudaError_t error;

	if (world.n_captures && draw(6))
		note(join_call());
	error = cudaStreamEndCapture(capturing_stream(), &graph);

	if (error == cudaSuccess || error == cudaErrorStreamCaptureInvalidated ||
	    error == cudaErrorStreamCaptureUnjoined)
		world.n_captures--;
	if (graph)
		keep(graph);
	return error;
}

static uint64_t ask(void)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)draw(3);

	if (draw(4) == 0)
		return cudaThreadExchangeStreamCaptureMode(&mode) + 100u * mode;
	return cudaStreamIsCapturing(any_stream(), &status) + 100u * status;
}

/* ---- what is illegal, or not, while something captures ---- */

static uint64_t wait_call(void)
{
	switch (draw(7)) {
	case 0:
		return cudaDeviceSynchronize();
	case 1:
		return cudaEventSynchronize(world.events[draw(N_EVENTS)]);
	case 2:
		return cudaEventQuery(world.events[draw(N_EVENTS)]);
	case 3:
		return cudaStreamQuery(any_stream());
	case 4:
		return cudaStreamSynchronize_ptsz(NULL);
	default:
		return cudaStreamSynchronize(any_stream());
	}
}

static uint64_t unsafe_call(void)
{
	void *memory = NULL;
	cudaError_t error;

	switch (draw(4)) {
	case 0:
		error = draw(2) ? cudaMalloc(&memory, any_size()) : cudaHostAlloc(&memory, any_size(), 0);
		if (error == cudaSuccess)
			note(cudaFree(memory) && cudaFreeHost(memory));
		return error;
	case 1:
		return cudaMemcpy_ptds(world.device, world.pageable, any_size(), cudaMemcpyHostToDevice);
	case 2:
		return cudaMemset(world.device, 0, any_size());
	default:
		return cudaMemcpy(world.pinned, world.device, any_size(), cudaMemcpyDeviceToHost);
	}
}

static void one_call(void)
{
	uint32_t what = draw(100);
	bool is_illegal = what < (world.n_captures ? 10 : 46) && (!world.n_captures || draw(16) == 0);

	/* What has become invalid is ended soon. */
	if (what < 3 || (world.last == cudaErrorStreamCaptureInvalidated && draw(2)))
		note(!world.n_captures || (world.n_captures < 2 && draw(4) == 0) ? begin() : end());
	else if (what < 10 && !is_illegal)
		note(ask());
	else if (is_illegal)
		note(draw(3) ? wait_call() : unsafe_call());
	else
		note(work_call());
	world.last = cudaGetLastError();
	note(world.last);
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
		/* Mostly the same again: a capture is ended by the thread that began it. */
		if (draw(24) == 0)
			world.turn = (int)draw((uint32_t)world.n_threads);
		pthread_cond_broadcast(&world.changed);
	}
	pthread_mutex_unlock(&world.mutex);
	return NULL;
}

static void prepare(void)
{
	CUmodule module;

	for (int i = 1; i < N_STREAMS - 1; i++)
		cudaStreamCreateWithFlags(&world.streams[i], i < 3 ? cudaStreamDefault : cudaStreamNonBlocking);
	world.streams[N_STREAMS - 1] = cudaStreamPerThread;
	for (int i = 0; i < N_EVENTS; i++)
		cudaEventCreateWithFlags(&world.events[i], cudaEventDisableTiming);
	cudaMalloc((void **)&world.device, BUFFER_BYTES);
	cudaMallocHost((void **)&world.pinned, BUFFER_BYTES);
	world.pageable = calloc(1, BUFFER_BYTES);
	cuModuleLoadData(&module, "");
	cuModuleGetFunction(&world.kernel, module, "random_kernel");
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];

	world.random = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	world.calls_left = argc > 2 ? atol(argv[2]) : 10000;
	world.n_threads = argc > 3 ? atoi(argv[3]) : 3;
	if (world.n_threads < 1 || world.n_threads > MAX_THREADS)
		return 2;
	prepare();
	for (int i = 0; i < world.n_threads; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int i = 0; i < world.n_threads; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < BUFFER_BYTES; i++)
		note((unsigned char)world.pinned[i] + 256u * (unsigned char)world.pageable[i]);
	printf("%016llx\n", (unsigned long long)world.checksum);
	return 0;
}
