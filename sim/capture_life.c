/* SPDX-License-Identifier: Apache-2.0 */
/* capture_life.c - what a program does about captures: begin, end, questions; each function takes the lock */
#include "sim/capture.h"

#include <stdlib.h>
#include <string.h>

#include "sim/capture_core.h"
#include "sim/graph_core.h"
#include "sim/graph_object.h"
#include "sim/lock.h"
#include "sim/scope.h"

static uint64_t n_captures;

static CUresult make_capture(struct sim_stream *stream, struct sim_capture *capture, const CUgraphNode *before,
                             size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sim_node *node = sim_node_find(before[i]);
		if (!node || node->graph != capture->graph)
			return CUDA_ERROR_INVALID_VALUE;
	}
	struct sim_capture_part *part = sim_capture_new_part(capture, stream);
	if (!part || !sim_capture_add_before(part, before, n))
		return CUDA_ERROR_OUT_OF_MEMORY;
	capture->id = ++n_captures;
	capture->thread = sim_capture_thread();
	capture->origin = stream;
	capture->next = sim_captures;
	sim_captures = capture;
	capture->graph->n_captures++;
	return CUDA_SUCCESS;
}

static void free_parts(struct sim_capture *capture)
{
	while (capture->parts) {
		struct sim_capture_part *part = capture->parts;
		capture->parts = part->next;
		part->stream->part = NULL;
		sim_capture_free_part(part);
	}
}

/* Takes all streams out of it. The graph stays. */
static void finish(struct sim_capture *capture)
{
	struct sim_capture **link = &sim_captures;

	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	capture->graph->n_captures--;
	free_parts(capture);
	free(capture);
}

CUresult sim_capture_begin(CUstream handle, CUstreamCaptureMode mode, CUgraph graph, const CUgraphNode *before,
                           size_t n)
{
	struct sim_capture *capture = calloc(1, sizeof *capture);
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	if (!capture)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*capture = (struct sim_capture){ .mode = mode, .owns_graph = !graph };
	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream && stream->kind == SIM_STREAM_LEGACY) {
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	} else if (stream && stream->part) {
		result = CUDA_ERROR_ILLEGAL_STATE;
	} else if (stream) {
		capture->graph = graph ? sim_graph_find(graph) : sim_graph_new(true);
		result = graph ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
		if (capture->graph)
			result = make_capture(stream, capture, before, n);
		if (result != CUDA_SUCCESS && capture->graph && !graph)
			sim_graph_free(capture->graph);
	}
	if (result != CUDA_SUCCESS) {
		free_parts(capture);
		free(capture);
	}
	sim_unlock();
	return result;
}

/* Marks everything the node comes after, itself included. */
static void mark_before(bool *is_marked, const struct sim_graph *graph, struct sim_node **stack, CUgraphNode handle)
{
	struct sim_node *start = sim_node_find(handle);
	size_t n = 0;

	if (!start || start->graph != graph || is_marked[start->index])
		return;
	is_marked[start->index] = true;
	stack[n++] = start;
	while (n) {
		const struct sim_node *node = stack[--n];
		for (size_t k = 0; k < node->n_before; k++) {
			struct sim_node *before = node->before[k];
			if (is_marked[before->index])
				continue;
			is_marked[before->index] = true;
			stack[n++] = before;
		}
	}
}

/* Whether every stream's last node comes before what the first stream would do next. */
static bool is_joined(const struct sim_capture *capture)
{
	const struct sim_graph *graph = capture->graph;
	const struct sim_capture_part *origin = capture->origin->part;
	bool *is_marked = calloc(graph->n + 1, sizeof *is_marked), joined = true;
	struct sim_node **stack = calloc(graph->n + 1, sizeof(struct sim_node *));

	for (size_t i = 0; is_marked && stack && i < origin->n; i++)
		mark_before(is_marked, graph, stack, origin->nodes[i]);
	for (const struct sim_capture_part *part = capture->parts; is_marked && stack && part; part = part->next) {
		for (size_t i = 0; i < part->n; i++) {
			const struct sim_node *node = sim_node_find(part->nodes[i]);
			joined = joined && (!node || node->graph != graph || is_marked[node->index]);
		}
	}
	free(stack);
	free(is_marked);
	return joined;
}

static CUresult end(struct sim_stream *stream, CUgraph *handle)
{
	struct sim_capture_part *part = stream->part;

	if (!part)
		return CUDA_ERROR_ILLEGAL_STATE;
	struct sim_capture *capture = part->capture;
	if (capture->origin != stream)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != sim_capture_thread())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	CUresult result = CUDA_SUCCESS;
	if (capture->is_invalid)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined(capture))
		result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	struct sim_graph *graph = capture->graph;
	bool owns_graph = capture->owns_graph;
	finish(capture);
	*handle = result == CUDA_SUCCESS ? graph->handle : NULL;
	if (result != CUDA_SUCCESS && owns_graph)
		sim_graph_free(graph);
	return result;
}

CUresult sim_capture_end(CUstream handle, CUgraph *graph)
{
	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	CUresult result = stream ? end(stream, graph) : CUDA_ERROR_INVALID_HANDLE;
	sim_unlock();
	sim_objects_destroy();
	return result;
}

void sim_capture_end_stream(struct sim_stream *stream)
{
	struct sim_capture *capture = stream->part->capture;
	struct sim_capture_part **link = &capture->parts;

	capture->is_invalid = true;
	if (capture->origin == stream) {
		struct sim_graph *graph = capture->owns_graph ? capture->graph : NULL;
		finish(capture);
		if (graph)
			sim_graph_free(graph);
		return;
	}
	while (*link != stream->part)
		link = &(*link)->next;
	*link = stream->part->next;
	sim_capture_free_part(stream->part);
	stream->part = NULL;
}

/* ---- questions ---- */

CUresult sim_capture_facts(CUstream handle, struct sim_capture_facts *facts)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	*facts = (struct sim_capture_facts){ .status = CU_STREAM_CAPTURE_STATUS_NONE };
	sim_lock();
	const struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream)
		result = CUDA_SUCCESS;
	if (stream && stream->part) {
		const struct sim_capture_part *part = stream->part;
		facts->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		if (!part->capture->is_invalid)
			*facts = (struct sim_capture_facts){ CU_STREAM_CAPTURE_STATUS_ACTIVE,
				                             part->capture->id,
				                             part->capture->graph->handle,
				                             part->nodes,
				                             part->edges,
				                             part->n };
	} else if (stream) {
		/* Asking about it is no use of it: no capture becomes invalid. */
		for (const struct sim_capture *capture = sim_captures; capture; capture = capture->next)
			if (sim_capture_is_implied(capture, stream))
				result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	sim_unlock();
	return result;
}

CUresult sim_capture_update(CUstream handle, const CUgraphNode *nodes, size_t n, bool replaces)
{
	CUresult result = CUDA_ERROR_ILLEGAL_STATE;
	/* The program may pass the very list it was given. */
	CUgraphNode *copy = malloc((n + 1) * sizeof(CUgraphNode));

	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (n)
		memcpy(copy, nodes, n * sizeof(CUgraphNode));
	sim_lock();
	const struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	struct sim_capture_part *part = stream ? stream->part : NULL;
	if (!stream)
		result = CUDA_ERROR_INVALID_HANDLE;
	else if (part)
		result = part->capture->is_invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
		const struct sim_node *node = sim_node_find(copy[i]);
		if (!node || node->graph != part->capture->graph)
			result = CUDA_ERROR_INVALID_VALUE;
	}
	if (result == CUDA_SUCCESS) {
		if (replaces)
			part->n = 0;
		if (!sim_capture_add_before(part, copy, n))
			result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_unlock();
	free(copy);
	return result;
}
