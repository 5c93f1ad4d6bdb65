/* SPDX-License-Identifier: Apache-2.0 */
/* work_proof.c - what is pending, and what a returned call proves complete */
#include "interposer/compiler.h"
#include "interposer/work_internal.h"

#include <string.h>

bool sy_work_is_pending(struct sy_work *work, const struct sy_work_stream *stream)
{
	if (is_behind(stream) || SY_UNLIKELY(LOAD(work->is_incomplete)))
		return true;
	if (!(LOAD(stream->flags) & SY_STREAM_LEGACY) || LOAD(work->n_blocking) == 0)
		return false;
	for (unsigned i = SY_WORK_DEVICES; i < LOAD(work->n_slots); i++)
		if (is_blocking_peer(&work->streams[i], stream) && is_behind(&work->streams[i]))
			return true;
	return false;
}

bool sy_work_is_op_pending(struct sy_work *work, const struct sy_work_stream *stream)
{
	if (sy_work_is_pending(work, stream))
		return true;
	return !(LOAD(stream->flags) & (SY_STREAM_LEGACY | SY_STREAM_NON_BLOCKING)) &&
	       is_behind(&work->streams[LOAD(stream->device) % SY_WORK_DEVICES]);
}

bool sy_work_is_device_pending(struct sy_work *work, unsigned device)
{
	if (SY_UNLIKELY(LOAD(work->is_incomplete)))
		return true;
	for (unsigned i = 0; i < LOAD(work->n_slots); i++) {
		const struct sy_work_stream *stream = &work->streams[i];

		if (LOAD(stream->handle) && LOAD(stream->device) == device && is_behind(stream))
			return true;
	}
	return false;
}

/* Notes, after `upto` was read, on which streams nothing is half submitted; from slot `first` on. */
static void note_quiet(struct sy_work *work, unsigned first, struct sy_work_cover *cover)
{
	memset(cover->quiet, 0, sizeof(cover->quiet));
	for (unsigned i = first; i < LOAD(work->n_slots); i++) {
		const struct sy_work_stream *stream = &work->streams[i];

		if (LOAD(stream->handle) && __atomic_load_n(&stream->n_in_flight, __ATOMIC_SEQ_CST) == 0)
			cover->quiet[i / 64] |= 1ull << i % 64;
	}
}

static void merge_into_cover(struct sy_work *work, const struct sy_work_clock *clock, struct sy_work_cover *cover)
{
	if (!cover->has_clock)
		memset(&cover->clock, 0, sizeof(cover->clock));
	cover->has_clock = true;
	for (unsigned i = 0; i < LOAD(work->n_slots); i++)
		if (clock->upto[i] > cover->clock.upto[i])
			cover->clock.upto[i] = clock->upto[i];
}

/* The clocks of the stream, and (`with_legacy`) of those that an operation on it now is implicitly ordered after. */
static void copy_clocks(struct sy_work *work, const struct sy_work_stream *stream, bool with_legacy,
                        struct sy_work_cover *cover)
{
	const struct sy_work_stream *legacy = &work->streams[LOAD(stream->device) % SY_WORK_DEVICES];
	bool with_peers = (LOAD(stream->flags) & SY_STREAM_LEGACY) && LOAD(work->blocking_version) != 0;

	with_legacy = with_legacy && !(LOAD(stream->flags) & SY_STREAM_NON_BLOCKING) && LOAD(legacy->has_clock);
	if (!LOAD(stream->has_clock) && !with_peers && !with_legacy)
		return;
	pthread_mutex_lock(&work->mutex);
	if (LOAD(stream->has_clock))
		merge_into_cover(work, &stream->clock, cover);
	if (with_legacy)
		merge_into_cover(work, &legacy->clock, cover);
	for (unsigned i = SY_WORK_DEVICES; with_peers && i < work->n_slots; i++)
		if (is_blocking_peer(&work->streams[i], stream) && LOAD(work->streams[i].has_clock))
			merge_into_cover(work, &work->streams[i].clock, cover);
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_cover_stream(struct sy_work *work, const struct sy_work_stream *stream, struct sy_work_cover *cover)
{
	bool is_legacy = (LOAD(stream->flags) & SY_STREAM_LEGACY) != 0;

	cover->scope = SY_COVER_STREAM;
	cover->stream = stream;
	cover->has_clock = false;
	cover->upto = __atomic_load_n(is_legacy ? &work->order : &stream->last, __ATOMIC_SEQ_CST);
	cover->legacy_seen = LOAD(stream->legacy_seen);
	cover->legacy_clean = LOAD(stream->legacy_clean);
	copy_clocks(work, stream, false, cover);
	cover->is_clean = __atomic_load_n(&stream->n_in_flight, __ATOMIC_SEQ_CST) == 0;
	if (is_legacy) /* itself by is_clean; the streams of the other devices are not asked for */
		note_quiet(work, SY_WORK_DEVICES, cover);
}

void sy_work_cover_op(struct sy_work *work, const struct sy_work_stream *stream, const struct sy_work_op *op,
                      struct sy_work_cover *cover)
{
	bool is_ordered = !(LOAD(stream->flags) & SY_STREAM_NON_BLOCKING);

	cover->scope = SY_COVER_OP;
	cover->stream = stream;
	cover->has_clock = false;
	cover->upto = op->number;
	cover->legacy_seen = is_ordered ? op->legacy_seen : 0;
	cover->legacy_clean = is_ordered ? op->legacy_clean : 0;
	copy_clocks(work, stream, true, cover);
	cover->is_clean = __atomic_load_n(&stream->n_in_flight, __ATOMIC_SEQ_CST) == (op->number != 0);
}

void sy_work_cover_device(struct sy_work *work, unsigned device, struct sy_work_cover *cover)
{
	cover->scope = SY_COVER_DEVICE;
	cover->stream = &work->streams[device % SY_WORK_DEVICES];
	cover->has_clock = false;
	cover->is_clean = true;
	cover->upto = __atomic_load_n(&work->order, __ATOMIC_SEQ_CST);
	note_quiet(work, 0, cover);
}

static void certify_quiet(struct sy_work *work, const struct sy_work_cover *cover)
{
	bool is_device = cover->scope == SY_COVER_DEVICE;

	if (!is_device)
		raise_to(&work->streams[LOAD(cover->stream->slot)].done, cover->upto);
	for (unsigned i = is_device ? 0 : SY_WORK_DEVICES; i < LOAD(work->n_slots); i++) {
		struct sy_work_stream *stream = &work->streams[i];

		if (!(cover->quiet[i / 64] >> i % 64 & 1) || !LOAD(stream->handle))
			continue;
		if (cover->scope == SY_COVER_DEVICE
		            ? LOAD(stream->device) == LOAD(cover->stream->device)
		            : stream == cover->stream || is_blocking_peer(stream, cover->stream))
			raise_to(&stream->done, cover->upto);
	}
}

/* A prefix of one stream, and through the legacy rule of the legacy stream and of its peers. */
static void certify_prefix(struct sy_work *work, const struct sy_work_cover *cover)
{
	struct sy_work_stream *legacy = &work->streams[LOAD(cover->stream->device) % SY_WORK_DEVICES];

	raise_to(&work->streams[LOAD(cover->stream->slot)].done, cover->upto);
	if (LOAD(cover->stream->flags) & SY_STREAM_NON_BLOCKING)
		return;
	raise_to(&legacy->done, cover->legacy_seen);
	for (unsigned i = SY_WORK_DEVICES; cover->legacy_clean && i < LOAD(work->n_slots); i++)
		if (is_blocking_peer(&work->streams[i], legacy))
			raise_to(&work->streams[i].done, cover->legacy_clean);
}

void sy_work_certify(struct sy_work *work, const struct sy_work_cover *cover)
{
	if (cover->scope == SY_COVER_NOTHING || !cover->is_clean)
		return;
	if (cover->scope == SY_COVER_DEVICE ||
	    (cover->scope == SY_COVER_STREAM && (LOAD(cover->stream->flags) & SY_STREAM_LEGACY)))
		certify_quiet(work, cover);
	else
		certify_prefix(work, cover);
	for (unsigned i = 0; cover->has_clock && i < LOAD(work->n_slots); i++)
		raise_to(&work->streams[i].done, cover->clock.upto[i]);
}
