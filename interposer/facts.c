/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/facts.h"

/* The address of one end of a driver copy; an array has none. */
static uint64_t copy_end(CUmemorytype type, const void *host, CUdeviceptr device)
{
	if (type == CU_MEMORYTYPE_HOST)
		return SY_WORD(host);
	return type == CU_MEMORYTYPE_ARRAY ? 0 : (uint64_t)device;
}

static uint8_t direction_of(CUmemorytype src, CUmemorytype dst)
{
	if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
		return SY_ANY;
	if (src == CU_MEMORYTYPE_HOST)
		return dst == CU_MEMORYTYPE_HOST ? SY_H2H : SY_H2D;
	return dst == CU_MEMORYTYPE_HOST ? SY_D2H : SY_D2D;
}

void sy_facts_copy2d(struct sy_call *call, const CUDA_MEMCPY2D *parms, uint64_t stream)
{
	call->stream = stream;
	call->direction = SY_ANY;
	if (!parms)
		return;
	call->src = copy_end(parms->srcMemoryType, parms->srcHost, parms->srcDevice);
	call->dst = copy_end(parms->dstMemoryType, parms->dstHost, parms->dstDevice);
	call->direction = direction_of(parms->srcMemoryType, parms->dstMemoryType);
	call->bytes = parms->WidthInBytes * parms->Height;
}

void sy_facts_copy3d(struct sy_call *call, const CUDA_MEMCPY3D *parms, uint64_t stream)
{
	call->stream = stream;
	call->direction = SY_ANY;
	if (!parms)
		return;
	call->src = copy_end(parms->srcMemoryType, parms->srcHost, parms->srcDevice);
	call->dst = copy_end(parms->dstMemoryType, parms->dstHost, parms->dstDevice);
	call->direction = direction_of(parms->srcMemoryType, parms->dstMemoryType);
	call->bytes = parms->WidthInBytes * parms->Height * parms->Depth;
}

void sy_facts_copy3d_rt(struct sy_call *call, const struct cudaMemcpy3DParms *parms, uint64_t stream)
{
	call->stream = stream;
	call->direction = SY_ANY;
	if (!parms)
		return;
	call->src = SY_WORD(parms->srcPtr.ptr);
	call->dst = SY_WORD(parms->dstPtr.ptr);
	call->direction = (uint8_t)parms->kind;
	call->bytes = parms->extent.width * parms->extent.height * parms->extent.depth;
}
