/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm.c - everything at once, and still the same result
 *
 *	storm ROUNDS SEED LIBRARY
 *
 * 64 threads each do ROUNDS things drawn from SEED: copies that are checked
 * byte by byte, streams and events that come and go, short threads, forked
 * children that call and end in many ways, a library loaded and unloaded, a
 * signal to another thread, another program. Prints one number made of all that was
 * returned, which depends on ROUNDS and SEED only.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_THREADS = 64, BYTES = 512 };

struct worker {
	pthread_t thread;
	uint64_t random, sum;
	unsigned char *host, *pinned;
	void *device;
	cudaStream_t stream;
	uint32_t n_signals; /* atomic */
};

extern char **environ;

static struct worker workers[N_THREADS];
static int n_rounds;
static const char *library;
static pthread_barrier_t all_there; /* the workers and main; a thread's name is good in between */
static __thread struct worker *own;

static uint64_t draw(struct worker *worker, uint64_t below)
{
	worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
	return (worker->random >> 33) % below;
}

static void note(struct worker *worker, uint64_t value)
{
	worker->sum = (worker->sum ^ value) * 0x100000001b3u;
}

/* What goes out must come back; the copies go both ways through either kind of memory. */
static void copy(struct worker *worker)
{
	unsigned char *from = draw(worker, 2) ? worker->host : worker->pinned;
	unsigned char *to = draw(worker, 2) ? worker->host : worker->pinned;
	unsigned char first = (unsigned char)draw(worker, 256);

	for (int i = 0; i < BYTES; i++)
		from[i] = (unsigned char)(first + i);
	note(worker, cudaMemcpyAsync(worker->device, from, BYTES, cudaMemcpyHostToDevice, worker->stream));
	note(worker, cudaStreamSynchronize(worker->stream));
	memset(from, 0, BYTES);
	note(worker, cudaMemcpyAsync(to, worker->device, BYTES, cudaMemcpyDeviceToHost, worker->stream));
	note(worker, cudaStreamSynchronize(worker->stream));
	for (int i = 0; i < BYTES; i++)
		note(worker, to[i]);
}

static void streams(struct worker *worker)
{
	cudaStream_t stream = NULL;
	cudaEvent_t event = NULL;

	note(worker, cudaStreamCreateWithFlags(&stream, draw(worker, 2) ? cudaStreamNonBlocking : cudaStreamDefault));
	note(worker, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	note(worker, cudaMemsetAsync(worker->device, 7, BYTES, stream));
	note(worker, cudaEventRecord(event, stream));
	note(worker, cudaStreamWaitEvent(worker->stream, event, 0));
	note(worker, cudaStreamSynchronize(worker->stream));
	note(worker, cudaEventQuery(event));
	note(worker, cudaEventDestroy(event));
	note(worker, cudaStreamDestroy(stream));
}

static void memory(struct worker *worker)
{
	size_t bytes = 1 + draw(worker, 100000);
	void *device = NULL, *pinned = NULL;

	note(worker, cudaMalloc(&device, bytes));
	note(worker, cudaMallocHost(&pinned, bytes));
	note(worker, cudaMemcpy(pinned, device, 1, cudaMemcpyDeviceToHost));
	note(worker, cudaFree(device));
	note(worker, cudaFreeHost(pinned));
}

static void *short_thread(void *argument)
{
	uintptr_t n = (uintptr_t)argument, sum = 0;

	for (uintptr_t i = 0; i < n; i++)
		sum += (uintptr_t)cudaStreamSynchronize(cudaStreamPerThread);
	if (n % 2)
		pthread_exit((void *)(sum + n));
	return (void *)(sum + n);
}

static void threads(struct worker *worker)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, short_thread, (void *)(uintptr_t)draw(worker, 5)) != 0)
		abort();
	pthread_join(thread, &result);
	note(worker, (uintptr_t)result);
}

/* Nothing that a child of many threads may not do; what it calls is refused or not, but the same each time. */
static void be_child(uint64_t how)
{
	int status = how % 2 ? (int)cudaStreamSynchronize(NULL) : 0;

	if (how < 4)
		_exit(status + 1);
	if (how < 6)
		raise(SIGKILL);
	if (how < 8)
		raise(SIGTERM);
	execl("/bin/true", "true", (char *)NULL);
	_exit(99);
}

static void processes(struct worker *worker)
{
	char *const arguments[] = { "true", NULL };
	int status = 0;
	uint64_t how = draw(worker, 11);
	pid_t child;

	if (how == 10) {
		if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0)
			abort();
	} else {
		child = fork();
		if (child == 0)
			be_child(how);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	note(worker, (uint64_t)status);
}

static void load(struct worker *worker)
{
	union {
		void *object;
		int (*function)(int n);
	} calls = { NULL };
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (handle)
		calls.object = dlsym(handle, "plugin_calls");
	note(worker, calls.object ? (uint64_t)calls.function(1) : 12345);
	note(worker, handle ? (uint64_t)dlclose(handle) : 1);
	note(worker, dlsym(RTLD_DEFAULT, "no_such_name") == NULL && dlerror() != NULL);
}

static void on_signal(int signal)
{
	(void)signal;
	if (own)
		__atomic_fetch_add(&own->n_signals, 1, __ATOMIC_RELAXED);
}

static void *work(void *argument)
{
	struct worker *worker = own = argument;

	pthread_barrier_wait(&all_there);
	note(worker, cudaMallocHost((void **)&worker->pinned, BYTES));
	note(worker, cudaMalloc(&worker->device, BYTES));
	note(worker, cudaStreamCreate(&worker->stream));
	worker->host = malloc(BYTES);
	for (int i = 0; i < n_rounds; i++) {
		uint64_t what = draw(worker, 128);

		if (what < 1)
			processes(worker);
		else if (what < 3)
			load(worker);
		else if (what < 16)
			threads(worker);
		else if (what < 32)
			pthread_kill(workers[draw(worker, N_THREADS)].thread, SIGUSR1);
		else if (what < 64)
			streams(worker);
		else if (what < 80)
			memory(worker);
		else
			copy(worker);
	}
	note(worker, cudaStreamSynchronize(worker->stream));
	free(worker->host);
	pthread_barrier_wait(&all_there);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, sum = 0;
	uint32_t n_signals = 0;

	n_rounds = argc > 1 ? atoi(argv[1]) : 10;
	library = argc > 3 ? argv[3] : "calls.so";
	sigaction(SIGUSR1, &action, NULL);
	pthread_barrier_init(&all_there, NULL, N_THREADS + 1);
	for (int i = 0; i < N_THREADS; i++) {
		workers[i].random = seed * 1000 + (uint64_t)i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 2;
	}
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		sum += workers[i].sum;
		n_signals += workers[i].n_signals;
	}
	printf("%016llx, signals: %s\n", (unsigned long long)sum, n_signals ? "seen" : "none");
	return 0;
}
