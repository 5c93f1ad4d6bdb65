/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_copy.c - libcuda: copies and sets, brought into one form */
#include "sim/cuda_face.h"

#include "sim/copy.h"
#include "sim/say.h"

static CUresult line(uintptr_t dst, uintptr_t src, size_t bytes, CUstream stream, bool is_sync,
                     enum sy_direction direction)
{
	struct sim_copy copy = { .destination = dst, .source = src, .width = bytes, .rows = 1, .slices = 1 };

	return sim_copy(&copy, stream, is_sync, direction);
}

CUresult sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return line(dst, src, bytes, 0, true, SY_ANY);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
	return line(dst, (uintptr_t)src, bytes, 0, true, SY_H2D);
}

CUresult sim_cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
	return line((uintptr_t)dst, src, bytes, 0, true, SY_D2H);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return line(dst, src, bytes, 0, true, SY_D2D);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return line(dst, src, bytes, stream, false, SY_ANY);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
	return line(dst, (uintptr_t)src, bytes, stream, false, SY_H2D);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return line((uintptr_t)dst, src, bytes, stream, false, SY_D2H);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return line(dst, src, bytes, stream, false, SY_D2D);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t bytes)
{
	struct sim_copy copy = { .destination = dst, .source = src, .width = bytes, .rows = 1, .slices = 1 };

	/* Addresses say whose they are. */
	(void)dst_context;
	(void)src_context;
	return bytes ? sim_copy_peer(&copy) : CUDA_SUCCESS;
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                               size_t bytes, CUstream stream)
{
	(void)dst_context;
	(void)src_context;
	return line(dst, src, bytes, stream, false, SY_D2D);
}

/* One side of a 2D or 3D copy: a host or device address. Arrays do not exist here. */
static bool side(CUmemorytype type, const void *host, CUdeviceptr device, uintptr_t *address)
{
	if (type == CU_MEMORYTYPE_ARRAY)
		return false;
	*address = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
	return true;
}

static enum sy_direction direction_of(CUmemorytype from, CUmemorytype to)
{
	if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
		return SY_ANY;
	if (from == CU_MEMORYTYPE_HOST)
		return to == CU_MEMORYTYPE_HOST ? SY_H2H : SY_H2D;
	return to == CU_MEMORYTYPE_HOST ? SY_D2H : SY_D2D;
}

static CUresult refuse_arrays(const char *api)
{
	sim_refuse(api);
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult plane(const CUDA_MEMCPY2D *p, CUstream stream, bool is_sync)
{
	struct sim_copy copy = { .slices = 1 };

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (!side(p->srcMemoryType, p->srcHost, p->srcDevice, &copy.source) ||
	    !side(p->dstMemoryType, p->dstHost, p->dstDevice, &copy.destination))
		return refuse_arrays("cuMemcpy2D with an array");
	copy.source += p->srcY * p->srcPitch + p->srcXInBytes;
	copy.destination += p->dstY * p->dstPitch + p->dstXInBytes;
	copy.width = p->WidthInBytes;
	copy.rows = p->Height;
	copy.source_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes;
	copy.destination_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
	return sim_copy(&copy, stream, is_sync, direction_of(p->srcMemoryType, p->dstMemoryType));
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *parms)
{
	return plane(parms, 0, true);
}

CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *parms)
{
	return plane(parms, 0, true);
}

CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *parms, CUstream stream)
{
	return plane(parms, stream, false);
}

CUresult sim_cuda_box(const CUDA_MEMCPY3D *p, struct sim_copy *copy, enum sy_direction *direction)
{
	*copy = (struct sim_copy){ 0 };
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (!side(p->srcMemoryType, p->srcHost, p->srcDevice, &copy->source) ||
	    !side(p->dstMemoryType, p->dstHost, p->dstDevice, &copy->destination))
		return refuse_arrays("cuMemcpy3D with an array");
	copy->width = p->WidthInBytes;
	copy->rows = p->Height;
	copy->slices = p->Depth;
	copy->source_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes;
	copy->destination_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
	copy->source_slice = copy->source_pitch * (p->srcHeight ? p->srcHeight : p->Height);
	copy->destination_slice = copy->destination_pitch * (p->dstHeight ? p->dstHeight : p->Height);
	copy->source += p->srcZ * copy->source_slice + p->srcY * copy->source_pitch + p->srcXInBytes;
	copy->destination += p->dstZ * copy->destination_slice + p->dstY * copy->destination_pitch + p->dstXInBytes;
	*direction = direction_of(p->srcMemoryType, p->dstMemoryType);
	return CUDA_SUCCESS;
}

static CUresult box(const CUDA_MEMCPY3D *p, CUstream stream, bool is_sync)
{
	struct sim_copy copy;
	enum sy_direction direction;
	CUresult result = sim_cuda_box(p, &copy, &direction);

	return result == CUDA_SUCCESS ? sim_copy(&copy, stream, is_sync, direction) : result;
}

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *parms)
{
	return box(parms, 0, true);
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *parms, CUstream stream)
{
	return box(parms, stream, false);
}

/* All sets are alike but for the size of an element. */
#define SET_FUNCTIONS(bits, type, bytes_)                                                                              \
	CUresult sim_cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t count)                                   \
	{                                                                                                              \
		struct sim_set set = { dst, 0, count, 1, value, bytes_ };                                              \
		return sim_set(&set, 0, true);                                                                         \
	}                                                                                                              \
	CUresult sim_cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t count, CUstream stream)                \
	{                                                                                                              \
		struct sim_set set = { dst, 0, count, 1, value, bytes_ };                                              \
		return sim_set(&set, stream, false);                                                                   \
	}                                                                                                              \
	CUresult sim_cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height)    \
	{                                                                                                              \
		struct sim_set set = { dst, pitch, width, height, value, bytes_ };                                     \
		return sim_set(&set, 0, true);                                                                         \
	}                                                                                                              \
	CUresult sim_cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height,  \
	                                      CUstream stream)                                                         \
	{                                                                                                              \
		struct sim_set set = { dst, pitch, width, height, value, bytes_ };                                     \
		return sim_set(&set, stream, false);                                                                   \
	}

SET_FUNCTIONS(8, unsigned char, 1)
SET_FUNCTIONS(16, unsigned short, 2)
SET_FUNCTIONS(32, unsigned int, 4)
