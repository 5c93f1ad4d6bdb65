/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_run.h"

#include <stdlib.h>

#include "sim/event.h"
#include "sim/graph_memory.h"
#include "sim/readback.h"
#include "sim/timeline.h"

/* An event that the graph records on its way. */
struct record {
	CUevent event;
	uint64_t after_ns;
};

struct run {
	struct sim_stream *stream;
	struct sim_span span;
	struct sim_vector covers; /* what the events waited for are ordered after */
	struct sim_effect *effects;
	size_t n_effects;
	size_t room_effects;
	struct record *records;
	size_t n_records;
	size_t room_records;
};

/* Room for one more entry in a list. False without memory. */
static bool reserve(void **list, size_t *room, size_t n, size_t entry_bytes)
{
	if (n < *room)
		return true;
	size_t wanted = *room ? 2 * *room : 64;
	void *grown = realloc(*list, wanted * entry_bytes);
	if (!grown)
		return false;
	*list = grown;
	*room = wanted;
	return true;
}

static CUresult add_effect(struct run *run, struct sim_op *op, uint64_t after_ns)
{
	void *list = run->effects;

	if (!reserve(&list, &run->room_effects, run->n_effects, sizeof *run->effects)) {
		free(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	run->effects = list;
	run->effects[run->n_effects++] = (struct sim_effect){ op, after_ns };
	return CUDA_SUCCESS;
}

static CUresult add_record(struct run *run, CUevent event, uint64_t after_ns)
{
	void *list = run->records;

	if (!reserve(&list, &run->room_records, run->n_records, sizeof *run->records))
		return CUDA_ERROR_OUT_OF_MEMORY;
	run->records = list;
	run->records[run->n_records++] = (struct record){ event, after_ns };
	return CUDA_SUCCESS;
}

static CUresult run_graph(struct run *run, const struct sim_graph *graph, uint64_t begin_ns, uint64_t *end_ns);

/* Work that takes time and may change memory at its end. */
static CUresult run_op(struct run *run, const struct sim_work *work, uint64_t begin_ns, uint64_t *end_ns)
{
	struct sim_op *op = NULL;
	uint64_t ns = 0;
	CUresult result;

	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		result = sim_kernel_work_op(&work->kernel, &op, &ns);
	else if (work->type == CU_GRAPH_NODE_TYPE_HOST)
		result = sim_host_work_op(work->host.func, work->host.data, &op, &ns);
	else if (work->type == CU_GRAPH_NODE_TYPE_MEMSET)
		result = sim_set_op(&work->set, &op, &ns);
	else
		result = sim_copy_op(&work->copy.shape, &op, &ns);
	*end_ns = begin_ns + ns;
	if (result != CUDA_SUCCESS)
		return result;
	if (op)
		return add_effect(run, op, *end_ns);
	/* Only a kernel that does not compute does nothing. */
	sim_readback_forget();
	return CUDA_SUCCESS;
}

static CUresult wait_for_event(struct run *run, CUevent event, uint64_t *end_ns)
{
	uint64_t until_ns;
	CUresult result = sim_event_proof(event, &run->covers, &until_ns);

	if (result == CUDA_SUCCESS && until_ns > run->span.start_ns + *end_ns)
		*end_ns = until_ns - run->span.start_ns;
	return result;
}

static CUresult run_node(struct run *run, const struct sim_work *work, uint64_t begin_ns, uint64_t *end_ns)
{
	*end_ns = begin_ns;
	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
	case CU_GRAPH_NODE_TYPE_HOST:
		return run_op(run, work, begin_ns, end_ns);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return run_graph(run, work->child.graph, begin_ns, end_ns);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return wait_for_event(run, work->event, end_ns);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return add_record(run, work->event, begin_ns);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		sim_graph_memory_begin(work->memory.block);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return sim_graph_memory_end(work->memory.address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	default: /* an empty node */
		return CUDA_SUCCESS;
	}
}

/* Each node begins when the last of those before it ends. Times count from the beginning of the operation. */
static CUresult run_graph(struct run *run, const struct sim_graph *graph, uint64_t begin_ns, uint64_t *end_ns)
{
	uint64_t *ends = malloc((graph->n + 1) * sizeof *ends);
	CUresult result = ends ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	*end_ns = begin_ns;
	for (size_t i = 0; i < graph->n && result == CUDA_SUCCESS; i++) {
		const struct sim_node *node = graph->nodes[graph->order[i]];
		uint64_t begin = begin_ns, *end = &ends[node->index];
		for (size_t k = 0; k < node->n_before; k++)
			if (ends[node->before[k]->index] > begin)
				begin = ends[node->before[k]->index];
		*end = begin;
		if (!node->is_disabled)
			result = run_node(run, &node->work, begin, end);
		if (*end > *end_ns)
			*end_ns = *end;
	}
	free(ends);
	return result;
}

/* Memory that a launch before brought to life and nobody has freed. */
static CUresult check_memory(const struct sim_graph *graph, bool may_be_alive)
{
	for (size_t i = 0; i < graph->n; i++) {
		const struct sim_work *work = &graph->nodes[i]->work;
		if (work->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC || !sim_graph_memory_is_alive(work->memory.block))
			continue;
		if (!may_be_alive)
			return CUDA_ERROR_INVALID_VALUE;
		sim_graph_memory_end(work->memory.address);
	}
	return CUDA_SUCCESS;
}

/* Copies and sets whose memory is gone would be illegal accesses of the device. */
static CUresult check_addresses(const struct sim_graph *graph)
{
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; i < graph->n && result == CUDA_SUCCESS; i++) {
		const struct sim_work *work = &graph->nodes[i]->work;
		if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
			result = check_addresses(work->child.graph);
		else if (work->type == CU_GRAPH_NODE_TYPE_MEMCPY || work->type == CU_GRAPH_NODE_TYPE_MEMSET)
			result = sim_work_check(work) == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	return result;
}

static CUresult submit(struct run *run)
{
	/* Before the operation has its place: what it waits for may be open. */
	if (!sim_vector_merge(&run->stream->covers, &run->covers))
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = sim_timeline_submit_effects(run->stream, &run->span, run->effects, run->n_effects);
	run->n_effects = 0;
	for (size_t i = 0; i < run->n_records && result == CUDA_SUCCESS; i++) {
		struct sim_span until = { run->span.start_ns, run->records[i].after_ns };
		result = sim_event_record_in_graph(run->records[i].event, run->stream, &until);
	}
	return result;
}

CUresult sim_graph_run(const struct sim_graph *graph, struct sim_stream *stream, uint64_t not_before_ns,
                       bool may_be_alive, uint64_t *complete_ns)
{
	struct run run = { .stream = stream };
	run.span.start_ns = sim_timeline_begin(stream);
	CUresult result = check_addresses(graph);
	if (result == CUDA_SUCCESS)
		result = check_memory(graph, may_be_alive);
	if (result != CUDA_SUCCESS)
		return result;
	if (not_before_ns > run.span.start_ns)
		run.span.start_ns = not_before_ns;
	result = run_graph(&run, graph, 0, &run.span.duration_ns);
	*complete_ns = run.span.start_ns + run.span.duration_ns;
	if (result == CUDA_SUCCESS)
		result = submit(&run);
	for (size_t i = 0; i < run.n_effects; i++)
		free(run.effects[i].op);
	free(run.effects);
	free(run.records);
	sim_vector_free(&run.covers);
	return result;
}
