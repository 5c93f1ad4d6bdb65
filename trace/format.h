/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - what a trace file consists of
 *
 * docs/FORMAT.md is the specification; this header is its C form. A trace is
 * one file per process, written through shared mappings by the application's
 * own threads, so it is complete up to the last finished call however the
 * process ends. Little-endian, natural alignment, no pointers.
 *
 *   file      = header block, then blocks of SY_BLOCK_BYTES claimed in any order
 *   header block = struct sy_file_header, and at SY_PROCESS_DEFS_OFFSET one segment of
 *               process definitions that reaches to the end of the block
 *   segment   = one or more consecutive blocks: segment header, then
 *               events (SY_SEG_EVENTS) or definition records (SY_SEG_DEFS)
 *   one writer per segment at a time; segments of a lane are ordered by `sequence`
 *   lane      = the segments of a thread and of those that, one after the other, took over from it:
 *               a thread that ends leaves its segments open, so that short threads cost events, not files
 */
#ifndef SY_TRACE_FORMAT_H
#define SY_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define SY_FORMAT_MAGIC 0x594c4c4154434e53ull /* "SNCTALLY" in memory */
#define SY_FORMAT_MAJOR 1                     /* a reader refuses a larger one */
#define SY_FORMAT_MINOR 1                     /* a reader reads any; unknown kinds are skipped and counted */

#define SY_BLOCK_BYTES 65536u
#define SY_HEADER_BYTES SY_BLOCK_BYTES
#define SY_PROCESS_DEFS_OFFSET 4096u
#define SY_PROCESS_THREAD UINT32_MAX /* "thread" of definitions that belong to the whole process */

enum sy_clock_kind {
	SY_CLOCK_TSC = 1,       /* ticks are the processor's time stamp counter */
	SY_CLOCK_MONOTONIC = 2, /* ticks are nanoseconds of CLOCK_MONOTONIC */
	SY_CLOCK_VIRTUAL = 3    /* ticks are nanoseconds of a simulated device's clock */
};

/* One moment read on all clocks. */
struct sy_clock_pair {
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};

/* The first bytes of the file. Fields marked "live" change while the process runs (atomically). */
struct sy_file_header {
	uint64_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes; /* sizeof(struct sy_file_header) of the writer */
	uint32_t pid;
	uint32_t clock_kind; /* enum sy_clock_kind */
	struct sy_clock_pair start;
	int32_t rank; /* -1: not known */
	int32_t local_rank;
	int32_t world_size;
	uint32_t n_threads;        /* live: threads that ever wrote */
	uint64_t end_bytes;        /* live: where the next segment will be claimed */
	uint64_t discarded_events; /* live: events not recorded, all threads */
	uint64_t discarded_defs;   /* live: definitions not recorded */
	uint32_t state;            /* live: enum sy_file_state */
	uint32_t reserved;
	char host[64];   /* NUL-terminated */
	char writer[32]; /* program and version that wrote it */
};

enum sy_file_state {
	SY_STATE_RUNNING = 0, /* also what a killed process leaves */
	SY_STATE_ENDED = 1    /* the process reached its end in order */
};

enum sy_segment_kind { SY_SEG_EVENTS = 0x53455645 /* "EVES" */, SY_SEG_DEFS = 0x53464544 /* "DEFS" */ };

struct sy_segment_header {
	uint32_t kind;       /* written last, when the segment is ready */
	uint32_t bytes;      /* whole segment, a multiple of SY_BLOCK_BYTES */
	uint32_t thread;     /* the lane: dense index of the thread that began it, or SY_PROCESS_THREAD; process
	                      * definitions may also stand in further segments, of any lane */
	uint32_t sequence;   /* 0, 1, ... among the segments of this kind and lane */
	uint32_t tid;        /* the system's thread id of who claimed it */
	uint32_t used;       /* live: events begun, or bytes of definitions, after this header */
	uint64_t last_ticks; /* live: with last_monotonic_ns a clock pair, refreshed now and then */
	uint64_t last_monotonic_ns;
	uint32_t discarded; /* live: events the threads of this lane could not record, so far */
	uint32_t handovers; /* live: SY_EVENT_THREAD events in this segment */
	char name[16];      /* thread name when the segment began, NUL-terminated */
};

enum sy_event_kind {
	SY_EVENT_CALL = 1,  /* one outermost CUDA call of a recorded class */
	SY_EVENT_STEP = 2,  /* a step of the training loop ended here */
	SY_EVENT_THREAD = 3 /* struct sy_handover: the events behind it, in this segment, are another thread's */
};

enum sy_event_flag {
	SY_EVENT_COMPLETE = 1 << 0,   /* the call returned; without it the event was in flight */
	SY_EVENT_PENDING = 1 << 1,    /* at entry, work that this call would wait for was not certified complete */
	SY_EVENT_CAPTURING = 1 << 2,  /* the stream was being captured: nothing was executed */
	SY_EVENT_PER_THREAD = 1 << 3, /* a spelling in which stream 0 is the per-thread default stream */
	SY_EVENT_MADE_UP = 1 << 4     /* a copy to the host that showed what a simulated device made up */
};

enum sy_memory {
	SY_MEMORY_UNKNOWN = 0,
	SY_MEMORY_PAGEABLE = 1,
	SY_MEMORY_PINNED = 2,
	SY_MEMORY_MANAGED = 3,
	SY_MEMORY_DEVICE = 4
};

/*
 * 64 bytes. Everything but duration_ticks, status and SY_EVENT_COMPLETE is
 * written before the real call is made; so an event without COMPLETE names the
 * call in which a killed or hanging process stood.
 */
struct sy_event {
	uint64_t enter_ticks;
	uint64_t duration_ticks; /* CALL: time in the real function; STEP: 0 */
	uint64_t bytes;    /* CALL: size of a copy, set or allocation; STEP: launches by the whole process so far */
	uint32_t stack;    /* Python stack (SY_DEF_STACK of this lane), 0 none */
	uint32_t native;   /* CALL: native caller (SY_DEF_NATIVE of this lane), 0 none; STEP: which optimizer, 0 none */
	uint32_t stream;   /* SY_DEF_STREAM of the process, 0 none */
	uint32_t launches; /* launches by the whole process so far, at entry; wraps */
	uint32_t polls;    /* stream and event queries by this thread so far; wraps */
	uint32_t step;     /* steps ended in the process before this event */
	int32_t status;    /* CALL: what the function returned; STEP: enum sy_step_source */
	uint16_t api;      /* SY_DEF_API of the process */
	uint8_t kind;      /* enum sy_event_kind */
	uint8_t flags;     /* enum sy_event_flag */
	uint8_t memory;    /* enum sy_memory: source in the low, destination in the high four bits */
	uint8_t direction; /* 0 H2H, 1 H2D, 2 D2H, 3 D2D, 4 not a copy or not known */
	uint8_t device;    /* ordinal the thread had selected */
	uint8_t reserved;
	uint32_t sequence; /* 1, 2, ... in this thread: a gap is a loss; skipped numbers are discarded events */
};

/* SY_EVENT_THREAD, in the place of an event. A segment that the lane's first thread has not begun starts with one. */
struct sy_handover {
	uint64_t enter_ticks;
	uint64_t reserved[2];
	char name[16]; /* of the thread, NUL-terminated */
	uint32_t tid;
	uint32_t thread; /* its dense index in this file */
	uint32_t reserved_too;
	uint16_t api; /* 0 */
	uint8_t kind; /* in the place it has in every event */
	uint8_t flags;
	uint32_t reserved_last[2];
};

enum sy_step_source {
	SY_STEP_CALL = 1,  /* synctally_step() */
	SY_STEP_TORCH = 2, /* PyTorch's optimizer hook */
	SY_STEP_NVTX = 3   /* the end of an NVTX range, or a mark */
};

enum sy_def_kind {
	SY_DEF_PADDING = 0, /* rest of the segment is unused */
	SY_DEF_API =
		1, /* process: u32 class definition id, u8 layer (0 runtime, 1 driver), u8 per-thread, u16 0, name */
	SY_DEF_CLASS = 2,  /* process: name, NUL, label */
	SY_DEF_META = 3,   /* process: key, NUL, value; the last one with a key holds */
	SY_DEF_STREAM = 4, /* process: u64 handle, u32 device, u32 enum sy_stream_flag */
	SY_DEF_STRING = 5, /* lane: UTF-8 text */
	SY_DEF_FRAME = 6,  /* lane: u32 file string, u32 function string, u32 line (0 unknown), u32 first line */
	SY_DEF_STACK = 7,  /* lane: u32 frame ids, innermost first */
	SY_DEF_MODULE = 8, /* lane: u64 load address, path */
	SY_DEF_NATIVE = 9  /* lane: per frame u32 module, u32 0, u64 offset in it; innermost first */
};

enum sy_stream_flag { SY_STREAM_LEGACY = 1, SY_STREAM_PER_THREAD = 2, SY_STREAM_NON_BLOCKING = 4 };

/* Followed by `bytes - sizeof(header)` of payload, zero-padded to a multiple of 8. */
struct sy_def_header {
	uint16_t kind;  /* enum sy_def_kind */
	uint16_t pad;   /* zero bytes at the end of the payload */
	uint32_t bytes; /* whole record, a multiple of 8, at least 16 */
	uint32_t id;    /* 1, 2, ... unique per kind within the lane, or within the process */
	uint32_t reserved;
};

_Static_assert(sizeof(struct sy_clock_pair) == 24, "format");
_Static_assert(sizeof(struct sy_file_header) == 192, "format");
_Static_assert(sizeof(struct sy_segment_header) == 64, "format");
_Static_assert(sizeof(struct sy_event) == 64, "format");
_Static_assert(sizeof(struct sy_handover) == 64, "format");
_Static_assert(offsetof(struct sy_handover, kind) == offsetof(struct sy_event, kind), "format");
_Static_assert(sizeof(struct sy_def_header) == 16, "format");

#endif
