/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_vmm.c - libcuda: virtual memory management, checked here, done by vmm.c */
#include "sim/cuda_face.h"

#include "sim/lock.h"
#include "sim/vmm.h"

SIM_EXPORT CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t bytes, size_t alignment, CUdeviceptr wish,
                                        unsigned long long flags)
{
	uintptr_t address;

	SIM_TOUCH();
	if (!ptr || flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_vmm_reserve(&address, bytes, alignment, wish);
	sim_unlock();
	if (result == CUDA_SUCCESS)
		*ptr = address;
	return result;
}

SIM_EXPORT CUresult cuMemAddressFree(CUdeviceptr ptr, size_t bytes)
{
	SIM_TOUCH();
	sim_lock();
	CUresult result = sim_vmm_free_reserved(ptr, bytes);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop,
                                                  CUmemAllocationGranularity_flags option)
{
	SIM_TOUCH();
	if (!bytes || !prop ||
	    (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = SIM_VMM_GRANULARITY_BYTES;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                                unsigned long long flags)
{
	SIM_TOUCH();
	if (!handle || !prop || flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_vmm_create(handle, bytes, prop);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	SIM_TOUCH();
	sim_lock();
	CUresult result = sim_vmm_release(handle);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
	SIM_TOUCH();
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_vmm_retain(handle, (uintptr_t)address);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                           CUmemGenericAllocationHandle handle)
{
	SIM_TOUCH();
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_vmm_properties(prop, handle);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                             unsigned long long flags)
{
	SIM_TOUCH();
	if (offset != 0 || flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_vmm_map(ptr, bytes, handle);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemUnmap(CUdeviceptr ptr, size_t bytes)
{
	SIM_TOUCH();
	sim_lock();
	CUresult result = sim_vmm_unmap(ptr, bytes);
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemSetAccess(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *desc, size_t n)
{
	CUresult result = CUDA_SUCCESS;

	SIM_TOUCH();
	if (!desc || n == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
		if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
			result = sim_vmm_set_access(ptr, bytes, desc[i].location.id, desc[i].flags);
		else
			result = CUDA_ERROR_NOT_SUPPORTED;
	}
	sim_unlock();
	return result;
}

SIM_EXPORT CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
	SIM_TOUCH();
	if (!flags || !location)
		return CUDA_ERROR_INVALID_VALUE;
	if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	sim_lock();
	CUresult result = sim_vmm_get_access(flags, location->id, ptr);
	sim_unlock();
	return result;
}
