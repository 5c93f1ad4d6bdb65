/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/capture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim/capture_core.h"
#include "sim/graph_core.h"
#include "sim/scope.h"

struct sim_capture *sim_captures;

static _Atomic uint64_t n_threads;
static SIM_TLS uint64_t own_thread;
static SIM_TLS CUstreamCaptureMode own_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* Unlike an id of the system, never used again. */
uint64_t sim_capture_thread(void)
{
	if (!own_thread)
		own_thread = atomic_fetch_add(&n_threads, 1) + 1;
	return own_thread;
}

CUstreamCaptureMode sim_capture_exchange_mode(CUstreamCaptureMode mode)
{
	CUstreamCaptureMode before = own_mode;

	own_mode = mode;
	return before;
}

static CUresult invalidate(struct sim_capture *capture, CUresult result)
{
	capture->is_invalid = true;
	return result;
}

bool sim_capture_is_valid(const struct sim_stream *stream)
{
	return !stream->part->capture->is_invalid;
}

void sim_capture_invalidate(const struct sim_stream *stream)
{
	stream->part->capture->is_invalid = true;
}

/* Whether using the legacy stream would mean a stream of this capture too. */
bool sim_capture_is_implied(const struct sim_capture *capture, const struct sim_stream *stream)
{
	if (stream->kind != SIM_STREAM_LEGACY)
		return false;
	for (const struct sim_capture_part *part = capture->parts; part; part = part->next)
		if (sim_stream_is_blocking(part->stream) && part->stream->device == stream->device)
			return true;
	return false;
}

/* The legacy stream stands for all blocking streams: it cannot be used while one of them captures. */
static CUresult check_implicit(const struct sim_stream *stream)
{
	CUresult result = CUDA_SUCCESS;

	for (struct sim_capture *capture = sim_captures; capture; capture = capture->next)
		if (sim_capture_is_implied(capture, stream))
			result = invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	return result;
}

CUresult sim_capture_unsafe(void)
{
	CUresult result = CUDA_SUCCESS;

	if (own_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	for (struct sim_capture *capture = sim_captures; capture; capture = capture->next) {
		if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
			continue;
		bool is_everybodys =
			own_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
		if (is_everybodys || capture->thread == sim_capture_thread())
			result = invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	}
	return result;
}

CUresult sim_capture_name(const struct sim_stream *stream)
{
	if (!stream->part)
		return CUDA_SUCCESS;
	if (stream->part->capture->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	return invalidate(stream->part->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult sim_capture_wait(const struct sim_stream *stream)
{
	CUresult result = sim_capture_name(stream);

	if (result == CUDA_SUCCESS)
		result = check_implicit(stream);
	return result == CUDA_SUCCESS ? sim_capture_unsafe() : result;
}

CUresult sim_capture_wait_device(const struct sim_device *device)
{
	CUresult result = CUDA_SUCCESS;

	for (struct sim_capture *capture = sim_captures; capture; capture = capture->next)
		if (capture->origin->device == device)
			result = invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	return result;
}

/* ---- what comes before a stream's next node ---- */

static bool reserve(struct sim_capture_part *part, size_t n)
{
	if (n <= part->room)
		return true;
	size_t room = n + part->room;
	CUgraphNode *nodes = realloc(part->nodes, room * sizeof *nodes);
	if (nodes)
		part->nodes = nodes;
	CUgraphEdgeData *edges = realloc(part->edges, room * sizeof *edges);
	if (edges)
		part->edges = edges;
	if (!nodes || !edges)
		return false;
	memset(edges, 0, room * sizeof *edges);
	part->room = room;
	return true;
}

bool sim_capture_add_before(struct sim_capture_part *part, const CUgraphNode *nodes, size_t n)
{
	if (!reserve(part, part->n + n))
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < part->n && part->nodes[k] != nodes[i])
			k++;
		if (k == part->n)
			part->nodes[part->n++] = nodes[i];
	}
	return true;
}

void sim_capture_free_part(struct sim_capture_part *part)
{
	free(part->nodes);
	free(part->edges);
	free(part);
}

struct sim_capture_part *sim_capture_new_part(struct sim_capture *capture, struct sim_stream *stream)
{
	struct sim_capture_part *part = calloc(1, sizeof *part);

	if (!part)
		return NULL;
	if (!reserve(part, 1)) {
		sim_capture_free_part(part);
		return NULL;
	}
	part->stream = stream;
	part->capture = capture;
	part->next = capture->parts;
	capture->parts = part;
	stream->part = part;
	return part;
}

CUresult sim_capture_submit(struct sim_stream *stream, const struct sim_work *work, bool *is_captured)
{
	struct sim_capture_part *part = stream->part;
	struct sim_node *node;

	*is_captured = part != NULL;
	if (!part)
		return check_implicit(stream);
	if (part->capture->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!work)
		return invalidate(part->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	CUresult result = sim_graph_append(&node, part->capture->graph, part->nodes, part->n, work);
	if (result != CUDA_SUCCESS)
		return result;
	sim_scope_note_pending(false);
	part->nodes[0] = node->handle;
	part->n = 1;
	return CUDA_SUCCESS;
}

/* ---- events ---- */

static struct sim_capture *find_capture(uint64_t id)
{
	struct sim_capture *capture = sim_captures;

	while (capture && capture->id != id)
		capture = capture->next;
	return capture;
}

bool sim_capture_mark(const struct sim_stream *stream, struct sim_capture_mark *mark)
{
	const struct sim_capture_part *part = stream->part;
	CUgraphNode *nodes = malloc((part->n ? part->n : 1) * sizeof(CUgraphNode));

	if (!nodes)
		return false;
	sim_capture_unmark(mark);
	memcpy(nodes, part->nodes, part->n * sizeof(CUgraphNode));
	mark->capture = part->capture->id;
	mark->nodes = nodes;
	mark->n = part->n;
	return true;
}

void sim_capture_unmark(struct sim_capture_mark *mark)
{
	free(mark->nodes);
	*mark = (struct sim_capture_mark){ 0 };
}

CUresult sim_capture_wait_mark(const struct sim_capture_mark *mark)
{
	struct sim_capture *capture = mark->capture ? find_capture(mark->capture) : NULL;

	if (capture)
		invalidate(capture, CUDA_SUCCESS);
	return mark->capture ? CUDA_ERROR_CAPTURED_EVENT : sim_capture_unsafe();
}

CUresult sim_capture_join(struct sim_stream *stream, const struct sim_capture_mark *mark)
{
	struct sim_capture *capture = find_capture(mark->capture);
	struct sim_capture_part *part = stream->part;

	if (part && part->capture->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!capture)
		return part ? invalidate(part->capture, CUDA_ERROR_CAPTURED_EVENT) : CUDA_ERROR_CAPTURED_EVENT;
	if (capture->is_invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	CUresult result = check_implicit(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (stream->kind == SIM_STREAM_LEGACY)
		return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (part && part->capture != capture) {
		invalidate(part->capture, CUDA_SUCCESS);
		return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
	}
	if (!part)
		part = sim_capture_new_part(capture, stream);
	return part && sim_capture_add_before(part, mark->nodes, mark->n) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
