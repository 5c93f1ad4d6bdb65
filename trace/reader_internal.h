/* SPDX-License-Identifier: Apache-2.0 */
/* reader_internal.h - what reader.c hands to threads.c and defs.c: the segments of a file */
#ifndef SY_TRACE_READER_INTERNAL_H
#define SY_TRACE_READER_INTERNAL_H

#include "trace/reader.h"

/* A segment found in the file; offsets, since the mapping may still move. */
struct sy_segment {
	uint64_t offset;   /* of its first payload byte */
	uint64_t room;     /* payload bytes that lie both in the segment and in the file */
	uint64_t capacity; /* payload bytes of the segment */
	uint32_t kind, lane, sequence, tid, used, discarded, handovers;
	char name[16];
};

struct sy_segments {
	struct sy_segment *at;
	size_t n, capacity;
};

/* Builds lanes and threads from the segments of events, sorted by lane and sequence. -1: out of memory. */
int sy_threads_build(struct sy_trace *trace, const struct sy_segments *events);

/* A run of definition records, checked to lie in the file. */
struct sy_def_run {
	const unsigned char *at;
	size_t bytes;
	uint32_t lane;
};

/* Indexes the definitions of all runs into `trace`. -1: out of memory. The lanes must be in place. */
int sy_defs_index(struct sy_trace *trace, const struct sy_def_run *runs, size_t n_runs);

/* NULL: no event stands in that lane. */
struct sy_lane *sy_trace_find_lane(struct sy_trace *trace, uint32_t index);

#endif
