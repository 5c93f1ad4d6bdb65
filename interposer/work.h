/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what has been submitted to the device and not been proved complete
 *
 * So that "there was nothing to wait for" is exact and costs no CUDA call. The
 * rules are in docs/SYNC-RULES.md, "Pending": every submitted operation gets
 * the next number of one process-wide order; a host call that returned with
 * success proves a prefix of some streams complete. Where threads race, proofs
 * are dropped rather than stretched: pending may be said too often, never too
 * seldom.
 *
 * All functions: any thread, no CUDA call, no allocation. Only event records,
 * stream waits and the life of streams and events take a short mutex.
 */
#ifndef SY_INTERPOSER_WORK_H
#define SY_INTERPOSER_WORK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SY_WORK_STREAMS 256 /* known at once; a further stream counts as always pending */
#define SY_WORK_DEVICES 16  /* the first slots are the legacy streams of the devices */
#define SY_WORK_EVENTS 65536
#define SY_WORK_CLOCKS 4096
#define SY_WORK_RUNS 4096 /* as many as threads */

/* Per stream, up to which number it is covered. */
struct sy_work_clock {
	uint64_t upto[SY_WORK_STREAMS];
};

struct sy_work_stream {
	uint64_t handle; /* atomic; 0: slot is free */
	uint32_t id;     /* in the trace; 0: not yet defined there */
	uint16_t slot;
	uint8_t device;
	uint8_t flags;              /* enum sy_stream_flag */
	bool is_gone;               /* destroyed; its work may go on */
	bool has_clock;             /* it has waited for events of other streams */
	uint32_t capture;           /* atomic; number of the capture it belongs to, 0 none */
	uint32_t n_in_flight;       /* atomic; submitting calls that have not returned */
	uint64_t last;              /* atomic; number of the last operation */
	uint64_t done;              /* atomic; up to here certified complete */
	uint64_t legacy_seen;       /* atomic; legacy operations before the last one here */
	uint64_t legacy_clean;      /* atomic; blocking streams' operations before that legacy operation */
	uint64_t clean;             /* legacy stream only: operations on blocking streams before its last one */
	uint32_t clock_version;     /* atomic; changes with `clock` */
	uint32_t merged_version;    /* of the streams this one is implicitly ordered after */
	struct sy_work_clock clock; /* guarded by the mutex */
};

struct sy_work_event {
	uint64_t handle; /* 0: slot is free */
	uint64_t number; /* of the record operation; 0: never recorded */
	uint64_t clean;  /* up to here its stream is covered; 0: not known */
	uint64_t legacy_seen, legacy_clean;
	uint32_t capture;
	uint16_t stream; /* slot */
	uint16_t clock;  /* index + 1 of a kept clock, 0 none */
};

/*
 * What one thread launches in a row on one stream, counted without a number.
 * A launch is known to have been submitted once it has returned.
 */
struct sy_work_run {
	_Alignas(64) uint64_t key; /* atomic; by which the owner knows the stream as its run's; 0: closed */
	uint64_t started;          /* atomic, the owner's */
	uint64_t returned;         /* atomic, the owner's; failures too */
	uint64_t others;           /* atomic, the owner's; launches outside its runs, less the failed ones in them */
	uint64_t numbered;         /* atomic, written under the mutex, as all below; of those started */
	struct sy_work_stream *stream; /* NULL: never opened */
	uint64_t watch_from; /* the owner's, as all below; of `started`: from there on launches are timed (launch.h) */
	bool is_in_flight;   /* and counted as such on the stream; under the mutex */
	uint64_t watched_done; /* `done` of the stream when the watch was set */
	uint64_t least_ticks;  /* the shortest launch timed since then; 0: none */
};

struct sy_work {
	uint64_t order;            /* atomic; the last number given */
	uint32_t n_slots;          /* atomic; streams ever used */
	uint32_t n_blocking;       /* atomic; blocking streams besides the legacy ones */
	uint32_t n_captures;       /* atomic; captures ever begun */
	uint32_t blocking_version; /* atomic; changes with the clock of any blocking stream */
	bool is_incomplete;        /* atomic; somebody submits work that cannot be followed: all counts as pending */
	pthread_mutex_t mutex;
	uint32_t n_clocks;
	uint16_t free_clocks; /* list, index + 1 */
	struct sy_work_stream streams[SY_WORK_STREAMS];
	struct sy_work_event events[SY_WORK_EVENTS];
	struct sy_work_clock clocks[SY_WORK_CLOCKS];
	uint32_t n_runs; /* atomic; ever used */
	struct sy_work_run runs[SY_WORK_RUNS];
};

/* An operation being submitted. */
struct sy_work_op {
	uint64_t number;      /* 0: nothing was submitted */
	uint64_t previous;    /* of the stream */
	uint64_t legacy_seen; /* on a blocking stream: what it is ordered after of the legacy stream */
	uint64_t
		legacy_clean; /* ... and through that of the blocking streams; on the legacy stream: of them directly */
};

/* What a successful return will prove; taken at the entry of the call. */
enum sy_work_scope { SY_COVER_NOTHING, SY_COVER_STREAM, SY_COVER_OP, SY_COVER_EVENT, SY_COVER_DEVICE };
struct sy_work_cover {
	enum sy_work_scope scope;
	const struct sy_work_stream *stream;
	uint64_t upto; /* of the stream; DEVICE and legacy: of every stream that had nothing in flight */
	uint64_t legacy_seen, legacy_clean;
	bool is_clean; /* nothing else was in flight on the stream */
	bool has_clock;
	uint64_t quiet[SY_WORK_STREAMS / 64]; /* DEVICE and legacy: streams with nothing in flight at entry */
	struct sy_work_clock clock;           /* only if has_clock: 2 KiB that are not even zeroed otherwise */
};

/* The stream of a handle as passed to CUDA. NULL: more streams than we can follow. */
struct sy_work_stream *sy_work_stream_get(struct sy_work *work, uint64_t handle, unsigned device);
/* A new per-thread default stream. */
struct sy_work_stream *sy_work_stream_per_thread(struct sy_work *work, unsigned device);
void sy_work_stream_create(struct sy_work *work, uint64_t handle, unsigned device, bool is_non_blocking);
void sy_work_stream_destroy(struct sy_work *work, struct sy_work_stream *stream);

void sy_work_submit(struct sy_work *work, struct sy_work_stream *stream, struct sy_work_op *op);
/* What the operation is ordered after becomes true of its stream only now: a failed call has submitted nothing. */
void sy_work_submitted(struct sy_work *work, struct sy_work_stream *stream, const struct sy_work_op *op,
                       bool is_success);

/*
 * Numbers what runs have launched. First of all in each call that submits or
 * asks by any other function here; runs get no number from anybody else.
 */
void sy_work_settle(struct sy_work *work);
/* A run for a thread, for good; the next thread in its place may have it. NULL: there are too many. */
struct sy_work_run *sy_work_run_add(struct sy_work *work);
/*
 * By the owner, none of whose launches is on its way: launches on `stream` may
 * be counted from now on, following `op` on it, until `key` in the run is
 * changed to 0 by whatever makes a difference to them.
 */
void sy_work_run_open(struct sy_work *work, struct sy_work_run *run, struct sy_work_stream *stream,
                      const struct sy_work_op *op, uint64_t key);
void sy_work_run_close(struct sy_work *work, struct sy_work_run *run);
/* By the owner: its launch that started last submitted nothing. */
void sy_work_run_take_back(struct sy_work *work, struct sy_work_run *run);

/* Before sy_work_submitted, after success. `cover` was taken for the record operation itself. */
void sy_work_event_record(struct sy_work *work, uint64_t event, const struct sy_work_op *op,
                          const struct sy_work_cover *cover);
void sy_work_event_wait(struct sy_work *work, struct sy_work_stream *stream, uint64_t event);
void sy_work_event_forget(struct sy_work *work, uint64_t event);

/* Is anything pending that a synchronize of the stream or the device would wait for? */
bool sy_work_is_pending(struct sy_work *work, const struct sy_work_stream *stream);
bool sy_work_is_device_pending(struct sy_work *work, unsigned device);
/* ... that an operation submitted to the stream now would be ordered after? */
bool sy_work_is_op_pending(struct sy_work *work, const struct sy_work_stream *stream);

void sy_work_cover_stream(struct sy_work *work, const struct sy_work_stream *stream, struct sy_work_cover *cover);
/* The stream up to and with an operation being submitted by the asking call. */
void sy_work_cover_op(struct sy_work *work, const struct sy_work_stream *stream, const struct sy_work_op *op,
                      struct sy_work_cover *cover);
/* Returns whether the last record of the event is pending; true, for safety, of one made in a capture. */
bool sy_work_cover_event(struct sy_work *work, uint64_t event, struct sy_work_cover *cover);
void sy_work_cover_device(struct sy_work *work, unsigned device, struct sy_work_cover *cover);
/* The call that `cover` was taken for has returned with success. */
void sy_work_certify(struct sy_work *work, const struct sy_work_cover *cover);

/* Streams that take part in a capture execute nothing. */
void sy_work_capture_begin(struct sy_work *work, struct sy_work_stream *stream);
void sy_work_capture_end(struct sy_work *work, const struct sy_work_stream *stream);

#endif
