/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - stream capture: work that becomes nodes of a graph (R20, R21)
 *
 * A capture begins in one stream; a stream that waits for an event recorded in
 * it takes part too, until the capture ends. What a call may not do while
 * something captures makes the capture invalid: the call fails, everything
 * after it fails with "invalidated", and ending the capture gives no graph.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/graph_work.h"
#include "sim/knobs.h"
#include "sim/stream.h"

/* ---- for the core: lock held; these ask whether a call may go on ---- */

/*
 * Opens every call that submits work to a stream. If the stream captures, the
 * work becomes a node and nothing is left to do. work NULL: cannot be captured.
 */
CUresult sim_capture_submit(struct sim_stream *stream, const struct sim_work *work, bool *is_captured);

/* Opens every call that waits for a stream or asks about it. */
CUresult sim_capture_wait(const struct sim_stream *stream);

/* The same for a whole device. */
CUresult sim_capture_wait_device(const struct sim_device *device);

/* Opens calls that are unsafe while something captures: the mode of the capture and of the thread decides. */
CUresult sim_capture_unsafe(void);

/* Opens calls that may not name a capturing stream, but harm nothing else. */
CUresult sim_capture_name(const struct sim_stream *stream);

/* A capturing stream ends, with its thread or with everything else. */
void sim_capture_end_stream(struct sim_stream *stream);

/* What an event stands for that was last recorded in a capturing stream; capture 0: in no such stream. */
struct sim_capture_mark {
	uint64_t capture;
	CUgraphNode *nodes;
	size_t n;
};

/* The stream is at a point that another can be told to wait for. False without memory. */
bool sim_capture_mark(const struct sim_stream *stream, struct sim_capture_mark *mark);
void sim_capture_unmark(struct sim_capture_mark *mark);

/* The stream takes part in the capture from now on, if it did not already; its next node comes after the mark. */
CUresult sim_capture_join(struct sim_stream *stream, const struct sim_capture_mark *mark);

/* The host waits for the event, or asks about it. */
CUresult sim_capture_wait_mark(const struct sim_capture_mark *mark);

/* True while the stream takes part in a capture. */
static inline bool sim_is_capturing(const struct sim_stream *stream)
{
	return stream->part != NULL;
}

/* False once the capture of this stream can give no graph any more. */
bool sim_capture_is_valid(const struct sim_stream *stream);

/* The capture of this stream can give no graph any more. */
void sim_capture_invalidate(const struct sim_stream *stream);

/* ---- for the driver face: these take the lock ---- */

/* graph NULL: a new one. Else the first nodes come after those listed, of that graph. */
SIM_EXPORT CUresult sim_capture_begin(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
                                      const CUgraphNode *before, size_t n);
SIM_EXPORT CUresult sim_capture_end(CUstream stream, CUgraph *graph);

struct sim_capture_facts {
	CUstreamCaptureStatus status;
	/* What follows is set only while the status is active. The lists stay until the next call about the stream. */
	cuuint64_t id;
	CUgraph graph;
	const CUgraphNode *nodes;
	const CUgraphEdgeData *edges;
	size_t n;
};
SIM_EXPORT CUresult sim_capture_facts(CUstream stream, struct sim_capture_facts *facts);

/* Adds to what the next node comes after, or replaces it. */
SIM_EXPORT CUresult sim_capture_update(CUstream stream, const CUgraphNode *nodes, size_t n, bool replaces);

/* Sets the calling thread's mode; the one before. */
SIM_EXPORT CUstreamCaptureMode sim_capture_exchange_mode(CUstreamCaptureMode mode);

#endif
