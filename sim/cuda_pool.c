/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_pool.c - libcuda: memory pools, checked here, kept by pool.c */
#include "sim/cuda_face.h"

#include "sim/lock.h"
#include "sim/pool.h"

static CUresult give(CUmemoryPool *into, CUdevice ordinal, struct sim_pool *(*of)(const struct sim_device *))
{
	const struct sim_device *device = sim_device(ordinal);

	if (!into || !device)
		return into ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	*into = sim_pool_handle(of(device));
	sim_unlock();
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	SIM_TOUCH();
	return give(pool, device, sim_pool_default);
}

SIM_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	SIM_TOUCH();
	return give(pool, device, sim_pool_current);
}

SIM_EXPORT CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle)
{
	const struct sim_device *device = sim_device(ordinal);

	SIM_TOUCH();
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	sim_lock();
	struct sim_pool *pool = sim_pool_find(handle);
	CUresult result = pool ? sim_pool_set_current(device, pool) : CUDA_ERROR_INVALID_VALUE;
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *into, const CUmemPoolProps *props)
{
	SIM_TOUCH();
	if (!into || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	/* Other kinds of places, and pools for other processes, are not there. */
	if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
		return CUDA_ERROR_NOT_SUPPORTED;
	struct sim_device *device = sim_device(props->location.id);
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	sim_lock();
	const struct sim_pool *pool = sim_pool_create(device, props->maxSize);
	if (pool)
		*into = sim_pool_handle(pool);
	sim_unlock();
	return pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What the other calls have in common: a pool that lives, and the lock. */
#define WITH_POOL(handle, statement)                                                                                   \
	do {                                                                                                           \
		sim_lock();                                                                                            \
		struct sim_pool *pool = sim_pool_find(handle);                                                         \
		CUresult result_ = CUDA_ERROR_INVALID_VALUE;                                                           \
		if (pool)                                                                                              \
			result_ = (statement);                                                                         \
		sim_unlock();                                                                                          \
		return result_;                                                                                        \
	} while (0)

SIM_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
	SIM_TOUCH();
	WITH_POOL(handle, sim_pool_destroy(pool));
}

SIM_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes)
{
	SIM_TOUCH();
	WITH_POOL(handle, (sim_pool_trim(pool, keep_bytes), CUDA_SUCCESS));
}

SIM_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
	SIM_TOUCH();
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	WITH_POOL(handle, sim_pool_set(pool, attribute, value));
}

SIM_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
	SIM_TOUCH();
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	WITH_POOL(handle, sim_pool_get(pool, attribute, value));
}

/* Every device may use every pool's memory. */
SIM_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t n)
{
	SIM_TOUCH();
	if (!map && n)
		return CUDA_ERROR_INVALID_VALUE;
	WITH_POOL(handle, CUDA_SUCCESS);
}

SIM_EXPORT CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location)
{
	SIM_TOUCH();
	if (!flags || !location)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	WITH_POOL(handle, CUDA_SUCCESS);
}
