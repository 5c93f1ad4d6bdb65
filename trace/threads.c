/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - from the segments of events to threads
 *
 * A lane is a row of segments. Its first thread begins it; a thread that takes
 * over says so by an event (struct sy_handover), which cuts the row.
 */
#include "trace/reader_internal.h"

#include <stdlib.h>
#include <string.h>

/* Threads being built, in the order of the file. */
struct builder {
	struct sy_trace *trace;
	struct sy_chunk *chunks;
	size_t n_chunks;
	struct sy_lane *lane;
	struct sy_trace_thread *thread; /* of this lane, the one that got events last; NULL none yet */
};

/* Whose events come next. */
struct owner {
	uint32_t index, tid;
	const char *name; /* 16 bytes, perhaps not terminated */
};

static const struct sy_event *events_of(const struct sy_trace *trace, const struct sy_segment *segment)
{
	return (const void *)(trace->map + segment->offset);
}

static uint32_t count_events(const struct sy_segment *segment)
{
	uint64_t fit = segment->room / sizeof(struct sy_event);

	return segment->used < fit ? segment->used : (uint32_t)fit;
}

/* Position of the next handover at or behind `at`, or the end. Only segments that say they have one are searched. */
static uint32_t next_handover(const struct sy_trace *trace, const struct sy_segment *segment, uint32_t at)
{
	const struct sy_event *events = events_of(trace, segment);
	uint32_t n = count_events(segment);

	if (!segment->handovers)
		return n;
	while (at < n && __atomic_load_n(&events[at].kind, __ATOMIC_RELAXED) != SY_EVENT_THREAD)
		at++;
	return at;
}

/* How many threads and chunks there can be at most. */
static void count(const struct sy_trace *trace, const struct sy_segments *events, size_t *n_lanes, size_t *n_handovers)
{
	*n_lanes = *n_handovers = 0;
	for (size_t i = 0; i < events->n; i++) {
		const struct sy_segment *segment = &events->at[i];
		uint32_t n = count_events(segment);

		*n_lanes += i == 0 || segment->lane != segment[-1].lane;
		for (uint32_t at = next_handover(trace, segment, 0); at < n; at = next_handover(trace, segment, at + 1))
			++*n_handovers;
	}
}

static void add_chunk(struct builder *builder, const struct owner *owner, const struct sy_segment *segment,
                      uint32_t first, uint32_t n)
{
	struct sy_trace *trace = builder->trace;
	struct sy_trace_thread *thread = builder->thread;
	struct sy_chunk *chunk = &builder->chunks[builder->n_chunks++];

	if (!thread || thread->index != owner->index) {
		thread = builder->thread = &trace->threads[trace->n_threads++];
		thread->index = owner->index;
		thread->tid = owner->tid;
		thread->chunks = chunk;
		thread->defs = builder->lane->defs;
	}
	if (owner->name[0])
		memcpy(thread->name, owner->name, sizeof(segment->name));
	chunk->events = events_of(trace, segment) + first;
	chunk->n_events = n;
	chunk->sequence = segment->sequence;
	thread->n_chunks++;
	thread->n_events += n;
}

/* A segment begins with events of the lane's first thread, or with a handover. */
static void add_segment(struct builder *builder, const struct sy_segment *segment)
{
	const struct sy_event *events = events_of(builder->trace, segment);
	struct owner owner = { segment->lane, segment->tid, segment->name };
	uint32_t n = count_events(segment);
	uint32_t at = 0;

	builder->trace->damage.missing_events += segment->used - n;
	if (segment->discarded > builder->lane->discarded)
		builder->lane->discarded = segment->discarded;
	for (;;) {
		uint32_t end = next_handover(builder->trace, segment, at);
		const struct sy_handover *handover = (const void *)&events[end];

		if (end > at || n == 0)
			add_chunk(builder, &owner, segment, at, end - at);
		if (end == n)
			return;
		owner = (struct owner){ handover->thread, handover->tid, handover->name };
		at = end + 1;
	}
}

static int by_index(const void *a, const void *b)
{
	const struct sy_trace_thread *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->chunks < y->chunks ? -1 : x->chunks > y->chunks;
}

int sy_threads_build(struct sy_trace *trace, const struct sy_segments *events)
{
	struct builder builder = { .trace = trace };
	size_t n_lanes, n_handovers;
	uint32_t expected = 0;

	count(trace, events, &n_lanes, &n_handovers);
	builder.chunks = sy_arena_alloc(&trace->arena, (events->n + n_handovers) * sizeof(*builder.chunks));
	trace->lanes = sy_arena_alloc(&trace->arena, n_lanes * sizeof(*trace->lanes));
	trace->threads = sy_arena_alloc(&trace->arena, (n_lanes + n_handovers) * sizeof(*trace->threads));
	if (!builder.chunks || !trace->lanes || !trace->threads)
		return -1;
	for (size_t i = 0; i < events->n; i++) {
		const struct sy_segment *segment = &events->at[i];

		if (!builder.lane || builder.lane->index != segment->lane) {
			builder.lane = &trace->lanes[trace->n_lanes++];
			builder.lane->index = segment->lane;
			builder.thread = NULL;
			expected = 0;
		}
		if (segment->sequence > expected)
			trace->damage.lost_segments += segment->sequence - expected;
		expected = segment->sequence + 1;
		add_segment(&builder, segment);
	}
	if (trace->n_threads)
		qsort(trace->threads, trace->n_threads, sizeof(*trace->threads), by_index);
	return 0;
}

struct sy_lane *sy_trace_find_lane(struct sy_trace *trace, uint32_t index)
{
	uint32_t low = 0, high = trace->n_lanes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->lanes[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low < trace->n_lanes && trace->lanes[low].index == index ? &trace->lanes[low] : NULL;
}
