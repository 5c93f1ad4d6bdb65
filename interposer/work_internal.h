/* SPDX-License-Identifier: Apache-2.0 */
/* work_internal.h - shared by work.c (submitting) and work_proof.c (proving); nobody else's */
#ifndef SY_INTERPOSER_WORK_INTERNAL_H
#define SY_INTERPOSER_WORK_INTERNAL_H

#include "interposer/work.h"
#include "trace/format.h"

#define LEGACY_HANDLE 1ull /* cudaStreamLegacy, CU_STREAM_LEGACY */

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

/* Raises a counter that never falls; returns what it was. */
static inline uint64_t raise_to(uint64_t *counter, uint64_t value)
{
	uint64_t seen = __atomic_load_n(counter, __ATOMIC_SEQ_CST);

	while (seen < value &&
	       !__atomic_compare_exchange_n(counter, &seen, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return seen;
}

/* Is `other` a stream that the legacy stream of its device waits for, and that waits for it? */
static inline bool is_blocking_peer(const struct sy_work_stream *other, const struct sy_work_stream *legacy)
{
	return LOAD(other->handle) && !(LOAD(other->flags) & (SY_STREAM_NON_BLOCKING | SY_STREAM_LEGACY)) &&
	       LOAD(other->device) == LOAD(legacy->device);
}

static inline bool is_behind(const struct sy_work_stream *stream)
{
	return LOAD(stream->last) > LOAD(stream->done);
}

/* Closes the runs on a stream. Mutex held. */
void sy_work_close_runs_on(struct sy_work *work, const struct sy_work_stream *stream);
/* Closes the runs on what an operation just numbered on the stream is ordered after by the legacy rule. */
void sy_work_close_runs_before(struct sy_work *work, const struct sy_work_stream *stream);

#endif
