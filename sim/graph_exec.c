/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_exec.h"

#include <stdlib.h>

#include "sim/capture.h"
#include "sim/clock.h"
#include "sim/device_thread.h"
#include "sim/graph_core.h"
#include "sim/graph_handles.h"
#include "sim/graph_object.h"
#include "sim/graph_run.h"
#include "sim/lock.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"

struct exec {
	CUgraphExec handle;
	struct sim_graph *graph;
	unsigned long long flags;
	uint64_t busy_until_ns; /* launches of one executable come one after the other */
	unsigned n_launching;   /* threads that wait for room in a queue */
	bool is_ending;         /* destroyed meanwhile */
	bool has_host_nodes;
};

static struct sim_handles execs = { .base = 0x5700000000 };

static struct exec *find(CUgraphExec handle)
{
	return sim_handles_find(&execs, handle);
}

static bool has_host_nodes(const struct sim_graph *graph)
{
	for (size_t i = 0; i < graph->n; i++) {
		const struct sim_work *work = &graph->nodes[i]->work;
		if (work->type == CU_GRAPH_NODE_TYPE_HOST ||
		    (work->type == CU_GRAPH_NODE_TYPE_GRAPH && has_host_nodes(work->child.graph)))
			return true;
	}
	return false;
}

static CUresult create(struct exec *exec, const struct sim_graph *graph)
{
	exec->graph = sim_graph_copy(graph, false);
	if (!exec->graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = sim_graph_sort(exec->graph);
	if (result == CUDA_SUCCESS) {
		exec->has_host_nodes = has_host_nodes(exec->graph);
		exec->handle = sim_handles_add(&execs, exec);
		if (!exec->handle)
			result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (result != CUDA_SUCCESS)
		sim_graph_free(exec->graph);
	return result;
}

CUresult sim_exec_create(CUgraphExec *handle, CUgraph graph_handle, unsigned long long flags)
{
	struct exec *exec = calloc(1, sizeof *exec);

	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->flags = flags;
	sim_lock();
	const struct sim_graph *graph = sim_graph_find(graph_handle);
	CUresult result = graph ? create(exec, graph) : CUDA_ERROR_INVALID_VALUE;
	sim_unlock();
	sim_objects_destroy();
	if (result == CUDA_SUCCESS)
		*handle = exec->handle;
	else
		free(exec);
	return result;
}

/* Runs without the lock: by then the objects of the graph may need their destructors. */
struct end_op {
	struct sim_op op;
	struct sim_graph *graph;
};

static void apply_end(struct sim_op *op)
{
	sim_lock();
	sim_graph_free(((struct end_op *)op)->graph);
	sim_unlock();
	sim_objects_destroy();
}

/* What the graph keeps alive is needed until its last launch is complete. */
static void end(struct exec *exec)
{
	struct end_op *op = NULL;

	if (exec->graph->holdings && exec->busy_until_ns > sim_clock_now())
		op = malloc(sizeof *op);
	if (op) {
		*op = (struct end_op){ .op = { .apply = apply_end, .is_unlocked = true }, .graph = exec->graph };
		sim_timeline_add(&op->op, exec->busy_until_ns);
	} else {
		sim_graph_free(exec->graph);
	}
	free(exec);
}

CUresult sim_exec_destroy(CUgraphExec handle)
{
	sim_lock();
	struct exec *exec = find(handle);
	if (exec) {
		sim_handles_remove(&execs, handle);
		exec->is_ending = true;
		if (!exec->n_launching)
			end(exec);
	}
	sim_unlock();
	sim_objects_destroy();
	return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_exec_flags(CUgraphExec handle, cuuint64_t *flags)
{
	sim_lock();
	const struct exec *exec = find(handle);
	if (exec)
		*flags = exec->flags;
	sim_unlock();
	return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch_on(struct sim_stream *stream, struct exec *exec)
{
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_GRAPH, .child = { .graph = exec->graph } };
	bool is_captured;
	CUresult result = sim_capture_submit(stream, &node, &is_captured);

	if (result != CUDA_SUCCESS || is_captured)
		return result;
	uint64_t complete_ns;
	exec->n_launching++;
	result = sim_graph_run(exec->graph, stream, exec->busy_until_ns,
	                       exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, &complete_ns);
	exec->n_launching--;
	if (result == CUDA_SUCCESS)
		exec->busy_until_ns = complete_ns;
	if (exec->is_ending && !exec->n_launching)
		end(exec);
	return result;
}

CUresult sim_exec_launch(CUgraphExec handle, CUstream stream_handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	/* Costs the host what a kernel does, however many nodes there are. */
	sim_clock_charge(sim_knobs()->launch_call_ns);
	sim_lock();
	struct exec *exec = find(handle);
	struct sim_stream *stream = sim_stream_find(stream_handle, sim_scope_is_per_thread());
	bool needs_thread = exec && exec->has_host_nodes;
	if (stream) {
		sim_scope_note_stream(stream, stream_handle);
		result = exec ? launch_on(stream, exec) : CUDA_ERROR_INVALID_VALUE;
	}
	sim_unlock();
	if (needs_thread)
		sim_device_thread_start();
	return result;
}

CUresult sim_exec_upload(CUgraphExec handle, CUstream stream_handle)
{
	bool is_captured;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(stream_handle, sim_scope_is_per_thread());
	CUresult result = stream ? sim_capture_submit(stream, NULL, &is_captured) : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && !find(handle))
		result = CUDA_ERROR_INVALID_VALUE;
	sim_unlock();
	return result;
}

/* ---- changing parameters ---- */

/* Why the graph cannot take the place of the executable's. */
static CUgraphExecUpdateResult differs(const struct sim_node *old, const struct sim_node *new)
{
	if (old->work.type != new->work.type)
		return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
	if (sim_work_owns_memory(&new->work))
		return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
	if (old->n_before != new->n_before)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (size_t k = 0; k < old->n_before; k++)
		if (old->before[k]->index != new->before[k]->index)
			return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult compare(const struct sim_graph *old, const struct sim_graph *new, CUgraphNode *where)
{
	CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;

	*where = NULL;
	if (old->n != new->n)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (size_t i = 0; i < old->n && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
		result = differs(old->nodes[i], new->nodes[i]);
		if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && new->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			result = compare(old->nodes[i]->work.child.graph, new->nodes[i]->work.child.graph, where);
		if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS && !*where)
			*where = new->nodes[i]->handle;
	}
	return result;
}

/* Nodes keep their names; only what they do changes. */
static CUresult take_over(struct sim_graph *old, const struct sim_graph *new)
{
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; i < old->n && result == CUDA_SUCCESS; i++) {
		struct sim_work *work = &old->nodes[i]->work;
		if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
			result = take_over(work->child.graph, new->nodes[i]->work.child.graph);
		else
			result = sim_node_replace(old->nodes[i], &new->nodes[i]->work);
	}
	return result;
}

CUresult sim_exec_update(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info)
{
	*info = (CUgraphExecUpdateResultInfo){ .result = CU_GRAPH_EXEC_UPDATE_ERROR };
	sim_lock();
	struct exec *exec = find(handle);
	const struct sim_graph *graph = sim_graph_find(graph_handle);
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	if (exec && graph) {
		info->result = compare(exec->graph, graph, &info->errorNode);
		result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
		result = take_over(exec->graph, graph);
	sim_unlock();
	return result;
}

/* The executable's copy of a node, or NULL. */
static struct sim_node *copy_of(CUgraphExec handle, CUgraphNode node_handle, struct exec **exec)
{
	const struct sim_node *node = sim_node_find(node_handle);

	*exec = find(handle);
	return *exec && node ? sim_graph_find_copy((*exec)->graph, node->id) : NULL;
}

/* Child graphs must keep their shape. */
static CUresult set_child(struct sim_node *node, const struct sim_work *work)
{
	const struct sim_graph *child = sim_graph_find(work->child.handle);
	CUgraphNode where;

	if (!child || compare(node->work.child.graph, child, &where) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
		return CUDA_ERROR_INVALID_VALUE;
	return take_over(node->work.child.graph, child);
}

CUresult sim_exec_set(CUgraphExec handle, CUgraphNode node_handle, const struct sim_work *work)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct exec *exec;

	sim_lock();
	struct sim_node *node = copy_of(handle, node_handle, &exec);
	if (node && node->work.type == work->type)
		result = work->type == CU_GRAPH_NODE_TYPE_GRAPH ? set_child(node, work) : sim_node_replace(node, work);
	sim_unlock();
	return result;
}

/* Only kernels, copies and sets can be switched off. */
static bool can_be_disabled(const struct sim_node *node)
{
	return node->work.type == CU_GRAPH_NODE_TYPE_KERNEL || node->work.type == CU_GRAPH_NODE_TYPE_MEMCPY ||
	       node->work.type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult sim_exec_set_enabled(CUgraphExec handle, CUgraphNode node_handle, bool is_enabled)
{
	struct exec *exec;

	sim_lock();
	struct sim_node *node = copy_of(handle, node_handle, &exec);
	bool is_fine = node && can_be_disabled(node);
	if (is_fine)
		node->is_disabled = !is_enabled;
	sim_unlock();
	return is_fine ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_exec_is_enabled(CUgraphExec handle, CUgraphNode node_handle, unsigned *is_enabled)
{
	struct exec *exec;

	sim_lock();
	const struct sim_node *node = copy_of(handle, node_handle, &exec);
	bool is_fine = node && can_be_disabled(node);
	if (is_fine)
		*is_enabled = !node->is_disabled;
	sim_unlock();
	return is_fine ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
