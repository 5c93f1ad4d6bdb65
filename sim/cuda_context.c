/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_context.c - libcuda: cuInit and contexts
 *
 * A context is a name of a device and a use count; everything real belongs to
 * the device. A thread without a current context may work on the first device
 * as long as some primary context is in use: real drivers refuse that, programs
 * do not depend on it.
 */
#include "sim/cuda_face.h"

#include <pthread.h>
#include <stdatomic.h>

#include "sim/device.h"
#include "sim/wait.h"

#define HANDLE_BASE ((uintptr_t)0x5300000000)
#define HANDLE_STEP ((uintptr_t)0x80)

/* The first entries are the primary contexts, each at its device's ordinal. */
enum {
	MAX_CONTEXTS = 256,
	MAX_STACK = 64,
	FIRST_CREATED = SIM_MAX_DEVICES,
	LOWEST_PRIORITY = 0,
	HIGHEST_PRIORITY = -5
};

static struct {
	pthread_mutex_t lock;
	unsigned n_uses[MAX_CONTEXTS]; /* of a primary context: retains; of the others: 1 while alive */
	unsigned flags[MAX_CONTEXTS];
	int ordinal[MAX_CONTEXTS];    /* of the device of a created context */
	unsigned peers[MAX_CONTEXTS]; /* bit N: may use the memory of device N */
} contexts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Atomic bool is_initialized;
static _Atomic unsigned n_primaries_active;

static __thread CUcontext stack[MAX_STACK];
static __thread unsigned depth;

static CUcontext handle_of(unsigned index)
{
	return (CUcontext)(HANDLE_BASE + index * HANDLE_STEP);
}

/* Index of a live context, or MAX_CONTEXTS. */
static unsigned index_of(CUcontext context)
{
	uintptr_t distance = (uintptr_t)context - HANDLE_BASE;

	if (distance % HANDLE_STEP != 0 || distance / HANDLE_STEP >= MAX_CONTEXTS)
		return MAX_CONTEXTS;
	unsigned index = (unsigned)(distance / HANDLE_STEP);
	pthread_mutex_lock(&contexts.lock);
	bool is_live = contexts.n_uses[index] > 0;
	pthread_mutex_unlock(&contexts.lock);
	return is_live ? index : MAX_CONTEXTS;
}

/* The device of a context that was alive when the caller got its index. */
static int ordinal_of(unsigned index)
{
	return index < FIRST_CREATED || index >= MAX_CONTEXTS ? (int)index : contexts.ordinal[index];
}

static CUcontext current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

CUresult sim_cuda_ready(bool needs_context)
{
	if (!atomic_load_explicit(&is_initialized, memory_order_acquire))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (needs_context && !current() && !atomic_load_explicit(&n_primaries_active, memory_order_relaxed))
		return CUDA_ERROR_INVALID_CONTEXT;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuInit(unsigned flags)
{
	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sim_device_start();
	if (result == CUDA_SUCCESS)
		atomic_store_explicit(&is_initialized, true, memory_order_release);
	return result;
}

SIM_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	SIM_TOUCH();
	if (!context || !sim_device(device))
		return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&contexts.lock);
	if (contexts.n_uses[device]++ == 0)
		atomic_fetch_add(&n_primaries_active, 1);
	pthread_mutex_unlock(&contexts.lock);
	*context = handle_of((unsigned)device);
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	SIM_TOUCH();
	if (!sim_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&contexts.lock);
	bool was_active = contexts.n_uses[device] > 0;
	if (was_active && --contexts.n_uses[device] == 0)
		atomic_fetch_sub(&n_primaries_active, 1);
	pthread_mutex_unlock(&contexts.lock);
	return was_active ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
	SIM_TOUCH();
	if (!sim_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&contexts.lock);
	contexts.flags[device] = flags;
	pthread_mutex_unlock(&contexts.lock);
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	SIM_TOUCH();
	if (!sim_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&contexts.lock);
	if (flags)
		*flags = contexts.flags[device];
	if (active)
		*active = contexts.n_uses[device] > 0;
	pthread_mutex_unlock(&contexts.lock);
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	return sim_device(device) ? sim_device_reset(sim_device(device)) : CUDA_ERROR_INVALID_DEVICE;
}

/* Tells the device side which one the thread now works with. */
static void follow_current(void)
{
	CUcontext context = current();

	sim_device_choose(context ? ordinal_of((unsigned)(((uintptr_t)context - HANDLE_BASE) / HANDLE_STEP)) : -1);
}

static CUresult push(CUcontext context)
{
	if (depth == MAX_STACK)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = context;
	follow_current();
	return CUDA_SUCCESS;
}

static void pop(void)
{
	depth--;
	follow_current();
}

CUresult sim_cuda_context_of(int ordinal, CUcontext *context)
{
	*context = current();
	if (!*context || sim_device_chosen() != ordinal)
		*context = handle_of((unsigned)ordinal);
	return CUDA_SUCCESS;
}

static CUresult create(CUcontext *context, unsigned flags, CUdevice device)
{
	unsigned index = FIRST_CREATED;

	if (!context || !sim_device(device))
		return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&contexts.lock);
	while (index < MAX_CONTEXTS && contexts.n_uses[index])
		index++;
	if (index < MAX_CONTEXTS) {
		contexts.n_uses[index] = 1;
		contexts.flags[index] = flags;
		contexts.ordinal[index] = device;
		contexts.peers[index] = 0;
	}
	pthread_mutex_unlock(&contexts.lock);
	if (index == MAX_CONTEXTS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*context = handle_of(index);
	return push(*context);
}

SIM_EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
	SIM_TOUCH();
	return create(context, flags, device);
}

SIM_EXPORT CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
	SIM_TOUCH();
	(void)params;
	return create(context, flags, device);
}

CUresult sim_cuCtxDestroy_v2(CUcontext context)
{
	unsigned index = index_of(context);

	if (index == MAX_CONTEXTS || index < FIRST_CREATED)
		return CUDA_ERROR_INVALID_CONTEXT;
	/* Ends what runs; memory and streams belong to the device, which the primary context may still use. */
	CUresult result = sim_wait_before_reset();
	pthread_mutex_lock(&contexts.lock);
	contexts.n_uses[index] = 0;
	pthread_mutex_unlock(&contexts.lock);
	if (current() == context)
		pop();
	return result;
}

SIM_EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
	SIM_TOUCH();
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	*context = current();
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxSetCurrent(CUcontext context)
{
	SIM_TOUCH();
	if (context && index_of(context) == MAX_CONTEXTS)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth)
		pop();
	return context ? push(context) : CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	SIM_TOUCH();
	return index_of(context) == MAX_CONTEXTS ? CUDA_ERROR_INVALID_CONTEXT : push(context);
}

SIM_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	SIM_TOUCH();
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context)
		*context = current();
	pop();
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
	SIM_TOUCH();
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!current())
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = sim_device_chosen();
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
	SIM_TOUCH();
	unsigned index = index_of(context ? context : current());
	if (!id || index == MAX_CONTEXTS)
		return id ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
	*id = 1 + index;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
	SIM_TOUCH();
	(void)context;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = 3020;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetFlags(unsigned *flags)
{
	SIM_TOUCH();
	unsigned index = index_of(current());
	if (!flags || index == MAX_CONTEXTS)
		return flags ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&contexts.lock);
	*flags = contexts.flags[index];
	pthread_mutex_unlock(&contexts.lock);
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	SIM_TOUCH();
	if (least)
		*least = LOWEST_PRIORITY;
	if (greatest)
		*greatest = HIGHEST_PRIORITY;
	return CUDA_SUCCESS;
}

/* Limits are for kernels that compute: remembered nowhere, reported as the usual ones. */
SIM_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	SIM_TOUCH();
	(void)limit;
	(void)value;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
	SIM_TOUCH();
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	*value = limit == CU_LIMIT_STACK_SIZE ? 1024 : limit == CU_LIMIT_PRINTF_FIFO_SIZE ? 1 << 20 : 8 << 20;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
	SIM_TOUCH();
	(void)config;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
	SIM_TOUCH();
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	*config = CU_FUNC_CACHE_PREFER_NONE;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void)
{
	return sim_wait_device();
}

CUresult sim_cuCtxSynchronize_v2(CUcontext context)
{
	if (!context)
		return sim_wait_device();
	unsigned index = index_of(context);
	int chosen = sim_device_chosen();
	if (index == MAX_CONTEXTS)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_device_choose(ordinal_of(index));
	CUresult result = sim_wait_device();
	sim_device_choose(chosen);
	return result;
}

/* Which pair of devices a call about peers means: the current context's, and the other's. */
static CUresult find_peer(CUcontext peer, unsigned *index, unsigned *bit)
{
	unsigned other = index_of(peer);

	*index = index_of(current());
	if (*index == MAX_CONTEXTS || other == MAX_CONTEXTS)
		return CUDA_ERROR_INVALID_CONTEXT;
	*bit = 1u << ordinal_of(other);
	/* A context needs no leave for its own device's memory. */
	return ordinal_of(other) == ordinal_of(*index) ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	unsigned index, bit;

	SIM_TOUCH();
	CUresult result = flags ? CUDA_ERROR_INVALID_VALUE : find_peer(peer, &index, &bit);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&contexts.lock);
	bool was_enabled = contexts.peers[index] & bit;
	contexts.peers[index] |= bit;
	pthread_mutex_unlock(&contexts.lock);
	return was_enabled ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	unsigned index, bit;

	SIM_TOUCH();
	CUresult result = find_peer(peer, &index, &bit);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&contexts.lock);
	bool was_enabled = contexts.peers[index] & bit;
	contexts.peers[index] &= ~bit;
	pthread_mutex_unlock(&contexts.lock);
	return was_enabled ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
