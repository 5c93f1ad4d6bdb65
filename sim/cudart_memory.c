/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_memory.c - libcudart: memory that comes to life and ends, questions about addresses, pools */
#include "sim/cudart_face.h"

#include <stdint.h>
#include <string.h>

/* Asking for nothing succeeds and gives no address; the driver calls it an error. */
static cudaError_t give_nothing(void **ptr)
{
	*ptr = NULL;
	return cudaSuccess;
}

cudaError_t rt_cudaMalloc(void **ptr, size_t bytes)
{
	if (!ptr)
		return cudaErrorInvalidValue;
	return bytes ? rt_error(DRV(cuMemAlloc)((CUdeviceptr *)ptr, bytes)) : give_nothing(ptr);
}

cudaError_t rt_cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	return rt_error(DRV(cuMemAllocPitch)((CUdeviceptr *)ptr, pitch, width, height, 4));
}

cudaError_t rt_cudaHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
	if (!ptr)
		return cudaErrorInvalidValue;
	return bytes ? rt_error(DRV(cuMemHostAlloc)(ptr, bytes, flags)) : give_nothing(ptr);
}

cudaError_t rt_cudaMallocHost(void **ptr, size_t bytes)
{
	if (!ptr)
		return cudaErrorInvalidValue;
	return bytes ? rt_error(DRV(cuMemAllocHost)(ptr, bytes)) : give_nothing(ptr);
}

cudaError_t rt_cudaHostRegister(void *ptr, size_t bytes, unsigned flags)
{
	return rt_error(DRV(cuMemHostRegister)(ptr, bytes, flags));
}

cudaError_t rt_cudaHostUnregister(void *ptr)
{
	return rt_error(DRV(cuMemHostUnregister)(ptr));
}

cudaError_t rt_cudaMallocManaged(void **ptr, size_t bytes, unsigned flags)
{
	return rt_error(DRV(cuMemAllocManaged)((CUdeviceptr *)ptr, bytes, flags));
}

cudaError_t rt_cudaMallocAsync(void **ptr, size_t bytes, cudaStream_t stream)
{
	if (!ptr)
		return cudaErrorInvalidValue;
	return bytes ? rt_error(DRV(cuMemAllocAsync)((CUdeviceptr *)ptr, bytes, stream)) : give_nothing(ptr);
}

cudaError_t rt_cudaMallocFromPoolAsync(void **ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
	return rt_error(DRV(cuMemAllocFromPoolAsync)((CUdeviceptr *)ptr, bytes, pool, stream));
}

cudaError_t rt_cudaFree(void *ptr)
{
	return rt_error(DRV(cuMemFree)((CUdeviceptr)(uintptr_t)ptr));
}

cudaError_t rt_cudaFreeHost(void *ptr)
{
	return rt_error(DRV(cuMemFreeHost)(ptr));
}

cudaError_t rt_cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	return rt_error(DRV(cuMemFreeAsync)((CUdeviceptr)(uintptr_t)ptr, stream));
}

cudaError_t rt_cudaDeviceReset(void)
{
	return rt_error(DRV(cuDevicePrimaryCtxReset)(rt_device()));
}

SIM_EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	RT_READY();
	return rt_noted(DRV(cuMemGetInfo)(free_bytes, total_bytes));
}

SIM_EXPORT cudaError_t cudaHostGetDevicePointer(void **device_ptr, void *ptr, unsigned flags)
{
	RT_READY();
	return rt_noted(DRV(cuMemHostGetDevicePointer)((CUdeviceptr *)device_ptr, ptr, flags));
}

SIM_EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *ptr)
{
	RT_READY();
	return rt_noted(DRV(cuMemHostGetFlags)(flags, ptr));
}

SIM_EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
	unsigned type = 0, is_managed = 0;
	int ordinal = 0;
	CUdeviceptr device_ptr = 0;
	void *host_ptr = NULL;
	CUpointer_attribute wanted[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
		                         CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
		                         CU_POINTER_ATTRIBUTE_HOST_POINTER };
	void *answers[] = { &type, &is_managed, &ordinal, &device_ptr, &host_ptr };

	RT_READY();
	if (!attributes)
		return rt_note(cudaErrorInvalidValue);
	CUresult result = DRV(cuPointerGetAttributes)(sizeof wanted / sizeof wanted[0], wanted, answers,
	                                              (CUdeviceptr)(uintptr_t)ptr);
	if (result != CUDA_SUCCESS)
		return rt_noted(result);
	memset(attributes, 0, sizeof *attributes);
	attributes->type = is_managed                   ? cudaMemoryTypeManaged
	                   : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
	                   : type                       ? cudaMemoryTypeDevice
	                                                : cudaMemoryTypeUnregistered;
	attributes->device = ordinal;
	attributes->devicePointer = (void *)(uintptr_t)device_ptr;
	/* Memory nobody announced is still the host's. */
	attributes->hostPointer = type ? host_ptr : (void *)(uintptr_t)ptr;
	return cudaSuccess;
}

SIM_EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	RT_READY();
	return rt_noted(DRV(cuDeviceGetDefaultMemPool)(pool, device));
}

SIM_EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
	RT_READY();
	return rt_noted(DRV(cuDeviceGetMemPool)(pool, device));
}

SIM_EXPORT cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
	RT_READY();
	return rt_noted(DRV(cuDeviceSetMemPool)(device, pool));
}

SIM_EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
	RT_READY();
	if (!props)
		return rt_note(cudaErrorInvalidValue);
	CUmemPoolProps driver_props = {
		.allocType = (CUmemAllocationType)props->allocType,
		.handleTypes = (CUmemAllocationHandleType)props->handleTypes,
		.location = { .type = (CUmemLocationType)props->location.type, .id = props->location.id },
		.maxSize = props->maxSize,
	};
	return rt_noted(DRV(cuMemPoolCreate)(pool, &driver_props));
}

SIM_EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	RT_READY();
	return rt_noted(DRV(cuMemPoolDestroy)(pool));
}

SIM_EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
	RT_READY();
	return rt_noted(DRV(cuMemPoolTrimTo)(pool, bytes));
}

SIM_EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	RT_READY();
	return rt_noted(DRV(cuMemPoolSetAttribute)(pool, (CUmemPool_attribute)attribute, value));
}

SIM_EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	RT_READY();
	return rt_noted(DRV(cuMemPoolGetAttribute)(pool, (CUmemPool_attribute)attribute, value));
}

/* The runtime's structures of access are the driver's. */
SIM_EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *map, size_t n)
{
	RT_READY();
	return rt_noted(DRV(cuMemPoolSetAccess)(pool, (const CUmemAccessDesc *)(const void *)map, n));
}

SIM_EXPORT cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                            struct cudaMemLocation *location)
{
	RT_READY();
	return rt_noted(DRV(cuMemPoolGetAccess)((CUmemAccess_flags *)flags, pool, (CUmemLocation *)(void *)location));
}
