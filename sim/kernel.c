/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "sim/capture.h"
#include "sim/clock.h"
#include "sim/device_thread.h"
#include "sim/include/synctally_sim.h"
#include "sim/jitter.h"
#include "sim/lock.h"
#include "sim/memory.h"
#include "sim/open.h"
#include "sim/readback.h"
#include "sim/say.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"

/* A registered kernel; replaced ones stay, launches in flight point at them. */
struct kernel {
	synctally_sim_kernel_fn run;
	void *user;
	uint64_t device_ns;
	unsigned n_args;
	size_t args_bytes; /* all arguments, each rounded up to ARG_ALIGN */
	size_t arg_bytes[];
};

struct sim_function {
	struct sim_function *next;
	const struct kernel *kernel; /* NULL: only takes time */
	char name[];
};

struct stub {
	struct stub *next;
	const void *address;
	const struct sim_function *function;
};

enum { N_BUCKETS = 4096, ARG_ALIGN = 16, MAX_BLOCK_THREADS = 1024 };

static struct sim_function *functions[N_BUCKETS];
static struct stub *stubs[N_BUCKETS];

/* 0: no wish of the caller for the next launch. */
static SIM_TLS uint64_t next_launch_ns;

static unsigned bucket_of_name(const char *name)
{
	uint64_t hash = 14695981039346656037u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 1099511628211u;
	return (unsigned)(hash >> 32) % N_BUCKETS;
}

static unsigned bucket_of_address(const void *address)
{
	return (unsigned)(((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15u >> 40) % N_BUCKETS;
}

static struct sim_function *function_of_name(const char *name)
{
	struct sim_function **bucket = &functions[bucket_of_name(name)];

	for (struct sim_function *f = *bucket; f; f = f->next)
		if (strcmp(f->name, name) == 0)
			return f;
	struct sim_function *f = calloc(1, sizeof *f + strlen(name) + 1);
	if (!f)
		return NULL;
	strcpy(f->name, name);
	f->next = *bucket;
	*bucket = f;
	return f;
}

struct sim_function *sim_function_of_name(const char *name)
{
	sim_lock();
	struct sim_function *function = function_of_name(name);
	sim_unlock();
	return function;
}

const char *sim_function_name(const struct sim_function *function)
{
	return function->name;
}

static struct stub *find_stub(const void *address)
{
	for (struct stub *s = stubs[bucket_of_address(address)]; s; s = s->next)
		if (s->address == address)
			return s;
	return NULL;
}

const char *sim_kernel_name_of_stub(const void *address)
{
	sim_lock();
	const struct stub *stub = find_stub(address);
	sim_unlock();
	return stub ? stub->function->name : NULL;
}

const void *sim_kernel_stub_of_name(const char *name)
{
	const void *address = NULL;

	sim_lock();
	for (unsigned i = 0; i < N_BUCKETS && !address; i++)
		for (const struct stub *s = stubs[i]; s && !address; s = s->next)
			if (strcmp(s->function->name, name) == 0)
				address = s->address;
	sim_unlock();
	return address;
}

static struct kernel *copy_kernel(const struct synctally_sim_kernel *from)
{
	struct kernel *kernel = calloc(1, sizeof *kernel + from->n_args * sizeof kernel->arg_bytes[0]);

	if (!kernel)
		return NULL;
	kernel->run = from->run;
	kernel->user = from->user;
	kernel->device_ns = from->device_ns;
	kernel->n_args = from->n_args;
	for (unsigned i = 0; i < from->n_args; i++) {
		kernel->arg_bytes[i] = from->arg_bytes[i];
		kernel->args_bytes += (from->arg_bytes[i] + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	}
	return kernel;
}

static int add_stub(const void *address, const struct sim_function *function)
{
	struct stub *stub = find_stub(address);

	if (!stub) {
		stub = malloc(sizeof *stub);
		if (!stub)
			return -1;
		unsigned bucket = bucket_of_address(address);
		*stub = (struct stub){ stubs[bucket], address, function };
		stubs[bucket] = stub;
	}
	stub->function = function;
	return 0;
}

SIM_EXPORT int synctally_sim_register_kernel(const struct synctally_sim_kernel *kernel)
{
	int result = -1;

	if (!kernel || !kernel->name || (kernel->n_args && !kernel->arg_bytes)) {
		sim_say("a kernel needs a name, and a size for each argument");
		return -1;
	}
	struct kernel *copy = copy_kernel(kernel);
	sim_lock();
	struct sim_function *function = copy ? function_of_name(kernel->name) : NULL;
	if (function && (!kernel->stub || add_stub(kernel->stub, function) == 0)) {
		function->kernel = copy;
		result = 0;
	}
	sim_unlock();
	if (result != 0) {
		free(copy);
		sim_say("no memory to register a kernel: name=%s", kernel->name);
	}
	return result;
}

SIM_EXPORT void *synctally_sim_host_view(const void *device_pointer)
{
	return sim_device_start() == CUDA_SUCCESS ? sim_memory_view((uintptr_t)device_pointer) : (void *)device_pointer;
}

SIM_EXPORT void synctally_sim_host_work(uint64_t ns)
{
	sim_clock_wait_until(sim_clock_now() + ns);
}

SIM_EXPORT uint64_t synctally_sim_now(void)
{
	return sim_clock_now();
}

struct launch_op {
	struct sim_op op;
	const struct kernel *kernel;
	struct synctally_sim_launch launch;
	void *args[];
};

static void run_kernel(struct sim_op *op)
{
	struct launch_op *launch = (struct launch_op *)op;

	launch->kernel->run(&launch->launch);
}

/* Fills the pointers `to` and the bytes they point at. */
static void copy_args(const struct kernel *kernel, void **to, char *bytes, void **args)
{
	for (unsigned i = 0; i < kernel->n_args; i++) {
		to[i] = bytes;
		if (args)
			memcpy(bytes, args[i], kernel->arg_bytes[i]);
		bytes += (kernel->arg_bytes[i] + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	}
}

/* One block: the op, the argument pointers, then the arguments themselves. */
static struct launch_op *make_launch(const struct kernel *kernel, const struct sim_launch_config *config, void **args)
{
	size_t head =
		(sizeof(struct launch_op) + kernel->n_args * sizeof(void *) + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	struct launch_op *op = calloc(1, head + kernel->args_bytes);

	if (!op)
		return NULL;
	op->op.apply = run_kernel;
	op->op.is_unlocked = true;
	op->kernel = kernel;
	memcpy(op->launch.grid, config->grid, sizeof config->grid);
	memcpy(op->launch.block, config->block, sizeof config->block);
	op->launch.shared_bytes = config->shared_bytes;
	op->launch.args = op->args;
	op->launch.user = kernel->user;
	copy_args(kernel, op->args, (char *)op + head, args);
	return op;
}

void sim_launch_takes(uint64_t device_ns)
{
	next_launch_ns = device_ns;
}

CUresult sim_kernel_work_check(const struct sim_kernel_work *work)
{
	const unsigned *grid = work->config.grid, *block = work->config.block;
	uint64_t threads = (uint64_t)block[0] * block[1] * block[2], blocks = (uint64_t)grid[0] * grid[1] * grid[2];

	if (!work->function)
		return CUDA_ERROR_INVALID_HANDLE;
	return threads && threads <= MAX_BLOCK_THREADS && blocks ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool sim_kernel_work_copy(struct sim_kernel_work *to, const struct sim_kernel_work *from)
{
	const struct kernel *kernel = from->registered ? from->registered : from->function->kernel;

	*to = *from;
	to->registered = kernel;
	to->args = NULL;
	if (!from->args || !kernel || !kernel->run || kernel->n_args == 0)
		return true;
	size_t head = (kernel->n_args * sizeof(void *) + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
	to->args = malloc(head + kernel->args_bytes);
	if (!to->args)
		return false;
	copy_args(kernel, to->args, (char *)to->args + head, from->args);
	return true;
}

void sim_kernel_work_drop(struct sim_kernel_work *work)
{
	free(work->args);
}

CUresult sim_kernel_work_op(const struct sim_kernel_work *work, struct sim_op **op, uint64_t *duration_ns)
{
	const struct kernel *kernel = work->registered;
	uint64_t ns = work->device_ns;

	*op = NULL;
	if (kernel && kernel->run) {
		struct launch_op *launch = make_launch(kernel, &work->config, work->args);
		if (!launch)
			return CUDA_ERROR_OUT_OF_MEMORY;
		*op = &launch->op;
	}
	if (ns == 0 && kernel)
		ns = kernel->device_ns;
	*duration_ns = sim_jitter(sim_knobs()->latency_ns + (ns ? ns : sim_knobs()->kernel_ns));
	return CUDA_SUCCESS;
}

static CUresult capture_launch(struct sim_stream *stream, const struct sim_kernel_work *work, bool *is_captured)
{
	/* A node is large, and hardly ever wanted. */
	if (!stream->part)
		return sim_capture_submit(stream, NULL, is_captured);
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *work };
	return sim_capture_submit(stream, &node, is_captured);
}

static CUresult launch_on(struct sim_stream *stream, const struct sim_kernel_work *work)
{
	struct sim_op *op;
	uint64_t duration_ns;
	bool is_captured;
	CUresult result = capture_launch(stream, work, &is_captured);

	if (result != CUDA_SUCCESS || is_captured)
		return result;
	result = sim_kernel_work_op(work, &op, &duration_ns);
	bool computes = op != NULL;
	if (result == CUDA_SUCCESS)
		result = sim_timeline_submit(stream, duration_ns, op);
	if (result == CUDA_SUCCESS && !computes)
		sim_readback_forget();
	return result;
}

static CUresult exchange_on(struct sim_stream *stream, struct sim_exchange *exchange)
{
	bool is_captured;
	CUresult result = sim_capture_submit(stream, NULL, &is_captured);

	return result == CUDA_SUCCESS ? sim_open_submit(stream, exchange) : result;
}

CUresult sim_launch(struct sim_function *function, const struct sim_launch_config *config, void **args)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(config->stream, sim_scope_is_per_thread());
	struct sim_exchange *exchange = sim_open_take_launch();
	if (stream) {
		struct sim_kernel_work work = { function, *config, args, function->kernel, next_launch_ns };
		next_launch_ns = 0;
		sim_scope_note_stream(stream, config->stream);
		/* Copies may go to another device's stream, kernels may not. */
		if (stream->device == sim_device_current())
			result = exchange ? exchange_on(stream, exchange) : launch_on(stream, &work);
	}
	sim_unlock();
	return result;
}

struct host_func_op {
	struct sim_op op;
	CUstream stream;
	CUhostFn func;
	CUstreamCallback callback;
	void *data;
};

static void run_host_func(struct sim_op *op)
{
	const struct host_func_op *host = (const struct host_func_op *)op;

	if (host->func)
		host->func(host->data);
	else
		host->callback(host->stream, CUDA_SUCCESS, host->data);
}

/* A callback, which gets the stream it runs in, cannot become a node of a graph. */
static CUresult capture_host_func(struct sim_stream *stream, const struct host_func_op *what, bool *is_captured)
{
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_HOST, .host = { what->func, what->data } };

	return sim_capture_submit(stream, what->func ? &node : NULL, is_captured);
}

static CUresult submit_host_func(const struct host_func_op *what)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;
	struct host_func_op *op = malloc(sizeof *op);

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_device_thread_start();
	*op = *what;
	op->op = (struct sim_op){ .apply = run_host_func, .is_unlocked = true };
	sim_lock();
	struct sim_stream *stream = sim_stream_find(what->stream, sim_scope_is_per_thread());
	if (stream) {
		bool is_captured;
		sim_scope_note_stream(stream, what->stream);
		result = capture_host_func(stream, what, &is_captured);
		if (result == CUDA_SUCCESS && !is_captured) {
			result = sim_timeline_submit(stream, sim_knobs()->host_func_ns, &op->op);
			op = NULL;
		}
	}
	sim_unlock();
	free(op);
	return result;
}

CUresult sim_host_work_op(CUhostFn func, void *data, struct sim_op **op, uint64_t *duration_ns)
{
	struct host_func_op *host = malloc(sizeof *host);

	if (!host)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*host = (struct host_func_op){ .func = func, .data = data };
	host->op = (struct sim_op){ .apply = run_host_func, .is_unlocked = true };
	*op = &host->op;
	*duration_ns = sim_knobs()->host_func_ns;
	return CUDA_SUCCESS;
}

CUresult sim_launch_host_func(CUstream stream, CUhostFn func, void *data)
{
	struct host_func_op what = { .stream = stream, .func = func, .data = data };

	return func ? submit_host_func(&what) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_launch_callback(CUstream stream, CUstreamCallback func, void *data)
{
	struct host_func_op what = { .stream = stream, .callback = func, .data = data };

	return func ? submit_host_func(&what) : CUDA_ERROR_INVALID_VALUE;
}
