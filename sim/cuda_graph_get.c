/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_graph_get.c - libcuda: what a node of a graph does, in the structures of its kind */
#include "sim/cuda_face.h"

#include <string.h>

#include "sim/graph.h"

/* The work of a node of that type; CUDA_ERROR_INVALID_VALUE for another, or without a place for the answer. */
static CUresult get(CUgraphNode node, CUgraphNodeType type, const void *into, struct sim_work *work)
{
	CUresult result = into ? sim_node_get(node, work) : CUDA_ERROR_INVALID_VALUE;

	return result == CUDA_SUCCESS && work->type != type ? CUDA_ERROR_INVALID_VALUE : result;
}

SIM_EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = type ? sim_node_get(node, &work) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*type = work.type;
	return result;
}

SIM_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_KERNEL, params, &work);
	if (result != CUDA_SUCCESS)
		return result;
	const struct sim_launch_config *config = &work.kernel.config;
	*params = (CUDA_KERNEL_NODE_PARAMS_v2){ .func = (CUfunction)work.kernel.function,
		                                .gridDimX = config->grid[0],
		                                .gridDimY = config->grid[1],
		                                .gridDimZ = config->grid[2],
		                                .blockDimX = config->block[0],
		                                .blockDimY = config->block[1],
		                                .blockDimZ = config->block[2],
		                                .sharedMemBytes = config->shared_bytes,
		                                .kernelParams = work.kernel.args };
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUDA_KERNEL_NODE_PARAMS_v2 newer;
	CUresult result = params ? cuGraphKernelNodeGetParams_v2(node, &newer) : CUDA_ERROR_INVALID_VALUE;

	if (result == CUDA_SUCCESS)
		memcpy(params, &newer, sizeof *params);
	return result;
}

/* The type of one side, by what the copy's function promised. */
static CUmemorytype type_of(enum sy_direction direction, bool is_source)
{
	bool is_host = direction == SY_H2H || direction == (is_source ? SY_H2D : SY_D2H);

	if (direction == SY_ANY)
		return CU_MEMORYTYPE_UNIFIED;
	return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

SIM_EXPORT CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEMCPY, params, &work);
	if (result != CUDA_SUCCESS)
		return result;
	const struct sim_copy *copy = &work.copy.shape;
	*params = (CUDA_MEMCPY3D){ .srcMemoryType = type_of(work.copy.direction, true),
		                   .srcHost = (const void *)copy->source,
		                   .srcDevice = copy->source,
		                   .srcPitch = copy->source_pitch,
		                   .dstMemoryType = type_of(work.copy.direction, false),
		                   .dstHost = (void *)copy->destination,
		                   .dstDevice = copy->destination,
		                   .dstPitch = copy->destination_pitch,
		                   .WidthInBytes = copy->width,
		                   .Height = copy->rows,
		                   .Depth = copy->slices };
	if (copy->source_pitch)
		params->srcHeight = copy->source_slice / copy->source_pitch;
	if (copy->destination_pitch)
		params->dstHeight = copy->destination_slice / copy->destination_pitch;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEMSET, params, &work);
	if (result == CUDA_SUCCESS)
		*params = (CUDA_MEMSET_NODE_PARAMS){ work.set.destination,   work.set.pitch, work.set.value,
			                             work.set.element_bytes, work.set.width, work.set.rows };
	return result;
}

SIM_EXPORT CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_HOST, params, &work);
	if (result == CUDA_SUCCESS)
		*params = (CUDA_HOST_NODE_PARAMS){ work.host.func, work.host.data };
	return result;
}

SIM_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_GRAPH, graph, &work);
	if (result == CUDA_SUCCESS)
		*graph = work.child.handle;
	return result;
}

SIM_EXPORT CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, &work);
	if (result == CUDA_SUCCESS)
		*event = work.event;
	return result;
}

SIM_EXPORT CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &work);
	if (result == CUDA_SUCCESS)
		*event = work.event;
	return result;
}

SIM_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params, &work);
	if (result != CUDA_SUCCESS)
		return result;
	memset(params, 0, sizeof *params);
	params->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	params->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	params->bytesize = work.memory.bytes;
	params->dptr = work.memory.address;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEM_FREE, address, &work);
	if (result == CUDA_SUCCESS)
		*address = work.memory.address;
	return result;
}

/* Attributes tune kernels that compute; none is kept, and all read as 0. */
SIM_EXPORT CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                                  CUkernelNodeAttrValue *value)
{
	struct sim_work work;

	SIM_TOUCH();
	(void)attribute;
	CUresult result = get(node, CU_GRAPH_NODE_TYPE_KERNEL, value, &work);
	if (result == CUDA_SUCCESS)
		memset(value, 0, sizeof *value);
	return result;
}

SIM_EXPORT CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                                  const CUkernelNodeAttrValue *value)
{
	struct sim_work work;

	SIM_TOUCH();
	(void)attribute;
	return get(node, CU_GRAPH_NODE_TYPE_KERNEL, value, &work);
}

SIM_EXPORT CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
	struct sim_work work;

	SIM_TOUCH();
	CUresult result = get(to, CU_GRAPH_NODE_TYPE_KERNEL, &work, &work);
	return result == CUDA_SUCCESS ? get(from, CU_GRAPH_NODE_TYPE_KERNEL, &work, &work) : result;
}
