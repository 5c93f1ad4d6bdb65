/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_copy.c - libcudart: copies and sets */
#include "sim/cudart_face.h"

#include <stdint.h>

#include "sim/say.h"

static CUdeviceptr ptr_of(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

cudaError_t rt_cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return rt_error(DRV(cuMemcpyHtoD)(ptr_of(dst), src, bytes));
	case cudaMemcpyDeviceToHost:
		return rt_error(DRV(cuMemcpyDtoH)(dst, ptr_of(src), bytes));
	case cudaMemcpyDeviceToDevice:
		return rt_error(DRV(cuMemcpyDtoD)(ptr_of(dst), ptr_of(src), bytes));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return rt_error(DRV(cuMemcpy)(ptr_of(dst), ptr_of(src), bytes));
	}
	return cudaErrorInvalidMemcpyDirection;
}

cudaError_t rt_cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return rt_error(DRV(cuMemcpyHtoDAsync)(ptr_of(dst), src, bytes, stream));
	case cudaMemcpyDeviceToHost:
		return rt_error(DRV(cuMemcpyDtoHAsync)(dst, ptr_of(src), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		return rt_error(DRV(cuMemcpyDtoDAsync)(ptr_of(dst), ptr_of(src), bytes, stream));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return rt_error(DRV(cuMemcpyAsync)(ptr_of(dst), ptr_of(src), bytes, stream));
	}
	return cudaErrorInvalidMemcpyDirection;
}

/* What the driver is told about the two ends; false for a direction that does not exist. */
static bool types_of(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
	static const CUmemorytype from_of[] = { CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE,
		                                CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED };
	static const CUmemorytype to_of[] = { CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST,
		                              CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED };

	if ((unsigned)kind > cudaMemcpyDefault)
		return false;
	*from = from_of[kind];
	*to = to_of[kind];
	return true;
}

/* The host and device fields are both set; the driver looks at the one its type names. */
static cudaError_t plane(CUDA_MEMCPY2D *p, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
	if (width > dpitch || width > spitch)
		return cudaErrorInvalidPitchValue;
	*p = (CUDA_MEMCPY2D){ .srcHost = src,
		              .srcDevice = ptr_of(src),
		              .srcPitch = spitch,
		              .dstHost = dst,
		              .dstDevice = ptr_of(dst),
		              .dstPitch = dpitch,
		              .WidthInBytes = width,
		              .Height = height };
	return types_of(kind, &p->srcMemoryType, &p->dstMemoryType) ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

cudaError_t rt_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                            enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D p;
	cudaError_t error = plane(&p, dst, dpitch, src, spitch, width, height, kind);

	return error == cudaSuccess ? rt_error(DRV(cuMemcpy2DUnaligned)(&p)) : error;
}

cudaError_t rt_cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                 enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUDA_MEMCPY2D p;
	cudaError_t error = plane(&p, dst, dpitch, src, spitch, width, height, kind);

	return error == cudaSuccess ? rt_error(DRV(cuMemcpy2DAsync)(&p, stream)) : error;
}

cudaError_t rt_driver_box(CUDA_MEMCPY3D *p, const struct cudaMemcpy3DParms *parms)
{
	if (!parms)
		return cudaErrorInvalidValue;
	if (parms->srcArray || parms->dstArray) {
		sim_refuse("cudaMemcpy3D with an array");
		return cudaErrorNotSupported;
	}
	*p = (CUDA_MEMCPY3D){ .srcXInBytes = parms->srcPos.x,
		              .srcY = parms->srcPos.y,
		              .srcZ = parms->srcPos.z,
		              .srcHost = parms->srcPtr.ptr,
		              .srcDevice = ptr_of(parms->srcPtr.ptr),
		              .srcPitch = parms->srcPtr.pitch,
		              .srcHeight = parms->srcPtr.ysize,
		              .dstXInBytes = parms->dstPos.x,
		              .dstY = parms->dstPos.y,
		              .dstZ = parms->dstPos.z,
		              .dstHost = parms->dstPtr.ptr,
		              .dstDevice = ptr_of(parms->dstPtr.ptr),
		              .dstPitch = parms->dstPtr.pitch,
		              .dstHeight = parms->dstPtr.ysize,
		              .WidthInBytes = parms->extent.width,
		              .Height = parms->extent.height,
		              .Depth = parms->extent.depth };
	return types_of(parms->kind, &p->srcMemoryType, &p->dstMemoryType) ? cudaSuccess
	                                                                   : cudaErrorInvalidMemcpyDirection;
}

cudaError_t rt_cudaMemcpy3D(const struct cudaMemcpy3DParms *parms)
{
	CUDA_MEMCPY3D p;
	cudaError_t error = rt_driver_box(&p, parms);

	return error == cudaSuccess ? rt_error(DRV(cuMemcpy3D)(&p)) : error;
}

cudaError_t rt_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parms, cudaStream_t stream)
{
	CUDA_MEMCPY3D p;
	cudaError_t error = rt_driver_box(&p, parms);

	return error == cudaSuccess ? rt_error(DRV(cuMemcpy3DAsync)(&p, stream)) : error;
}

/* The contexts that the driver wants to hear of: the primary ones. */
static cudaError_t peer_contexts(int dst_device, int src_device, CUcontext contexts[2])
{
	CUresult result = rt_primary(dst_device, &contexts[0]);

	if (result == CUDA_SUCCESS)
		result = rt_primary(src_device, &contexts[1]);
	return rt_error(result);
}

cudaError_t rt_cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
	CUcontext contexts[2];
	cudaError_t error = peer_contexts(dst_device, src_device, contexts);

	if (error != cudaSuccess)
		return error;
	return rt_error(DRV(cuMemcpyPeer)(ptr_of(dst), contexts[0], ptr_of(src), contexts[1], bytes));
}

cudaError_t rt_cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                                   cudaStream_t stream)
{
	CUcontext contexts[2];
	cudaError_t error = peer_contexts(dst_device, src_device, contexts);

	if (error != cudaSuccess)
		return error;
	return rt_error(DRV(cuMemcpyPeerAsync)(ptr_of(dst), contexts[0], ptr_of(src), contexts[1], bytes, stream));
}

static cudaError_t inside(void **address, const void *symbol, size_t bytes, size_t offset)
{
	CUdeviceptr base;
	size_t room;
	cudaError_t error = rt_address_of_symbol(&base, &room, symbol);

	if (error != cudaSuccess)
		return error;
	if (offset > room || bytes > room - offset)
		return cudaErrorInvalidValue;
	*address = (void *)(uintptr_t)(base + offset);
	return cudaSuccess;
}

cudaError_t rt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                                  enum cudaMemcpyKind kind)
{
	void *address;
	cudaError_t error = inside(&address, symbol, bytes, offset);

	return error == cudaSuccess ? rt_cudaMemcpy(address, src, bytes, kind) : error;
}

cudaError_t rt_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind)
{
	void *address;
	cudaError_t error = inside(&address, symbol, bytes, offset);

	return error == cudaSuccess ? rt_cudaMemcpy(dst, address, bytes, kind) : error;
}

cudaError_t rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
	void *address;
	cudaError_t error = inside(&address, symbol, bytes, offset);

	return error == cudaSuccess ? rt_cudaMemcpyAsync(address, src, bytes, kind, stream) : error;
}

cudaError_t rt_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
	void *address;
	cudaError_t error = inside(&address, symbol, bytes, offset);

	return error == cudaSuccess ? rt_cudaMemcpyAsync(dst, address, bytes, kind, stream) : error;
}

cudaError_t rt_cudaMemset(void *dst, int value, size_t bytes)
{
	return rt_error(DRV(cuMemsetD8)(ptr_of(dst), (unsigned char)value, bytes));
}

cudaError_t rt_cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	return rt_error(DRV(cuMemsetD8Async)(ptr_of(dst), (unsigned char)value, bytes, stream));
}

cudaError_t rt_cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	return rt_error(DRV(cuMemsetD2D8)(ptr_of(dst), pitch, (unsigned char)value, width, height));
}

cudaError_t rt_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
	return rt_error(DRV(cuMemsetD2D8Async)(ptr_of(dst), pitch, (unsigned char)value, width, height, stream));
}
