/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/work.h"

#include "interposer/compiler.h"
#include "interposer/work_internal.h"

/* Stands in `handle` of a per-thread default stream: no CUDA handle is odd and this large. */
#define PER_THREAD_HANDLE UINT64_MAX

static struct sy_work_stream *init_slot(struct sy_work *work, unsigned slot, uint64_t handle, unsigned device,
                                        unsigned flags)
{
	struct sy_work_stream *stream = &work->streams[slot];

	STORE(stream->slot, (uint16_t)slot);
	STORE(stream->device, (uint8_t)device);
	STORE(stream->flags, (uint8_t)flags);
	STORE(stream->id, 0);
	STORE(stream->is_gone, false);
	STORE(stream->has_clock, false);
	STORE(stream->capture, 0);
	STORE(stream->merged_version, 0);
	STORE(stream->legacy_seen, 0);
	STORE(stream->legacy_clean, 0);
	__atomic_store_n(&stream->handle, handle, __ATOMIC_RELEASE);
	if (LOAD(work->n_slots) <= slot)
		STORE(work->n_slots, slot + 1);
	return stream;
}

/* A free slot, or one whose stream is gone and complete. Mutex held. */
static struct sy_work_stream *new_stream(struct sy_work *work, uint64_t handle, unsigned device, unsigned flags)
{
	for (unsigned slot = SY_WORK_DEVICES; slot < SY_WORK_STREAMS; slot++) {
		struct sy_work_stream *stream = &work->streams[slot];

		if (LOAD(stream->handle) && !(stream->is_gone && LOAD(stream->last) <= LOAD(stream->done)))
			continue;
		if (!(flags & SY_STREAM_NON_BLOCKING))
			__atomic_fetch_add(&work->n_blocking, 1, __ATOMIC_RELAXED);
		return init_slot(work, slot, handle, device, flags);
	}
	STORE(work->is_incomplete, true);
	return NULL;
}

static struct sy_work_stream *find(struct sy_work *work, uint64_t handle)
{
	unsigned n = LOAD(work->n_slots);

	for (unsigned slot = SY_WORK_DEVICES; slot < n; slot++)
		if (LOAD(work->streams[slot].handle) == handle && !LOAD(work->streams[slot].is_gone))
			return &work->streams[slot];
	return NULL;
}

static struct sy_work_stream *legacy_stream(struct sy_work *work, unsigned device)
{
	struct sy_work_stream *stream = &work->streams[device % SY_WORK_DEVICES];

	if (SY_UNLIKELY(!__atomic_load_n(&stream->handle, __ATOMIC_ACQUIRE))) {
		pthread_mutex_lock(&work->mutex);
		if (!stream->handle) {
			if (work->n_slots < SY_WORK_DEVICES)
				STORE(work->n_slots, SY_WORK_DEVICES);
			init_slot(work, device % SY_WORK_DEVICES, LEGACY_HANDLE, device, SY_STREAM_LEGACY);
		}
		pthread_mutex_unlock(&work->mutex);
	}
	return stream;
}

struct sy_work_stream *sy_work_stream_get(struct sy_work *work, uint64_t handle, unsigned device)
{
	struct sy_work_stream *stream;

	if (handle == 0 || handle == LEGACY_HANDLE)
		return legacy_stream(work, device);
	stream = find(work, handle);
	if (stream)
		return stream;
	/* Created before us or out of our sight: taken for blocking, which promises less. */
	pthread_mutex_lock(&work->mutex);
	stream = find(work, handle);
	if (!stream)
		stream = new_stream(work, handle, device, 0);
	pthread_mutex_unlock(&work->mutex);
	return stream;
}

struct sy_work_stream *sy_work_stream_per_thread(struct sy_work *work, unsigned device)
{
	struct sy_work_stream *stream;

	pthread_mutex_lock(&work->mutex);
	stream = new_stream(work, PER_THREAD_HANDLE, device, SY_STREAM_PER_THREAD);
	pthread_mutex_unlock(&work->mutex);
	return stream;
}

void sy_work_stream_create(struct sy_work *work, uint64_t handle, unsigned device, bool is_non_blocking)
{
	struct sy_work_stream *old;

	pthread_mutex_lock(&work->mutex);
	old = find(work, handle);
	if (old) {
		STORE(old->is_gone, true); /* destroyed out of our sight: the handle is a new stream's now */
		sy_work_close_runs_on(work, old);
	}
	new_stream(work, handle, device, is_non_blocking ? SY_STREAM_NON_BLOCKING : 0);
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_stream_destroy(struct sy_work *work, struct sy_work_stream *stream)
{
	if (stream->slot < SY_WORK_DEVICES)
		return;
	pthread_mutex_lock(&work->mutex);
	STORE(stream->is_gone, true);
	sy_work_close_runs_on(work, stream);
	pthread_mutex_unlock(&work->mutex);
}

/* Takes over what another stream is ordered after. Mutex held. */
static void merge_clock(struct sy_work *work, struct sy_work_stream *into, const struct sy_work_stream *from)
{
	if (!LOAD(from->has_clock))
		return;
	for (unsigned i = 0; i < LOAD(work->n_slots); i++)
		if (from->clock.upto[i] > into->clock.upto[i])
			into->clock.upto[i] = from->clock.upto[i];
	STORE(into->has_clock, true);
	__atomic_fetch_add(&into->clock_version, 1, __ATOMIC_RELAXED);
}

/* An operation on the legacy stream is ordered after all blocking streams, unless something there is half submitted. */
static void order_legacy(struct sy_work *work, const struct sy_work_stream *legacy, struct sy_work_op *op)
{
	op->legacy_seen = 0;
	op->legacy_clean = op->number;
	if (LOAD(work->n_blocking) == 0)
		return;
	for (unsigned i = SY_WORK_DEVICES; i < LOAD(work->n_slots); i++) {
		const struct sy_work_stream *other = &work->streams[i];

		if (is_blocking_peer(other, legacy) && __atomic_load_n(&other->n_in_flight, __ATOMIC_SEQ_CST) != 0)
			op->legacy_clean = 0;
	}
}

/* An operation on a blocking stream is ordered after the legacy stream, unless something there is half submitted. */
static void order_after_legacy(struct sy_work *work, const struct sy_work_stream *stream, struct sy_work_op *op)
{
	const struct sy_work_stream *legacy = &work->streams[LOAD(stream->device) % SY_WORK_DEVICES];
	uint64_t last = LOAD(legacy->last), clean = LOAD(legacy->clean);

	op->legacy_seen = op->legacy_clean = 0;
	if (__atomic_load_n(&legacy->n_in_flight, __ATOMIC_SEQ_CST) == 0) {
		op->legacy_seen = last;
		op->legacy_clean = clean < last ? clean : last;
	}
}

void sy_work_submit(struct sy_work *work, struct sy_work_stream *stream, struct sy_work_op *op)
{
	/* In flight before numbered, so that who sees the number either sees the flight too or comes after it. */
	__atomic_fetch_add(&stream->n_in_flight, 1, __ATOMIC_SEQ_CST);
	op->number = __atomic_add_fetch(&work->order, 1, __ATOMIC_SEQ_CST);
	if (LOAD(stream->flags) & SY_STREAM_LEGACY)
		order_legacy(work, stream, op);
	else if (!(LOAD(stream->flags) & SY_STREAM_NON_BLOCKING))
		order_after_legacy(work, stream, op);
	if (!(LOAD(stream->flags) & SY_STREAM_NON_BLOCKING) && LOAD(work->n_blocking) != 0)
		sy_work_close_runs_before(work, stream);
	op->previous = raise_to(&stream->last, op->number);
}

/* The legacy rule carries over what the streams before it have waited for. Rare: only if some clock has changed. */
static SY_COLD void merge_clocks(struct sy_work *work, struct sy_work_stream *stream, uint32_t version)
{
	bool is_legacy = (LOAD(stream->flags) & SY_STREAM_LEGACY) != 0;

	pthread_mutex_lock(&work->mutex);
	STORE(stream->merged_version, version);
	if (!is_legacy)
		merge_clock(work, stream, &work->streams[LOAD(stream->device) % SY_WORK_DEVICES]);
	for (unsigned i = SY_WORK_DEVICES; is_legacy && i < work->n_slots; i++)
		if (is_blocking_peer(&work->streams[i], stream))
			merge_clock(work, stream, &work->streams[i]);
	pthread_mutex_unlock(&work->mutex);
	if (!is_legacy)
		__atomic_fetch_add(&work->blocking_version, 1, __ATOMIC_RELAXED);
}

static void note_order(struct sy_work *work, struct sy_work_stream *stream, const struct sy_work_op *op)
{
	uint32_t version;

	if (LOAD(stream->flags) & SY_STREAM_NON_BLOCKING)
		return;
	if (LOAD(stream->flags) & SY_STREAM_LEGACY) {
		raise_to(&stream->clean, op->legacy_clean);
		version = LOAD(work->blocking_version);
	} else {
		raise_to(&stream->legacy_seen, op->legacy_seen);
		raise_to(&stream->legacy_clean, op->legacy_clean);
		version = LOAD(work->streams[LOAD(stream->device) % SY_WORK_DEVICES].clock_version);
	}
	if (SY_UNLIKELY(version != LOAD(stream->merged_version)))
		merge_clocks(work, stream, version);
}

void sy_work_submitted(struct sy_work *work, struct sy_work_stream *stream, const struct sy_work_op *op,
                       bool is_success)
{
	uint64_t expected = op->number;

	if (is_success)
		note_order(work, stream, op);
	else /* If somebody came after us the number stays, which only promises less. */
		__atomic_compare_exchange_n(&stream->last, &expected, op->previous, false, __ATOMIC_SEQ_CST,
		                            __ATOMIC_RELAXED);
	__atomic_fetch_sub(&stream->n_in_flight, 1, __ATOMIC_SEQ_CST);
}

void sy_work_capture_begin(struct sy_work *work, struct sy_work_stream *stream)
{
	pthread_mutex_lock(&work->mutex);
	STORE(stream->capture, __atomic_add_fetch(&work->n_captures, 1, __ATOMIC_RELAXED));
	sy_work_close_runs_on(work, stream);
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_capture_end(struct sy_work *work, const struct sy_work_stream *stream)
{
	uint32_t capture = LOAD(stream->capture);

	for (unsigned i = 0; capture && i < LOAD(work->n_slots); i++)
		if (LOAD(work->streams[i].capture) == capture)
			STORE(work->streams[i].capture, 0);
}
