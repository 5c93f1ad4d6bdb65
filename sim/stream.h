/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - streams, what orders them, and what is certified complete
 *
 * Each stream has a slot in the process-wide vector clocks. A stream's `covers`
 * reaches as far as its last operation and all that is ordered before it:
 * event waits, and the legacy rule (an operation on the legacy stream comes
 * after everything submitted to blocking streams, and the other way round).
 * All functions: lock held. Streams are never freed, a slot is used again once
 * everything in it is certified.
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/device.h"
#include "sim/vector.h"

enum sim_stream_kind { SIM_STREAM_LEGACY, SIM_STREAM_PER_THREAD, SIM_STREAM_BLOCKING, SIM_STREAM_NONBLOCKING };

/* What is asked about: a synchronize of the stream, or an operation submitted to it now. */
enum sim_reach { SIM_REACH_SYNC, SIM_REACH_SUBMIT };

struct sim_capture_part;

struct sim_stream {
	struct sim_device *device;
	enum sim_stream_kind kind;
	unsigned slot;
	unsigned number; /* in order of creation; the ledger's name for it */
	int priority;
	bool is_live;
	uint64_t ready_ns;    /* completion of its last operation */
	uint64_t n_submitted; /* its own count, never reset */
	uint64_t seen;        /* submissions of the other side of the legacy rule that `covers` has */
	struct sim_vector covers;
	struct sim_capture_part *part; /* in a capture; NULL while the stream executes */
	uint64_t *completions;         /* of the last queue_depth operations, a ring; NULL before the first */
};

/* Returns NULL without memory. */
struct sim_stream *sim_stream_create(struct sim_device *device, enum sim_stream_kind kind, int priority);

/* The handle is dead from now on; the work goes on. */
void sim_stream_destroy(struct sim_stream *stream);

/* Destroys every stream a program created. */
void sim_stream_end_created(const struct sim_device *device);

/* 0 and 1 are the legacy stream of the current device, 2 is the thread's own there, which 0 means too in a per-thread spelling. NULL if invalid. */
struct sim_stream *sim_stream_find(CUstream handle, bool is_per_thread);

struct sim_stream *sim_stream_of_slot(unsigned slot);

/* "Not known yet", of a completion (open.h). */
#define SIM_OPEN_NS UINT64_MAX

/* When the stream's operation of that number, from 1, is complete; 0 if that is long past. May be SIM_OPEN_NS. */
uint64_t sim_stream_completion(const struct sim_stream *stream, uint64_t number);

/* When all of this is complete, as above. */
uint64_t sim_streams_completion(const struct sim_vector *covered);

CUstream sim_stream_handle(const struct sim_stream *stream);
bool sim_stream_is_blocking(const struct sim_stream *stream);

/* Makes the next operation come after what the legacy rule says. False without memory. */
bool sim_stream_order(struct sim_stream *stream);

/* When what is asked about is complete. */
uint64_t sim_stream_target(const struct sim_stream *stream, enum sim_reach reach);

/* True if something in reach was submitted and is not certified complete. */
bool sim_stream_is_pending(const struct sim_stream *stream, enum sim_reach reach);

/* Notes the reach as it is now, for a certification after a wait. The caller frees it. False without memory. */
bool sim_stream_snapshot(const struct sim_stream *stream, enum sim_reach reach, struct sim_vector *into);

/* The same for everything on the device, dead streams included. */
bool sim_streams_snapshot_device(const struct sim_device *device, struct sim_vector *into);

/* A host call that proves all of this complete has succeeded. */
void sim_streams_certify(const struct sim_vector *covered);

/* True if the vector reaches beyond what is certified. */
bool sim_streams_exceed_certified(const struct sim_vector *covered);

bool sim_streams_device_pending(const struct sim_device *device);

#endif
