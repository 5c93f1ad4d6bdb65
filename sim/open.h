/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - operations whose end is not known yet
 *
 * An exchange (exchange.h) is open until the other ranks have said when they
 * begin; so is every operation ordered after it, and nothing else. Such an
 * operation remembers what it comes after, and gets its time once that is
 * known: the same time whenever it is asked. The host is held only where it
 * waits for something open. All functions: lock held, except where said.
 */
#ifndef SIM_OPEN_H
#define SIM_OPEN_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/exchange.h"
#include "sim/stream.h"
#include "sim/timeline.h"

/* True if anything is open: if not, nothing below needs to be asked. */
bool sim_open_any(void);

/* True if any of this is open. */
bool sim_open_covers(const struct sim_vector *covered);

/*
 * A place for an operation with n effects that is about to be submitted to the
 * stream, if what it comes after is open; *open is NULL if not. False without
 * memory. The place ends with sim_open_append() or sim_open_drop().
 */
struct sim_open;
bool sim_open_prepare(const struct sim_stream *stream, size_t n, struct sim_open **open);
void sim_open_drop(struct sim_open *open);

/* The operation has just been given its number on the stream. The span begins with the earliest start. */
void sim_open_append(struct sim_open *open, struct sim_stream *stream, const struct sim_span *span,
                     const struct sim_effect *effects);

/* Submits an exchange. On failure it stays the caller's. */
CUresult sim_open_submit(struct sim_stream *stream, struct sim_exchange *exchange);

/*
 * If the stream's last operation is open: event.c is to be told when that is,
 * or rather, some time after it begins. False without memory.
 */
struct sim_tell {
	unsigned event;  /* its index */
	uint64_t record; /* which of its records */
	uint64_t after_ns;
	bool is_end; /* the end it is; after_ns does not count */
};
bool sim_open_tell(const struct sim_stream *stream, const struct sim_tell *tell);

/* Gives times to what has become known. */
void sim_open_resolve(void);

/* Holds the host, in real time, until nothing of this is open. Returns when all of it is complete. */
uint64_t sim_open_hold(const struct sim_vector *covered);

/* For queries. If this is open, holds the host for a moment on the virtual clock: mostly the answer is certain then. */
void sim_open_linger(const struct sim_vector *covered);

/* Drops the effects of open operations that would touch this host memory. */
void sim_open_cancel(uintptr_t base, size_t bytes);

/* What sim_launch_exchange() set for this thread, once; NULL if nothing. No lock needed. */
struct sim_exchange *sim_open_take_launch(void);

/* CUDA_SUCCESS, or what every call returns once an exchange has failed. No lock needed. */
CUresult sim_open_failure(void);

/* An exchange has failed for the device. No lock needed. */
void sim_open_fail(void);

#endif
