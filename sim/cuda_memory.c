/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_memory.c - libcuda: memory that comes to life and ends, and questions about addresses */
#include "sim/cuda_face.h"

#include <string.h>

#include "sim/device.h"
#include "sim/memory.h"

#define PITCH_ALIGN ((size_t)512)

CUresult sim_cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	uintptr_t address;
	CUresult result = ptr ? sim_memory_alloc_device(&address, bytes) : CUDA_ERROR_INVALID_VALUE;

	if (result == CUDA_SUCCESS)
		*ptr = address;
	return result;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
	size_t bytes, row = (width + PITCH_ALIGN - 1) & ~(PITCH_ALIGN - 1);

	if (!pitch || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) || row < width ||
	    __builtin_mul_overflow(row, height, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sim_cuMemAlloc_v2(ptr, bytes);
	if (result == CUDA_SUCCESS)
		*pitch = row;
	return result;
}

CUresult sim_cuMemAllocHost_v2(void **ptr, size_t bytes)
{
	return ptr ? sim_memory_alloc_host(ptr, bytes, false) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
	(void)flags;
	return sim_cuMemAllocHost_v2(ptr, bytes);
}

CUresult sim_cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
	(void)flags;
	return sim_memory_register(ptr, bytes);
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags)
{
	void *address;

	if (!ptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sim_memory_alloc_host(&address, bytes, true);
	if (result == CUDA_SUCCESS)
		*ptr = (CUdeviceptr)address;
	return result;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	uintptr_t address;
	CUresult result = ptr ? sim_memory_alloc_ordered(&address, bytes, NULL, stream) : CUDA_ERROR_INVALID_VALUE;

	if (result == CUDA_SUCCESS)
		*ptr = address;
	return result;
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream)
{
	uintptr_t address;

	if (!ptr || !pool)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sim_memory_alloc_ordered(&address, bytes, pool, stream);
	if (result == CUDA_SUCCESS)
		*ptr = address;
	return result;
}

CUresult sim_cuMemFree_v2(CUdeviceptr ptr)
{
	return sim_memory_free_device(ptr);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
	return sim_memory_free_ordered(ptr, stream);
}

CUresult sim_cuMemFreeHost(void *ptr)
{
	return sim_memory_free_host(ptr);
}

CUresult sim_cuMemHostUnregister(void *ptr)
{
	return sim_memory_unregister(ptr);
}

SIM_EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	SIM_TOUCH();
	if (!free_bytes || !total_bytes)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_info(free_bytes, total_bytes);
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
	struct sim_memory_facts facts;

	SIM_TOUCH();
	sim_memory_facts(ptr, &facts);
	if (!facts.base)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = facts.base;
	if (bytes)
		*bytes = facts.bytes;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device_ptr, void *ptr, unsigned flags)
{
	struct sim_memory_facts facts;

	SIM_TOUCH();
	if (!device_ptr || flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_facts((uintptr_t)ptr, &facts);
	if (facts.kind != SIM_MEMORY_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*device_ptr = (CUdeviceptr)ptr;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *ptr)
{
	struct sim_memory_facts facts;

	SIM_TOUCH();
	sim_memory_facts((uintptr_t)ptr, &facts);
	if (!flags || facts.kind != SIM_MEMORY_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = CU_MEMHOSTALLOC_DEVICEMAP;
	return CUDA_SUCCESS;
}

#define ANSWER(type, value)                                                                                            \
	do {                                                                                                           \
		type answer_ = value;                                                                                  \
		memcpy(data, &answer_, sizeof answer_);                                                                \
	} while (0)

static CUresult answer(void *data, CUpointer_attribute attribute, CUdeviceptr ptr, const struct sim_memory_facts *facts)
{
	bool is_on_device = facts->kind == SIM_MEMORY_DEVICE;

	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		return cuCtxGetCurrent(data);
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		ANSWER(unsigned, facts->kind == SIM_MEMORY_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		ANSWER(CUdeviceptr, ptr);
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (is_on_device)
			return CUDA_ERROR_INVALID_VALUE;
		ANSWER(void *, (void *)ptr);
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		ANSWER(unsigned, 0);
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		ANSWER(unsigned long long, facts->base);
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		ANSWER(unsigned, facts->kind == SIM_MEMORY_MANAGED);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		ANSWER(int, facts->ordinal);
		break;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		ANSWER(unsigned, is_on_device && !facts->pool);
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		ANSWER(CUdeviceptr, facts->base);
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		ANSWER(size_t, facts->bytes);
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		ANSWER(unsigned, 1);
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		ANSWER(unsigned long long, 0);
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		ANSWER(CUmemoryPool, facts->pool);
		break;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct sim_memory_facts facts;

	SIM_TOUCH();
	if (!data)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_facts(ptr, &facts);
	return facts.base ? answer(data, attribute, ptr, &facts) : CUDA_ERROR_INVALID_VALUE;
}

/* Unlike the singular form this one succeeds for memory the device does not know, with every answer zero. */
SIM_EXPORT CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr)
{
	struct sim_memory_facts facts;

	SIM_TOUCH();
	if (!attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_facts(ptr, &facts);
	for (unsigned i = 0; i < n; i++) {
		if (facts.base && answer(data[i], attributes[i], ptr, &facts) == CUDA_SUCCESS)
			continue;
		bool is_word = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
		               attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
		               attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
		               attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
		               attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
		               attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
		               attributes[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
		int ordinal =
			attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL && !facts.base ? CU_DEVICE_INVALID : 0;
		if (is_word)
			memset(data[i], 0, sizeof(uint64_t));
		else
			memcpy(data[i], &ordinal, sizeof ordinal);
	}
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	SIM_TOUCH();
	(void)ptr;
	return value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
