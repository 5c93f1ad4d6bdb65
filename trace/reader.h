/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - read a trace: segments, definitions, events
 *
 * Maps the file and never trusts a length in it: what is whole is used, what
 * is not is counted in struct sy_damage. Works on a file that is still being
 * written. Events are used in place; nothing is allocated per event:
 *
 *	for each thread of trace->threads
 *		for each chunk of thread->chunks
 *			for each event of chunk->events
 *
 * One thread at a time per trace. Everything reachable from a struct sy_trace
 * belongs to it and lives until sy_trace_close.
 */
#ifndef SY_TRACE_READER_H
#define SY_TRACE_READER_H

#include "trace/arena.h"
#include "trace/clock.h"
#include "trace/err.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

/* Events of one thread in one segment. */
struct sy_chunk {
	const struct sy_event *events;
	uint32_t n_events;
	uint32_t sequence;
};

/* Definitions of one kind and one owner, by rising id. */
struct sy_def_ref {
	uint32_t id;
	uint32_t payload_bytes;
	const void *payload;
	const char *text; /* SY_DEF_STRING and SY_DEF_MODULE: cleaned text; others: NULL */
};

struct sy_defs {
	struct sy_def_ref *refs;
	uint32_t n;
};

#define SY_N_DEF_KINDS 10

/* The place of threads that followed one another. Their definitions are common. */
struct sy_lane {
	uint32_t index;                      /* of its first thread */
	uint64_t discarded;                  /* events that its threads say they could not record */
	struct sy_defs defs[SY_N_DEF_KINDS]; /* by enum sy_def_kind; only the kinds of a lane */
};

struct sy_trace_thread {
	uint32_t index; /* as in the file */
	uint32_t tid;
	char name[17];
	struct sy_chunk *chunks;
	uint32_t n_chunks;
	uint64_t n_events;
	const struct sy_defs *defs; /* of its lane */
};

/* One function, from SY_DEF_API and SY_DEF_CLASS. */
struct sy_trace_api {
	const char *name;       /* "?" if not defined, as the next two */
	const char *class_name; /* a row of the writer's sync_class.def */
	const char *class_label;
	bool is_driver;
	bool is_per_thread;
	bool is_defined;
};

struct sy_trace_stream {
	uint64_t handle;
	uint32_t device;
	uint32_t flags; /* enum sy_stream_flag */
};

struct sy_meta {
	const char *key;
	const char *value;
};

/* What the file should hold and does not, or holds and cannot be understood. */
struct sy_damage {
	uint64_t missing_bytes;    /* claimed beyond the end of the file: it was cut, or the disk was full */
	uint64_t unreadable_bytes; /* in the file, but neither segment nor unused */
	uint64_t missing_events;   /* begun in a segment, but beyond its end or the file's */
	uint64_t unreadable_defs;
	uint64_t unknown_defs;  /* of a kind this reader does not know: from a newer writer */
	uint64_t lost_segments; /* numbers missing in a lane's row of event segments */
};

struct sy_trace {
	const char *path;
	struct sy_file_header header; /* as it was when the trace was opened */
	struct sy_clock clock;
	struct sy_trace_thread *threads; /* by rising index */
	uint32_t n_threads;
	struct sy_lane *lanes; /* by rising index */
	uint32_t n_lanes;
	struct sy_trace_api *apis; /* index: api of an event; use sy_trace_api */
	uint32_t n_apis;
	struct sy_meta *meta;
	uint32_t n_meta;
	struct sy_defs streams;
	struct sy_damage damage;

	/* private */
	const unsigned char *map;
	size_t map_bytes;
	struct sy_arena arena;
};

/* What only a walk over all events tells. */
struct sy_census {
	uint64_t events;
	uint64_t in_flight;  /* begun and not ended: the process died, or still stands, in them */
	uint64_t blank;      /* slots taken but not filled in */
	uint64_t unknown;    /* of a kind this reader does not know */
	uint64_t gaps;       /* numbers missing in the threads' event sequences */
	uint64_t disordered; /* numbers that go back: damage */
};

/* Opens a trace; on failure *out is untouched and err tells one line with the path. */
int sy_trace_open(const char *path, struct sy_trace **out, struct sy_err *err);
void sy_trace_close(struct sy_trace *trace);

struct sy_census sy_trace_census(const struct sy_trace *trace);

/* The same walk, which also tells every step event. */
typedef void sy_step_fn(void *context, const struct sy_event *event);
struct sy_census sy_trace_survey(const struct sy_trace *trace, sy_step_fn *on_step, void *context);

/*
 * A walk is past these events: their pages need not stay in memory. They may
 * still be read, and then come back from the system's cache of the file.
 */
void sy_chunk_leave(const struct sy_chunk *chunk);

/* How far ahead a walk asks for events: 2 KiB, beyond which the memory gets no faster. */
#define SY_PREFETCH_EVENTS 32

/* Never NULL; `is_defined` tells whether the file names this number. */
const struct sy_trace_api *sy_trace_api(const struct sy_trace *trace, uint16_t api);

/* False: not defined. */
bool sy_trace_stream(const struct sy_trace *trace, uint32_t id, struct sy_trace_stream *stream);

/* The value of the last definition with this key, or NULL. */
const char *sy_trace_meta(const struct sy_trace *trace, const char *key);

/* Position of an id in `defs`, or -1. Dense ids are found without a search. */
long sy_defs_find(const struct sy_defs *defs, uint32_t id);

/* One Python frame; file and function are "?" where not defined. */
struct sy_trace_frame {
	const char *file;
	const char *function;
	uint32_t line;       /* 0: not known */
	uint32_t first_line; /* of the function; 0: not known */
};

/* Frames of a Python stack, innermost first. 0 if it is not defined. */
uint32_t sy_thread_stack_depth(const struct sy_trace_thread *thread, uint32_t stack);
struct sy_trace_frame sy_thread_frame(const struct sy_trace_thread *thread, uint32_t stack, uint32_t depth);

/* The native place a call came from, innermost frame. */
struct sy_trace_native {
	const char *module; /* path, "?" where not defined */
	uint64_t offset;    /* in the module */
};
uint32_t sy_thread_native_depth(const struct sy_trace_thread *thread, uint32_t native);
struct sy_trace_native sy_thread_native(const struct sy_trace_thread *thread, uint32_t native, uint32_t depth);

#endif
