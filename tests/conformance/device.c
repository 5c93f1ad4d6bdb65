/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - opening the device and keeping it busy
 *
 * The device is made busy by a kernel that looks at its own clock until the
 * time is over: a few lines of PTX, which every driver compiles by itself and
 * which need no compiler on the machine. Neither a host function that sleeps
 * nor a large copy would do: the first runs in host time, which stands still
 * in virtual time, and may run in the very thread that is observed; the second
 * takes a time that depends on the machine and competes with the copies that
 * are asked about. The simulated device does not read the PTX; it gives each
 * kernel the time of its setting kernel_ns, here the time asked for.
 */
#include "tests/conformance/conformance.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/clock.h"

enum { ALIGNMENT = 4096 };

static const char spin_ptx[] =
	".version 6.3\n"
	".target sm_75\n"
	".address_size 64\n"
	".visible .entry conf_spin(.param .u64 ns)\n"
	"{\n"
	"	.reg .u64 %rd<4>;\n"
	"	.reg .pred %p;\n"
	"	ld.param.u64 %rd1, [ns];\n"
	"	mov.u64 %rd2, %globaltimer;\n"
	"AGAIN:\n"
	"	mov.u64 %rd3, %globaltimer;\n"
	"	sub.u64 %rd3, %rd3, %rd2;\n"
	"	setp.lt.u64 %p, %rd3, %rd1;\n"
	"	@%p bra AGAIN;\n"
	"	ret;\n"
	"}\n";

static const char *error_name(cudaError_t error)
{
	return cudaGetErrorName(error);
}

uint64_t conf_now(const struct conf *c)
{
	struct timespec t;
	uint64_t now = c->virtual_clock ? c->virtual_clock() : 0;

	if (now)
		return now;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

cudaStream_t conf_stream(const struct conf *c, enum conf_busy which)
{
	switch (which) {
	case CONF_LEGACY:
		return NULL;
	case CONF_PER_THREAD:
		return cudaStreamPerThread;
	case CONF_BLOCKING:
		return c->blocking[0];
	case CONF_NONBLOCKING:
		break;
	}
	return c->nonblocking[0];
}

static cudaError_t launch_ns(CUfunction function, cudaStream_t stream, uint64_t ns)
{
	void *params[] = { &ns };

	return (cudaError_t)cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

cudaError_t conf_occupy(const struct conf *c, cudaStream_t stream)
{
	return launch_ns(c->spin, stream, c->spin_ns);
}

cudaError_t conf_launch_brief(CUfunction function, cudaStream_t stream)
{
	return launch_ns(function, stream, 0);
}

static void find_clock(struct conf *c)
{
	void *symbol = dlsym(RTLD_DEFAULT, SY_VIRTUAL_CLOCK_SYMBOL);

	c->is_simulated = symbol != NULL;
	/* ISO C has no conversion to a function pointer; POSIX promises that the bytes are the same. */
	memcpy(&c->virtual_clock, &symbol, sizeof symbol);
}

static cudaError_t describe(struct conf *c)
{
	struct cudaDeviceProp properties;
	int has_pools = 0;
	cudaError_t error = cudaGetDeviceProperties(&properties, 0);

	if (error != cudaSuccess)
		return error;
	snprintf(c->name, sizeof c->name, "%s", properties.name);
	c->capability = 10 * properties.major + properties.minor;
	cudaDriverGetVersion(&c->driver_version);
	cudaRuntimeGetVersion(&c->runtime_version);
	error = cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, 0);
	c->has_pools = has_pools != 0;
	return error;
}

/* So that memory given back stays in the pool, and getting it again needs nothing from the system. */
static cudaError_t keep_pool(const struct conf *c)
{
	cudaMemPool_t pool;
	uint64_t all = UINT64_MAX;
	cudaError_t error = c->has_pools ? cudaDeviceGetDefaultMemPool(&pool, 0) : cudaSuccess;

	if (!c->has_pools || error != cudaSuccess)
		return error;
	return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

static cudaError_t make_buffers(struct conf *c)
{
	cudaError_t error = cudaSuccess;

	for (int i = 0; i < 2 && error == cudaSuccess; i++) {
		c->pageable[i] = aligned_alloc(ALIGNMENT, CONF_MIB);
		if (!c->pageable[i])
			return cudaErrorMemoryAllocation;
		memset(c->pageable[i], 0, CONF_MIB);
		error = cudaMalloc((void **)&c->device[i], CONF_MIB);
		if (error == cudaSuccess)
			error = cudaMallocHost((void **)&c->pinned[i], CONF_MIB);
	}
	c->readback = malloc(CONF_MIB);
	if (!c->readback)
		return cudaErrorMemoryAllocation;
	if (error == cudaSuccess &&
	    cudaMallocManaged((void **)&c->managed, CONF_MIB, cudaMemAttachGlobal) != cudaSuccess)
		c->managed = NULL;
	return error;
}

static cudaError_t make_streams(struct conf *c)
{
	cudaError_t error = cudaEventCreateWithFlags(&c->event, cudaEventDisableTiming);

	for (int i = 0; i < 2 && error == cudaSuccess; i++) {
		error = cudaStreamCreate(&c->blocking[i]);
		if (error == cudaSuccess)
			error = cudaStreamCreateWithFlags(&c->nonblocking[i], cudaStreamNonBlocking);
		if (error == cudaSuccess)
			error = cudaEventCreate(&c->marks[i]);
	}
	return error;
}

cudaError_t conf_load(CUmodule *module, CUfunction *function)
{
	CUresult result = cuModuleLoadData(module, spin_ptx);

	if (result == CUDA_SUCCESS)
		result = cuModuleGetFunction(function, *module, "conf_spin");
	return (cudaError_t)result;
}

static cudaError_t load_kernel(struct conf *c)
{
	return conf_load(&c->module, &c->spin);
}

/* How long the busy kernel takes, by the device's account. The first launch is left out: it may load the code. */
static cudaError_t measure_busy(struct conf *c)
{
	cudaStream_t stream = c->nonblocking[0];
	float ms = 0;
	cudaError_t error = conf_occupy(c, stream);

	if (error == cudaSuccess)
		error = cudaEventRecord(c->marks[0], stream);
	if (error == cudaSuccess)
		error = conf_occupy(c, stream);
	if (error == cudaSuccess)
		error = cudaEventRecord(c->marks[1], stream);
	if (error == cudaSuccess)
		error = cudaDeviceSynchronize();
	if (error == cudaSuccess)
		error = cudaEventElapsedTime(&ms, c->marks[0], c->marks[1]);
	c->busy_ns = (uint64_t)((double)ms * 1e6);
	return error;
}

enum conf_opened conf_open(struct conf *c, uint64_t spin_ns, char *text, size_t text_bytes)
{
	static cudaError_t (*const steps[])(struct conf *) = { describe, make_buffers, make_streams, load_kernel,
		                                               measure_busy };
	int n = 0;
	cudaError_t error = cudaGetDeviceCount(&n);

	*c = (struct conf){ .spin_ns = spin_ns };
	if (error != cudaSuccess || n == 0) {
		snprintf(text, text_bytes, "%s", error == cudaSuccess ? "none is there" : error_name(error));
		return CONF_NO_DEVICE;
	}
	find_clock(c);
	error = cudaSetDevice(0);
	if (error == cudaSuccess)
		error = cudaFree(NULL);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && error == cudaSuccess; i++)
		error = steps[i](c);
	if (error == cudaSuccess)
		error = keep_pool(c);
	if (error != cudaSuccess) {
		snprintf(text, text_bytes, "the device cannot be used: error=%s", error_name(error));
		return CONF_UNUSABLE;
	}
	if (c->busy_ns < spin_ns / 2 || c->busy_ns > 2 * spin_ns) {
		snprintf(text, text_bytes, "the busy kernel does not take its time%s: wanted_ns=%llu, took_ns=%llu",
		         c->is_simulated ? " (set SYNCTALLY_SIM=kernel_ns to it)" : "", (unsigned long long)spin_ns,
		         (unsigned long long)c->busy_ns);
		return CONF_UNUSABLE;
	}
	return CONF_OPENED;
}

void conf_close(struct conf *c)
{
	cudaDeviceSynchronize();
	for (int i = 0; i < 2; i++) {
		cudaStreamDestroy(c->blocking[i]);
		cudaStreamDestroy(c->nonblocking[i]);
		cudaEventDestroy(c->marks[i]);
		cudaFree(c->device[i]);
		cudaFreeHost(c->pinned[i]);
		free(c->pageable[i]);
	}
	if (c->managed)
		cudaFree(c->managed);
	cudaEventDestroy(c->event);
	cuModuleUnload(c->module);
	free(c->readback);
}
