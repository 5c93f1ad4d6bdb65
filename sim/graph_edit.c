/* SPDX-License-Identifier: Apache-2.0 */
/* graph_edit.c - what a program does to graphs and nodes by name; each function takes the lock */
#include "sim/graph.h"

#include <stdlib.h>
#include <string.h>

#include "sim/graph_core.h"
#include "sim/graph_memory.h"
#include "sim/graph_object.h"
#include "sim/lock.h"

CUresult sim_graph_create(CUgraph *handle)
{
	sim_lock();
	const struct sim_graph *graph = sim_graph_new(true);
	if (graph)
		*handle = graph->handle;
	sim_unlock();
	return graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_graph_destroy(CUgraph handle)
{
	sim_lock();
	struct sim_graph *graph = sim_graph_find(handle);
	/* A graph inside a node ends with the node; one that a capture fills is still needed. */
	bool is_fine = graph && !graph->is_inner && !graph->n_captures;
	if (is_fine)
		sim_graph_free(graph);
	sim_unlock();
	sim_objects_destroy();
	return is_fine ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_graph_clone(CUgraph *clone, CUgraph handle)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	const struct sim_graph *graph = sim_graph_find(handle);
	if (graph && sim_graph_owns_memory(graph)) {
		result = CUDA_ERROR_NOT_SUPPORTED;
	} else if (graph) {
		const struct sim_graph *copy = sim_graph_copy(graph, true);
		result = copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
		if (copy)
			*clone = copy->handle;
	}
	sim_unlock();
	sim_objects_destroy();
	return result;
}

CUresult sim_graph_add(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *before, size_t n,
                       const struct sim_work *work)
{
	struct sim_node *node;

	sim_lock();
	struct sim_graph *graph = sim_graph_find(graph_handle);
	CUresult result = graph ? sim_graph_append(&node, graph, before, n, work) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*handle = node->handle;
	sim_unlock();
	return result;
}

CUresult sim_graph_add_allocation(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *before, size_t n,
                                  size_t bytes, CUdeviceptr *address)
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct sim_node *node = NULL;

	sim_lock();
	struct sim_graph *graph = sim_graph_find(graph_handle);
	if (graph && bytes) {
		work.memory.bytes = bytes;
		work.memory.block = sim_graph_memory_new(bytes, &work.memory.address);
		result =
			work.memory.block ? sim_graph_append(&node, graph, before, n, &work) : CUDA_ERROR_OUT_OF_MEMORY;
		if (work.memory.block)
			sim_graph_memory_drop(work.memory.block);
	}
	if (node && result == CUDA_SUCCESS) {
		*handle = node->handle;
		*address = work.memory.address;
	}
	sim_unlock();
	return result;
}

/* Place of `before` among the dependencies of node, or node->n_before. */
static size_t place_of(const struct sim_node *node, const struct sim_node *before)
{
	size_t i = 0;

	while (i < node->n_before && node->before[i] != before)
		i++;
	return i;
}

static CUresult connect(struct sim_node *from, struct sim_node *to)
{
	if (from == to || place_of(to, from) < to->n_before)
		return CUDA_ERROR_INVALID_VALUE;
	struct sim_node **before = realloc(to->before, (to->n_before + 1) * sizeof *before);
	if (!before)
		return CUDA_ERROR_OUT_OF_MEMORY;
	to->before = before;
	before[to->n_before++] = from;
	return CUDA_SUCCESS;
}

static CUresult disconnect(struct sim_node *from, struct sim_node *to)
{
	size_t place = place_of(to, from);

	if (place == to->n_before)
		return CUDA_ERROR_INVALID_VALUE;
	to->n_before--;
	memmove(to->before + place, to->before + place + 1, (to->n_before - place) * sizeof *to->before);
	return CUDA_SUCCESS;
}

static CUresult edit_edges(CUgraph graph_handle, const CUgraphNode *from, const CUgraphNode *to, size_t n,
                           CUresult (*edit)(struct sim_node *from, struct sim_node *to))
{
	CUresult result = CUDA_SUCCESS;

	sim_lock();
	const struct sim_graph *graph = sim_graph_find(graph_handle);
	if (!graph || (n && (!from || !to)))
		result = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
		struct sim_node *first = sim_node_find(from[i]), *second = sim_node_find(to[i]);
		bool is_fine = first && second && first->graph == graph && second->graph == graph;
		result = is_fine ? edit(first, second) : CUDA_ERROR_INVALID_VALUE;
	}
	sim_unlock();
	return result;
}

CUresult sim_graph_add_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	return edit_edges(graph, from, to, n, connect);
}

CUresult sim_graph_remove_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	return edit_edges(graph, from, to, n, disconnect);
}

CUresult sim_node_destroy(CUgraphNode handle)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	struct sim_node *node = sim_node_find(handle);
	if (node && sim_work_owns_memory(&node->work)) {
		result = CUDA_ERROR_NOT_SUPPORTED;
	} else if (node) {
		sim_graph_remove(node);
		result = CUDA_SUCCESS;
	}
	sim_unlock();
	sim_objects_destroy();
	return result;
}

CUresult sim_node_find_in_clone(CUgraphNode *copy, CUgraphNode original, CUgraph clone)
{
	sim_lock();
	const struct sim_node *node = sim_node_find(original);
	const struct sim_graph *graph = sim_graph_find(clone);
	const struct sim_node *found = node && graph ? sim_graph_find_copy(graph, node->id) : NULL;
	if (found)
		*copy = found->handle;
	sim_unlock();
	return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_node_get(CUgraphNode handle, struct sim_work *work)
{
	sim_lock();
	const struct sim_node *node = sim_node_find(handle);
	if (node)
		*work = node->work;
	sim_unlock();
	return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_node_set(CUgraphNode handle, const struct sim_work *work)
{
	sim_lock();
	struct sim_node *node = sim_node_find(handle);
	CUresult result = node ? sim_node_replace(node, work) : CUDA_ERROR_INVALID_VALUE;
	sim_unlock();
	return result;
}
