/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart_graph_node.c - libcudart: nodes of graphs
 *
 * The runtime's structures of parameters are brought into the driver's, and
 * back. Kernels are named by their host stubs here.
 */
#include "sim/cudart_face.h"

#include <string.h>

/* ---- the runtime's parameters into the driver's ---- */

static cudaError_t kernel_of(CUDA_KERNEL_NODE_PARAMS_v2 *to, const struct cudaKernelNodeParams *from)
{
	CUkernel kernel;

	if (!from)
		return cudaErrorInvalidValue;
	cudaError_t error = rt_kernel_of_stub(&kernel, from->func);
	if (error != cudaSuccess)
		return error;
	*to = (CUDA_KERNEL_NODE_PARAMS_v2){ .func = (CUfunction)kernel,
		                            .gridDimX = from->gridDim.x,
		                            .gridDimY = from->gridDim.y,
		                            .gridDimZ = from->gridDim.z,
		                            .blockDimX = from->blockDim.x,
		                            .blockDimY = from->blockDim.y,
		                            .blockDimZ = from->blockDim.z,
		                            .sharedMemBytes = from->sharedMemBytes,
		                            .kernelParams = from->kernelParams };
	return cudaSuccess;
}

static cudaError_t set_of(CUDA_MEMSET_NODE_PARAMS *to, const struct cudaMemsetParams *from)
{
	if (!from)
		return cudaErrorInvalidValue;
	*to = (CUDA_MEMSET_NODE_PARAMS){ (CUdeviceptr)from->dst, from->pitch, from->value,
		                         from->elementSize,      from->width, from->height };
	return cudaSuccess;
}

static cudaError_t host_of(CUDA_HOST_NODE_PARAMS *to, const struct cudaHostNodeParams *from)
{
	if (!from)
		return cudaErrorInvalidValue;
	*to = (CUDA_HOST_NODE_PARAMS){ from->fn, from->userData };
	return cudaSuccess;
}

/* ---- and back ---- */

static void kernel_from(struct cudaKernelNodeParams *to, const CUDA_KERNEL_NODE_PARAMS_v2 *from)
{
	const void *stub = rt_stub_of_kernel(from->func);

	*to = (struct cudaKernelNodeParams){ .gridDim = { from->gridDimX, from->gridDimY, from->gridDimZ },
		                             .blockDim = { from->blockDimX, from->blockDimY, from->blockDimZ },
		                             .sharedMemBytes = from->sharedMemBytes,
		                             .kernelParams = from->kernelParams };
	/* The field lacks the const that launches promise. */
	to->func = stub ? (void *)(uintptr_t)stub : (void *)from->func;
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
	if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (from == CU_MEMORYTYPE_HOST)
		return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
	return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

static void copy_from(struct cudaMemcpy3DParms *to, const CUDA_MEMCPY3D *from)
{
	*to = (struct cudaMemcpy3DParms){
		.srcPtr = { (void *)from->srcDevice, from->srcPitch, from->WidthInBytes, from->srcHeight },
		.dstPtr = { (void *)from->dstDevice, from->dstPitch, from->WidthInBytes, from->dstHeight },
		.extent = { from->WidthInBytes, from->Height, from->Depth },
		.kind = kind_of(from->srcMemoryType, from->dstMemoryType)
	};
}

/* ---- make a node, ask it, change it in its graph and in an executable: alike for three kinds ---- */

#define NODE_KIND(kind, runtime_params, driver_params, into_driver, into_runtime, add_context, exec_context)           \
	SIM_EXPORT cudaError_t cudaGraphAdd##kind##Node(cudaGraphNode_t *node, cudaGraph_t graph,                      \
	                                                const cudaGraphNode_t *before, size_t n,                       \
	                                                const struct runtime_params *params)                           \
	{                                                                                                              \
		driver_params converted_;                                                                              \
		RT_READY();                                                                                            \
		cudaError_t error_ = into_driver(&converted_, params);                                                 \
		if (error_ != cudaSuccess)                                                                             \
			return rt_note(error_);                                                                        \
		return rt_noted(DRV(cuGraphAdd##kind##Node)(node, graph, before, n, &converted_ add_context));         \
	}                                                                                                              \
	SIM_EXPORT cudaError_t cudaGraph##kind##NodeSetParams(cudaGraphNode_t node,                                    \
	                                                      const struct runtime_params *params)                     \
	{                                                                                                              \
		driver_params converted_;                                                                              \
		RT_READY();                                                                                            \
		cudaError_t error_ = into_driver(&converted_, params);                                                 \
		if (error_ != cudaSuccess)                                                                             \
			return rt_note(error_);                                                                        \
		return rt_noted(DRV(cuGraph##kind##NodeSetParams)(node, &converted_));                                 \
	}                                                                                                              \
	SIM_EXPORT cudaError_t cudaGraphExec##kind##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,          \
	                                                          const struct runtime_params *params)                 \
	{                                                                                                              \
		driver_params converted_;                                                                              \
		RT_READY();                                                                                            \
		cudaError_t error_ = into_driver(&converted_, params);                                                 \
		if (error_ != cudaSuccess)                                                                             \
			return rt_note(error_);                                                                        \
		return rt_noted(DRV(cuGraphExec##kind##NodeSetParams)(exec, node, &converted_ exec_context));          \
	}                                                                                                              \
	SIM_EXPORT cudaError_t cudaGraph##kind##NodeGetParams(cudaGraphNode_t node, struct runtime_params *params)     \
	{                                                                                                              \
		driver_params answer_;                                                                                 \
		RT_READY();                                                                                            \
		if (!params)                                                                                           \
			return rt_note(cudaErrorInvalidValue);                                                         \
		CUresult result_ = DRV(cuGraph##kind##NodeGetParams)(node, &answer_);                                  \
		if (result_ == CUDA_SUCCESS)                                                                           \
			into_runtime(params, &answer_);                                                                \
		return rt_noted(result_);                                                                              \
	}

static void set_from(struct cudaMemsetParams *to, const CUDA_MEMSET_NODE_PARAMS *from)
{
	*to = (struct cudaMemsetParams){ (void *)from->dst, from->pitch, from->value,
		                         from->elementSize, from->width, from->height };
}

static void host_from(struct cudaHostNodeParams *to, const CUDA_HOST_NODE_PARAMS *from)
{
	*to = (struct cudaHostNodeParams){ from->fn, from->userData };
}

#define NOTHING
#define NO_CONTEXT , NULL
NODE_KIND(Kernel, cudaKernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v2, kernel_of, kernel_from, NOTHING, NOTHING)
NODE_KIND(Memcpy, cudaMemcpy3DParms, CUDA_MEMCPY3D, rt_driver_box, copy_from, NO_CONTEXT, NO_CONTEXT)
NODE_KIND(Memset, cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS, set_of, set_from, NO_CONTEXT, NO_CONTEXT)
NODE_KIND(Host, cudaHostNodeParams, CUDA_HOST_NODE_PARAMS, host_of, host_from, NOTHING, NOTHING)

/* ---- copies of one line ---- */

static struct cudaMemcpy3DParms line(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	return (struct cudaMemcpy3DParms){ .srcPtr = { (void *)(uintptr_t)src, bytes, bytes, 1 },
		                           .dstPtr = { dst, bytes, bytes, 1 },
		                           .extent = { bytes, 1, 1 },
		                           .kind = kind };
}

SIM_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                                size_t n, void *dst, const void *src, size_t bytes,
                                                enum cudaMemcpyKind kind)
{
	struct cudaMemcpy3DParms params = line(dst, src, bytes, kind);

	return cudaGraphAddMemcpyNode(node, graph, before, n, &params);
}

SIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t bytes,
                                                      enum cudaMemcpyKind kind)
{
	struct cudaMemcpy3DParms params = line(dst, src, bytes, kind);

	return cudaGraphMemcpyNodeSetParams(node, &params);
}

SIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst,
                                                          const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	struct cudaMemcpy3DParms params = line(dst, src, bytes, kind);

	return cudaGraphExecMemcpyNodeSetParams(exec, node, &params);
}

/* ---- what only passes its arguments on ---- */

#define FORWARD(name, params, call)                                                                                    \
	SIM_EXPORT cudaError_t name params                                                                             \
	{                                                                                                              \
		RT_READY();                                                                                            \
		return rt_noted(call);                                                                                 \
	}

FORWARD(cudaGraphAddEmptyNode, (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n),
        DRV(cuGraphAddEmptyNode)(node, graph, before, n))
FORWARD(cudaGraphAddChildGraphNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraph_t child),
        DRV(cuGraphAddChildGraphNode)(node, graph, before, n, child))
FORWARD(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *graph),
        DRV(cuGraphChildGraphNodeGetGraph)(node, graph))
FORWARD(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
        DRV(cuGraphExecChildGraphNodeSetParams)(exec, node, child))
FORWARD(cudaGraphAddEventRecordNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaEvent_t event),
        DRV(cuGraphAddEventRecordNode)(node, graph, before, n, event))
FORWARD(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
        DRV(cuGraphEventRecordNodeGetEvent)(node, event))
FORWARD(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        DRV(cuGraphEventRecordNodeSetEvent)(node, event))
FORWARD(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
        DRV(cuGraphExecEventRecordNodeSetEvent)(exec, node, event))
FORWARD(cudaGraphAddEventWaitNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaEvent_t event),
        DRV(cuGraphAddEventWaitNode)(node, graph, before, n, event))
FORWARD(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
        DRV(cuGraphEventWaitNodeGetEvent)(node, event))
FORWARD(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        DRV(cuGraphEventWaitNodeSetEvent)(node, event))
FORWARD(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
        DRV(cuGraphExecEventWaitNodeSetEvent)(exec, node, event))
FORWARD(cudaGraphAddMemFreeNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *address),
        DRV(cuGraphAddMemFreeNode)(node, graph, before, n, (CUdeviceptr)address))
FORWARD(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *address),
        DRV(cuGraphMemFreeNodeGetParams)(node, address))
FORWARD(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t to, cudaGraphNode_t from),
        DRV(cuGraphKernelNodeCopyAttributes)(to, from))

static CUresult add_allocation(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n,
                               size_t bytes, void **address)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = { .bytesize = bytes };
	CUresult result = DRV(cuGraphAddMemAllocNode)(node, graph, before, n, &params);

	if (result == CUDA_SUCCESS)
		*address = (void *)params.dptr;
	return result;
}

SIM_EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                                size_t n, struct cudaMemAllocNodeParams *params)
{
	RT_READY();
	if (!params)
		return rt_note(cudaErrorInvalidValue);
	return rt_noted(add_allocation(node, graph, before, n, params->bytesize, &params->dptr));
}

SIM_EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params)
{
	CUDA_MEM_ALLOC_NODE_PARAMS answer;

	RT_READY();
	if (!params)
		return rt_note(cudaErrorInvalidValue);
	CUresult result = DRV(cuGraphMemAllocNodeGetParams)(node, &answer);
	if (result == CUDA_SUCCESS) {
		memset(params, 0, sizeof *params);
		params->bytesize = answer.bytesize;
		params->dptr = (void *)answer.dptr;
	}
	return rt_noted(result);
}

/* ---- nodes of any kind ---- */

static cudaError_t any_kernel(CUgraphNodeParams *to, const struct cudaKernelNodeParamsV2 *from)
{
	struct cudaKernelNodeParams older = { from->func,           from->gridDim,      from->blockDim,
		                              from->sharedMemBytes, from->kernelParams, NULL };

	return kernel_of((CUDA_KERNEL_NODE_PARAMS_v2 *)&to->kernel, &older);
}

/* The driver says what it thinks of the types that are left. */
static cudaError_t any_of(CUgraphNodeParams *to, const struct cudaGraphNodeParams *from)
{
	*to = (CUgraphNodeParams){ .type = (CUgraphNodeType)from->type };
	switch (from->type) {
	case cudaGraphNodeTypeKernel:
		return any_kernel(to, &from->kernel);
	case cudaGraphNodeTypeMemcpy:
		return rt_driver_box(&to->memcpy.copyParams, &from->memcpy.copyParams);
	case cudaGraphNodeTypeMemset:
		return set_of((CUDA_MEMSET_NODE_PARAMS *)&to->memset, (const struct cudaMemsetParams *)&from->memset);
	case cudaGraphNodeTypeHost:
		return host_of((CUDA_HOST_NODE_PARAMS *)&to->host, (const struct cudaHostNodeParams *)&from->host);
	case cudaGraphNodeTypeGraph:
		to->graph.graph = from->graph.graph;
		return cudaSuccess;
	case cudaGraphNodeTypeWaitEvent:
		to->eventWait.event = from->eventWait.event;
		return cudaSuccess;
	case cudaGraphNodeTypeEventRecord:
		to->eventRecord.event = from->eventRecord.event;
		return cudaSuccess;
	case cudaGraphNodeTypeMemFree:
		to->free.dptr = (CUdeviceptr)from->free.dptr;
		return cudaSuccess;
	default:
		return cudaSuccess;
	}
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                            const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *params)
{
	CUgraphNodeParams converted;

	RT_READY();
	if (!params)
		return rt_note(cudaErrorInvalidValue);
	if (params->type == cudaGraphNodeTypeMemAlloc)
		return rt_noted(add_allocation(node, graph, before, n, params->alloc.bytesize, &params->alloc.dptr));
	cudaError_t error = any_of(&converted, params);
	if (error != cudaSuccess)
		return rt_note(error);
	return rt_noted(DRV(cuGraphAddNode)(node, graph, before, (const CUgraphEdgeData *)edges, n, &converted));
}

#if CUDART_VERSION >= 13000
SIM_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                        const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *params)
{
	return add_node(node, graph, before, edges, n, params);
}
#else
SIM_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                        size_t n, struct cudaGraphNodeParams *params)
{
	return add_node(node, graph, before, NULL, n, params);
}

SIM_EXPORT cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                           const cudaGraphEdgeData *edges, size_t n, struct cudaGraphNodeParams *params)
{
	return add_node(node, graph, before, edges, n, params);
}
#endif

SIM_EXPORT cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
	CUgraphNodeParams converted;

	RT_READY();
	cudaError_t error = params ? any_of(&converted, params) : cudaErrorInvalidValue;
	return error == cudaSuccess ? rt_noted(DRV(cuGraphNodeSetParams)(node, &converted)) : rt_note(error);
}

SIM_EXPORT cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  struct cudaGraphNodeParams *params)
{
	CUgraphNodeParams converted;

	RT_READY();
	cudaError_t error = params ? any_of(&converted, params) : cudaErrorInvalidValue;
	return error == cudaSuccess ? rt_noted(DRV(cuGraphExecNodeSetParams)(exec, node, &converted)) : rt_note(error);
}
