/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_core.h - how captures are kept: what the files that deal with them share
 *
 * capture.c asks, for every other call, whether something captures;
 * capture_life.c is what a program does about captures itself. Lock held.
 */
#ifndef SIM_CAPTURE_CORE_H
#define SIM_CAPTURE_CORE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/stream.h"

struct sim_capture {
	struct sim_capture *next;
	uint64_t id;
	uint64_t thread;
	CUstreamCaptureMode mode;
	bool is_invalid;
	bool owns_graph; /* false: the program's own graph is filled */
	struct sim_graph *graph;
	const struct sim_stream *origin;
	struct sim_capture_part *parts;
};

/* One stream's part in a capture. */
struct sim_capture_part {
	struct sim_capture_part *next;
	struct sim_stream *stream;
	struct sim_capture *capture;
	CUgraphNode *nodes;     /* what the stream's next node comes after */
	CUgraphEdgeData *edges; /* all zero: ordinary edges; as many as there is room for nodes */
	size_t n;
	size_t room;
};

/* All that go on, the youngest first. */
extern struct sim_capture *sim_captures;

/* A number of the calling thread that no other ever has. */
uint64_t sim_capture_thread(void);

/* Whether using the stream, a legacy one, would mean a stream of this capture too. */
bool sim_capture_is_implied(const struct sim_capture *capture, const struct sim_stream *stream);

/* The stream takes part. NULL without memory. */
struct sim_capture_part *sim_capture_new_part(struct sim_capture *capture, struct sim_stream *stream);
void sim_capture_free_part(struct sim_capture_part *part);

/* The part's next node comes after these too. False without memory. */
bool sim_capture_add_before(struct sim_capture_part *part, const CUgraphNode *nodes, size_t n);

#endif
