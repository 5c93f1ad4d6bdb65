/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_work.h"

#include "sim/event.h"
#include "sim/graph_core.h"
#include "sim/graph_memory.h"

CUresult sim_work_check(const struct sim_work *work)
{
	const struct sim_graph *child;

	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return sim_kernel_work_check(&work->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim_copy_check(&work->copy.shape, work->copy.direction);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return sim_set_check(&work->set);
	case CU_GRAPH_NODE_TYPE_HOST:
		return work->host.func ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		child = work->child.graph ? work->child.graph : sim_graph_find(work->child.handle);
		if (child && sim_graph_owns_memory(child))
			return CUDA_ERROR_NOT_SUPPORTED;
		return child ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return sim_event_exists(work->event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return work->memory.block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return sim_graph_memory_owns(work->memory.address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static CUresult copy_child(struct sim_work *to, const struct sim_work *from, bool has_handles)
{
	const struct sim_graph *graph = from->child.graph ? from->child.graph : sim_graph_find(from->child.handle);

	to->child.graph = sim_graph_copy(graph, has_handles);
	if (!to->child.graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	to->child.graph->is_inner = true;
	to->child.handle = to->child.graph->handle;
	return CUDA_SUCCESS;
}

CUresult sim_work_copy(struct sim_work *to, const struct sim_work *from, bool has_handles)
{
	*to = *from;
	switch (from->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return sim_kernel_work_copy(&to->kernel, &from->kernel) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return copy_child(to, from, has_handles);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		sim_graph_memory_hold(to->memory.block);
		return CUDA_SUCCESS;
	default:
		return CUDA_SUCCESS;
	}
}

void sim_work_drop(struct sim_work *work)
{
	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		sim_kernel_work_drop(&work->kernel);
	else if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
		sim_graph_free(work->child.graph);
	else if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		sim_graph_memory_drop(work->memory.block);
}

bool sim_work_owns_memory(const struct sim_work *work)
{
	return work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || work->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}
