/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_fixture.h - make small traces for tests, without an application
 *
 * Builds the bytes of a file in memory and writes them out, sharing no code
 * with trace/writer.c, so that a test of the reader does not test a mistake
 * against itself. Ends the test program if it cannot.
 */
#ifndef SY_TESTS_TRACE_FIXTURE_H
#define SY_TESTS_TRACE_FIXTURE_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

#define FIX_MAX_THREADS 8

struct fix_thread {
	uint64_t events_at, defs_at; /* offsets of the current segments, 0 none */
	uint32_t n_event_segments, n_def_segments;
	uint32_t sequence;
	uint32_t next_id[16];
	bool is_used;
};

struct fix {
	unsigned char *bytes;
	size_t n_bytes;
	struct fix_thread threads[FIX_MAX_THREADS];
	uint32_t next_id[16]; /* of process definitions */
	uint32_t n_apis;
	uint64_t now; /* ticks */
	uint32_t launches;
	uint32_t steps;
};

/* The functions and classes that every fixture defines; ids of SY_DEF_API. */
enum fix_api {
	FIX_API_NONE,
	FIX_STREAM_SYNC,
	FIX_DEVICE_SYNC,
	FIX_EVENT_SYNC,
	FIX_MEMCPY,
	FIX_MEMCPY_ASYNC,
	FIX_MEMSET,
	FIX_MEMSET_ASYNC,
	FIX_FREE,
	FIX_FREE_HOST,
	FIX_DRV_STREAM_SYNC,
	FIX_N_API
};

/* What an event says; times are ticks, zero is the common case of everything. */
struct fix_call {
	enum fix_api api;
	unsigned thread;
	uint64_t duration;
	uint64_t bytes;
	unsigned source, destination; /* enum sy_memory */
	unsigned direction;           /* as in the event; set it always for copies */
	uint32_t stream;
	uint32_t stack, native;
	int32_t status;
	bool is_pending, is_in_flight, is_capturing;
	uint64_t gap; /* ticks between the end of the call before and this one */
};

/* A trace with header, functions, classes and the streams 1 (legacy) and 2. Clock kinds as in the format. */
void fix_begin(struct fix *fix, enum sy_clock_kind clock);
void fix_meta(struct fix *fix, const char *key, const char *value);

/* Definitions of a thread; each returns the id. A stack is "file:line function" frames, innermost first. */
uint32_t fix_stack(struct fix *fix, unsigned thread, const char *const *frames, unsigned n);
uint32_t fix_native(struct fix *fix, unsigned thread, const char *module, uint64_t offset);

/* One event; times go on by gap and duration. Returns it, valid until the next call of a fix function. */
struct sy_event *fix_call(struct fix *fix, struct fix_call call);
void fix_launch(struct fix *fix, unsigned n);
/* `stepper`: the number of the optimizer, 0 for none. */
void fix_step(struct fix *fix, unsigned thread, enum sy_step_source source, uint32_t stepper);
/* Numbers of the thread's sequence that no event gets. */
void fix_skip(struct fix *fix, unsigned thread, unsigned n);

/* The lane of `thread` is another thread's from here on; its events go on being made with `thread`. */
void fix_handover(struct fix *fix, unsigned thread, uint32_t index, uint32_t tid, const char *name);

struct sy_file_header *fix_header(struct fix *fix);
struct sy_segment_header *fix_segment(struct fix *fix, unsigned thread, enum sy_segment_kind kind);

/* Writes the first `n_bytes` of the file; the path must not exist or is replaced. */
void fix_write(const struct fix *fix, const char *path, size_t n_bytes);
/* The same for all of it into a new temporary file; returns its path, for free(); unlink it. */
char *fix_write_temporary(const struct fix *fix);
void fix_end(struct fix *fix);

#endif
