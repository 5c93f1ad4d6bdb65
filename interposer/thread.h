/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - what one application thread keeps for itself: its counters, its
 *            place in the trace, its tables of sites
 *
 * Only its own thread writes to it (others read the counters), so recording
 * takes no lock.
 */
#ifndef SY_INTERPOSER_THREAD_H
#define SY_INTERPOSER_THREAD_H

#include "trace/format.h"
#include "trace/writer.h"

#include <stdbool.h>
#include <stdint.h>

#define SY_MAX_THREADS 4096

struct sy_state;
struct sy_work_stream;
struct sy_site_tables;

/* What an ending thread leaves to the next one in its slot: open segments, and what has been defined in them. */
struct sy_thread_lane {
	struct sy_segment_header *events; /* segment being filled; NULL none yet */
	struct sy_segment_header *defs;
	uint32_t n_event_segments, n_def_segments;
	uint32_t number; /* index of the lane's first thread; UINT32_MAX: nothing has been written */
	uint32_t discarded;
	struct sy_site_tables *sites; /* site.c */
};

struct sy_thread {
	uint32_t is_used;        /* atomic; 0 also in a forked child */
	struct sy_work_run *run; /* the slot's; NULL until something is launched */
	struct sy_thread_lane lane;
	uint32_t polls; /* with what follows, new for each thread */
	uint32_t index; /* in the trace; UINT32_MAX: not there yet */
	uint32_t tid;
	uint32_t sequence;      /* of the last event, recorded or discarded */
	uint32_t device;        /* ordinal selected by cudaSetDevice */
	uint64_t stream_handle; /* the stream looked up last */
	uint64_t slot_handle;   /* what stood in its slot then */
	struct sy_work_stream *stream;
	struct sy_work_stream *per_thread_stream;
	const struct sy_work_stream *launch_stream; /* of the last launch that went the long way */
	uint64_t least_launch_ticks;                /* the shortest of those launches that was timed; 0: none */
	uint32_t room;           /* events that `lane.events` has room for; 0: not this thread's yet */
	bool is_announced;       /* the events in `lane.events` are known to be this thread's */
	uint64_t pair_due_ticks; /* when the segment's clock pair is to be refreshed */
	uint64_t pair_period_ticks;
};

/* The calling thread's, made at its first call. NULL: there are too many threads. */
struct sy_thread *sy_thread_get(struct sy_state *state);

/* Reserves the next event and fills its common fields, the time of entry last. NULL: it was counted as discarded. */
struct sy_event *sy_thread_event(struct sy_state *state, struct sy_thread *thread, enum sy_event_kind kind);

/* The event just reserved has been filled in. */
void sy_thread_commit(struct sy_thread *thread);

/* Appends a definition of this thread's lane (or of the process, for the kinds that are). False: it was not kept. */
bool sy_thread_define(struct sy_state *state, struct sy_thread *thread, enum sy_def_kind kind, uint32_t id,
                      const struct sy_part *parts, unsigned n_parts);

/* Prepares the end-of-thread notice. Before main. */
int sy_thread_init(void);

#endif
