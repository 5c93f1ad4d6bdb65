/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace.c - a large trace, as of a trainer that reads many metrics
 *
 *	make_trace PATH EVENTS [SITES [THREADS [EVENTS_PER_STEP]]]
 *
 * Every thread gets its share of the events; of ten acts, seven are readbacks
 * (a copy and the wait behind it), one is a wait alone, one an upload, one a
 * memset. Every second readback finds work and drains. Times are made up, from
 * a fixed generator: the same arguments give the same file but for its inode.
 */
#include "trace/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_BYTES (16u * SY_BLOCK_BYTES)
#define N_FUNCTIONS 4

static struct sy_writer writer;
static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "make_trace: %s: %s\n", what, strerror(error));
	exit(2);
}

static void define(struct sy_segment_header *segment, enum sy_def_kind kind, uint32_t id, const void *head,
                   size_t head_bytes, const char *text, size_t text_bytes)
{
	struct sy_part parts[2] = { { head, head_bytes }, { text, text_bytes } };

	if (!sy_writer_define(&writer, segment, kind, id, parts, 2))
		fail("a definition does not fit", ENOSPC);
}

static void define_process(void)
{
	static const struct {
		const char *name, *class;
	} functions[N_FUNCTIONS] = {
		{ "cudaMemcpyAsync", "COPY_ASYNC\0copy" },
		{ "cudaStreamSynchronize", "WAIT_STREAM\0explicit" },
		{ "cudaDeviceSynchronize", "WAIT_DEVICE\0explicit" },
		{ "cudaMemsetAsync", "SET_ASYNC\0set" },
	};
	const uint32_t stream[4] = { 0x1000, 0, 0, SY_STREAM_LEGACY };

	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		const uint32_t head[2] = { i + 1, 0 };
		const char *label = functions[i].class + strlen(functions[i].class) + 1;

		define(NULL, SY_DEF_CLASS, i + 1, NULL, 0, functions[i].class,
		       (size_t)(label - functions[i].class) + strlen(label));
		define(NULL, SY_DEF_API, i + 1, head, sizeof(head), functions[i].name, strlen(functions[i].name));
	}
	define(NULL, SY_DEF_STREAM, 1, stream, sizeof(stream), NULL, 0);
	define(NULL, SY_DEF_META, 1, NULL, 0, "argv.0\0train.py", 15);
}

/* Stacks 1 to n, of two frames each. */
static void define_stacks(uint32_t thread, uint32_t n_sites)
{
	struct sy_segment_header *segment = NULL;
	uint32_t sequence = 0;
	int error = 0;

	for (uint32_t i = 1; i <= n_sites; i++) {
		const uint32_t frame[4] = { 1, 2, i, 1 }, stack[2] = { i, i };

		if (!segment || segment->bytes - segment->used < 1024) {
			if (segment)
				sy_writer_release(segment);
			segment = sy_writer_segment(&writer, SY_SEG_DEFS, SY_BLOCK_BYTES, thread, sequence++,
			                            1000 + thread, "python", &error);
			if (!segment)
				fail("no segment", error);
		}
		if (i == 1) {
			define(segment, SY_DEF_STRING, 1, NULL, 0, "train.py", 8);
			define(segment, SY_DEF_STRING, 2, NULL, 0, "train", 5);
		}
		define(segment, SY_DEF_FRAME, i, frame, sizeof(frame), NULL, 0);
		define(segment, SY_DEF_STACK, i, stack, sizeof(stack), NULL, 0);
	}
	sy_writer_release(segment);
}

/* ---- events ---------------------------------------------------------------------------- */

struct making {
	struct sy_segment_header *segment;
	uint32_t thread, n_segments, sequence;
	uint32_t step, launches, n_sites, per_step, in_step;
	uint64_t ticks;
};

static struct sy_event *add(struct making *making, uint8_t kind, uint16_t api, uint64_t duration)
{
	struct sy_event *event;
	int error = 0;

	if (!making->segment || making->segment->used == (SEGMENT_BYTES - sizeof(*making->segment)) / sizeof(*event)) {
		if (making->segment)
			sy_writer_release(making->segment);
		making->segment = sy_writer_segment(&writer, SY_SEG_EVENTS, SEGMENT_BYTES, making->thread,
		                                    making->n_segments++, 1000 + making->thread, "python", &error);
		if (!making->segment)
			fail("no segment", error);
	}
	event = (struct sy_event *)(making->segment + 1) + making->segment->used++;
	*event = (struct sy_event){ .enter_ticks = making->ticks,
		                    .duration_ticks = duration,
		                    .stream = 1,
		                    .launches = making->launches,
		                    .step = making->step,
		                    .api = api,
		                    .kind = kind,
		                    .flags = SY_EVENT_COMPLETE,
		                    .direction = 4,
		                    .sequence = ++making->sequence };
	making->ticks += duration + 500;
	making->in_step++;
	return event;
}

/* Up to two events. */
static void add_act(struct making *making)
{
	uint64_t random = next_random();
	uint32_t stack = 1 + (uint32_t)(random >> 32) % making->n_sites;
	unsigned kind = (unsigned)(stack % 10);
	bool drains = random & 1;
	uint64_t wait = drains ? 20000 + random % 4096 : 900 + random % 64;
	struct sy_event *event;

	making->launches += (uint32_t)(random >> 8) & 3;
	if (kind < 8) {
		event = add(making, SY_EVENT_CALL, kind < 7 ? 1 : 4, 600 + random % 32);
		event->stack = stack;
		event->bytes = kind < 7 ? 4 : 4096;
		event->memory = kind < 7 ? SY_MEMORY_DEVICE | SY_MEMORY_PINNED << 4 : SY_MEMORY_DEVICE << 4;
		event->direction = kind < 7 ? 2 : 4;
		event->flags |= drains ? SY_EVENT_PENDING : 0;
	}
	if (kind < 7 || kind == 8) {
		event = add(making, SY_EVENT_CALL, 2, wait);
		event->stack = stack;
		event->flags |= drains ? SY_EVENT_PENDING : 0;
	}
	if (kind == 9) {
		event = add(making, SY_EVENT_CALL, 1, 700);
		event->stack = stack;
		event->bytes = 256;
		event->memory = SY_MEMORY_PINNED | SY_MEMORY_DEVICE << 4;
		event->direction = 1;
	}
}

static void make_thread(uint32_t thread, uint64_t n_events, uint32_t n_sites, uint32_t per_step)
{
	struct making making = { .thread = thread, .n_sites = n_sites, .per_step = per_step, .ticks = 1000 };

	define_stacks(thread, n_sites);
	while (making.sequence < n_events) {
		add_act(&making);
		if (making.in_step < per_step)
			continue;
		if (thread == 0) {
			struct sy_event *event = add(&making, SY_EVENT_STEP, 0, 0);

			event->bytes = making.launches;
			event->status = SY_STEP_TORCH;
		}
		making.step++;
		making.in_step = 0;
	}
	sy_writer_release(making.segment);
}

int main(int argc, char **argv)
{
	struct sy_file_header header = { .pid = 1000, .clock_kind = SY_CLOCK_MONOTONIC, .rank = -1, .local_rank = -1 };
	uint64_t n_events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint32_t n_sites = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 64;
	uint32_t n_threads = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 1;
	uint32_t per_step = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 200;
	int error;

	if (n_events == 0 || n_sites == 0 || n_threads == 0 || per_step == 0) {
		fputs("usage: make_trace PATH EVENTS [SITES [THREADS [EVENTS_PER_STEP]]]\n", stderr);
		return 2;
	}
	snprintf(header.host, sizeof(header.host), "made-up");
	header.start.realtime_ns = 1700000000000000000u;
	error = sy_writer_open(&writer, argv[1], &header);
	if (error)
		fail(argv[1], error);
	define_process();
	for (uint32_t i = 0; i < n_threads; i++)
		make_thread(i, n_events / n_threads, n_sites, per_step);
	writer.header->n_threads = n_threads;
	writer.header->state = SY_STATE_ENDED;
	return 0;
}
