/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_graph_node.c - libcuda: nodes of graphs
 *
 * Each kind of node has a structure of parameters, which is brought into the
 * one form of the core (struct sim_work) and back. External semaphores, batch
 * memory operations and conditional nodes are refused.
 */
#include "sim/cuda_face.h"

#include <string.h>

#include "sim/graph.h"
#include "sim/graph_exec.h"
#include "sim/say.h"

/* ---- parameters into work ---- */

static CUresult kernel_of(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	work->type = CU_GRAPH_NODE_TYPE_KERNEL;
	work->kernel.function = (struct sim_function *)(p->func ? p->func : (CUfunction)p->kern);
	work->kernel.config = (struct sim_launch_config){ { p->gridDimX, p->gridDimY, p->gridDimZ },
		                                          { p->blockDimX, p->blockDimY, p->blockDimZ },
		                                          p->sharedMemBytes,
		                                          NULL };
	work->kernel.args = p->kernelParams;
	return CUDA_SUCCESS;
}

/* The first version lacks the last two fields. */
static CUresult kernel_of_v1(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUDA_KERNEL_NODE_PARAMS_v2 newer = { 0 };

	if (p)
		memcpy(&newer, p, sizeof *p);
	return kernel_of(work, p ? &newer : NULL);
}

static CUresult copy_of(struct sim_work *work, const CUDA_MEMCPY3D *p)
{
	work->type = CU_GRAPH_NODE_TYPE_MEMCPY;
	return sim_cuda_box(p, &work->copy.shape, &work->copy.direction);
}

static CUresult set_of(struct sim_work *work, const CUDA_MEMSET_NODE_PARAMS *p)
{
	if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return CUDA_ERROR_INVALID_VALUE;
	work->type = CU_GRAPH_NODE_TYPE_MEMSET;
	work->set = (struct sim_set){ p->dst, p->pitch, p->width, p->height, p->value, p->elementSize };
	return CUDA_SUCCESS;
}

static CUresult host_of(struct sim_work *work, const CUDA_HOST_NODE_PARAMS *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	work->type = CU_GRAPH_NODE_TYPE_HOST;
	work->host.func = p->fn;
	work->host.data = p->userData;
	return CUDA_SUCCESS;
}

static CUresult child_of(struct sim_work *work, CUgraph graph)
{
	work->type = CU_GRAPH_NODE_TYPE_GRAPH;
	work->child.handle = graph;
	return CUDA_SUCCESS;
}

static CUresult record_of(struct sim_work *work, CUevent event)
{
	work->type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
	work->event = event;
	return CUDA_SUCCESS;
}

static CUresult wait_of(struct sim_work *work, CUevent event)
{
	work->type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
	work->event = event;
	return CUDA_SUCCESS;
}

static CUresult free_of(struct sim_work *work, CUdeviceptr address)
{
	work->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
	work->memory.address = address;
	return CUDA_SUCCESS;
}

/* All kinds but allocations, which also answer something. */
static CUresult any_of(struct sim_work *work, const CUgraphNodeParams *p)
{
	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return kernel_of(work, (const CUDA_KERNEL_NODE_PARAMS_v2 *)&p->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return copy_of(work, &p->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return set_of(work, (const CUDA_MEMSET_NODE_PARAMS *)&p->memset);
	case CU_GRAPH_NODE_TYPE_HOST:
		return host_of(work, (const CUDA_HOST_NODE_PARAMS *)&p->host);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return child_of(work, p->graph.graph);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		work->type = CU_GRAPH_NODE_TYPE_EMPTY;
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return wait_of(work, p->eventWait.event);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return record_of(work, p->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return free_of(work, p->free.dptr);
	default:
		sim_refuse(p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL
		                   ? "a conditional node of a graph"
		                   : "a node of a graph for semaphores or memory values");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

/* ---- make, change in a graph, change in an executable: alike for every kind ---- */

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, CUresult converted,
                    const struct sim_work *work)
{
	if (converted != CUDA_SUCCESS || !node)
		return node ? converted : CUDA_ERROR_INVALID_VALUE;
	return sim_graph_add(node, graph, before, n, work);
}

#define ADD_NODE(name, type, parameter, convert)                                                                       \
	SIM_EXPORT CUresult name(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,                \
	                         type parameter)                                                                       \
	{                                                                                                              \
		struct sim_work work_ = { 0 };                                                                         \
		SIM_TOUCH();                                                                                           \
		CUresult converted_ = convert(&work_, parameter);                                                      \
		return add(node, graph, before, n, converted_, &work_);                                                \
	}

#define SET_NODE(name, type, parameter, convert)                                                                       \
	SIM_EXPORT CUresult name(CUgraphNode node, type parameter)                                                     \
	{                                                                                                              \
		struct sim_work work_ = { 0 };                                                                         \
		SIM_TOUCH();                                                                                           \
		CUresult converted_ = convert(&work_, parameter);                                                      \
		return converted_ == CUDA_SUCCESS ? sim_node_set(node, &work_) : converted_;                           \
	}

#define SET_EXEC(name, type, parameter, convert)                                                                       \
	SIM_EXPORT CUresult name(CUgraphExec exec, CUgraphNode node, type parameter)                                   \
	{                                                                                                              \
		struct sim_work work_ = { 0 };                                                                         \
		SIM_TOUCH();                                                                                           \
		CUresult converted_ = convert(&work_, parameter);                                                      \
		return converted_ == CUDA_SUCCESS ? sim_exec_set(exec, node, &work_) : converted_;                     \
	}

/* Copies and sets are told their context too; there is one device. */
#define ADD_NODE_IN_CONTEXT(name, type, parameter, convert)                                                            \
	SIM_EXPORT CUresult name(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,                \
	                         type parameter, CUcontext context)                                                    \
	{                                                                                                              \
		struct sim_work work_ = { 0 };                                                                         \
		SIM_TOUCH();                                                                                           \
		(void)context;                                                                                         \
		CUresult converted_ = convert(&work_, parameter);                                                      \
		return add(node, graph, before, n, converted_, &work_);                                                \
	}

#define SET_EXEC_IN_CONTEXT(name, type, parameter, convert)                                                            \
	SIM_EXPORT CUresult name(CUgraphExec exec, CUgraphNode node, type parameter, CUcontext context)                \
	{                                                                                                              \
		struct sim_work work_ = { 0 };                                                                         \
		SIM_TOUCH();                                                                                           \
		(void)context;                                                                                         \
		CUresult converted_ = convert(&work_, parameter);                                                      \
		return converted_ == CUDA_SUCCESS ? sim_exec_set(exec, node, &work_) : converted_;                     \
	}

ADD_NODE(cuGraphAddKernelNode, const CUDA_KERNEL_NODE_PARAMS_v1 *, params, kernel_of_v1)
SET_NODE(cuGraphKernelNodeSetParams, const CUDA_KERNEL_NODE_PARAMS_v1 *, params, kernel_of_v1)
SET_EXEC(cuGraphExecKernelNodeSetParams, const CUDA_KERNEL_NODE_PARAMS_v1 *, params, kernel_of_v1)
ADD_NODE(cuGraphAddKernelNode_v2, const CUDA_KERNEL_NODE_PARAMS_v2 *, params, kernel_of)
SET_NODE(cuGraphKernelNodeSetParams_v2, const CUDA_KERNEL_NODE_PARAMS_v2 *, params, kernel_of)
SET_EXEC(cuGraphExecKernelNodeSetParams_v2, const CUDA_KERNEL_NODE_PARAMS_v2 *, params, kernel_of)
ADD_NODE_IN_CONTEXT(cuGraphAddMemcpyNode, const CUDA_MEMCPY3D *, params, copy_of)
SET_NODE(cuGraphMemcpyNodeSetParams, const CUDA_MEMCPY3D *, params, copy_of)
SET_EXEC_IN_CONTEXT(cuGraphExecMemcpyNodeSetParams, const CUDA_MEMCPY3D *, params, copy_of)
ADD_NODE_IN_CONTEXT(cuGraphAddMemsetNode, const CUDA_MEMSET_NODE_PARAMS *, params, set_of)
SET_NODE(cuGraphMemsetNodeSetParams, const CUDA_MEMSET_NODE_PARAMS *, params, set_of)
SET_EXEC_IN_CONTEXT(cuGraphExecMemsetNodeSetParams, const CUDA_MEMSET_NODE_PARAMS *, params, set_of)
ADD_NODE(cuGraphAddHostNode, const CUDA_HOST_NODE_PARAMS *, params, host_of)
SET_NODE(cuGraphHostNodeSetParams, const CUDA_HOST_NODE_PARAMS *, params, host_of)
SET_EXEC(cuGraphExecHostNodeSetParams, const CUDA_HOST_NODE_PARAMS *, params, host_of)
ADD_NODE(cuGraphAddChildGraphNode, CUgraph, child, child_of)
SET_EXEC(cuGraphExecChildGraphNodeSetParams, CUgraph, child, child_of)
ADD_NODE(cuGraphAddEventRecordNode, CUevent, event, record_of)
SET_NODE(cuGraphEventRecordNodeSetEvent, CUevent, event, record_of)
SET_EXEC(cuGraphExecEventRecordNodeSetEvent, CUevent, event, record_of)
ADD_NODE(cuGraphAddEventWaitNode, CUevent, event, wait_of)
SET_NODE(cuGraphEventWaitNodeSetEvent, CUevent, event, wait_of)
SET_EXEC(cuGraphExecEventWaitNodeSetEvent, CUevent, event, wait_of)
ADD_NODE(cuGraphAddMemFreeNode, CUdeviceptr, address, free_of)

SIM_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n)
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_EMPTY };

	SIM_TOUCH();
	return add(node, graph, before, n, CUDA_SUCCESS, &work);
}

SIM_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                                           CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	SIM_TOUCH();
	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_graph_add_allocation(node, graph, before, n, params->bytesize, &params->dptr);
}

SIM_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                      const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *params)
{
	struct sim_work work = { 0 };

	SIM_TOUCH();
	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_edges_are_plain(edges, n))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return sim_graph_add_allocation(node, graph, before, n, params->alloc.bytesize, &params->alloc.dptr);
	CUresult converted = any_of(&work, params);
	return add(node, graph, before, n, converted, &work);
}

SIM_EXPORT CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                                   CUgraphNodeParams *params)
{
	return cuGraphAddNode_v2(node, graph, before, NULL, n, params);
}

SIM_EXPORT CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
	struct sim_work work = { 0 };

	SIM_TOUCH();
	CUresult converted = params ? any_of(&work, params) : CUDA_ERROR_INVALID_VALUE;
	return converted == CUDA_SUCCESS ? sim_node_set(node, &work) : converted;
}

SIM_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
	struct sim_work work = { 0 };

	SIM_TOUCH();
	CUresult converted = params ? any_of(&work, params) : CUDA_ERROR_INVALID_VALUE;
	return converted == CUDA_SUCCESS ? sim_exec_set(exec, node, &work) : converted;
}
