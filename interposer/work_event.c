/* SPDX-License-Identifier: Apache-2.0 */
/* work_event.c - events: a point of one stream that another stream or the host can wait for */
#include "interposer/work_internal.h"

#include <stddef.h>
#include <string.h>

static uint32_t home_of(uint64_t handle)
{
	return (uint32_t)((handle * 0x9e3779b97f4a7c15ull) >> 48) % SY_WORK_EVENTS;
}

/* Mutex held, as for all static functions here. */
static struct sy_work_event *find(struct sy_work *work, uint64_t handle)
{
	for (uint32_t i = home_of(handle), n = 0; n < SY_WORK_EVENTS; i = (i + 1) % SY_WORK_EVENTS, n++) {
		if (work->events[i].handle == handle)
			return &work->events[i];
		if (!work->events[i].handle)
			return NULL;
	}
	return NULL;
}

static struct sy_work_event *find_or_add(struct sy_work *work, uint64_t handle)
{
	for (uint32_t i = home_of(handle), n = 0; n < SY_WORK_EVENTS; i = (i + 1) % SY_WORK_EVENTS, n++) {
		if (work->events[i].handle == handle)
			return &work->events[i];
		if (!work->events[i].handle) {
			work->events[i] = (struct sy_work_event){ .handle = handle };
			return &work->events[i];
		}
	}
	return NULL;
}

static void free_clock(struct sy_work *work, struct sy_work_event *event)
{
	if (!event->clock)
		return;
	work->clocks[event->clock - 1].upto[0] = work->free_clocks;
	work->free_clocks = event->clock;
	event->clock = 0;
}

/* Without room the event simply proves less. */
static void keep_clock(struct sy_work *work, struct sy_work_event *event, const struct sy_work_clock *clock)
{
	if (work->free_clocks) {
		event->clock = work->free_clocks;
		work->free_clocks = (uint16_t)work->clocks[event->clock - 1].upto[0];
	} else if (work->n_clocks < SY_WORK_CLOCKS) {
		event->clock = (uint16_t)++work->n_clocks;
	} else {
		return;
	}
	work->clocks[event->clock - 1] = *clock;
}

/* Takes an entry out and closes the gap, so that searches can stop at an empty slot. */
static void remove_entry(struct sy_work *work, struct sy_work_event *event)
{
	uint32_t hole = (uint32_t)(event - work->events);

	free_clock(work, event);
	for (uint32_t i = (hole + 1) % SY_WORK_EVENTS; work->events[i].handle; i = (i + 1) % SY_WORK_EVENTS) {
		uint32_t home = home_of(work->events[i].handle);

		if ((i - home) % SY_WORK_EVENTS >= (i - hole) % SY_WORK_EVENTS) {
			work->events[hole] = work->events[i];
			hole = i;
		}
	}
	work->events[hole].handle = 0;
}

void sy_work_event_record(struct sy_work *work, uint64_t handle, const struct sy_work_op *op,
                          const struct sy_work_cover *cover)
{
	struct sy_work_event *event;

	pthread_mutex_lock(&work->mutex);
	event = handle ? find_or_add(work, handle) : NULL;
	if (event) {
		free_clock(work, event);
		event->number = op->number;
		event->clean = cover->is_clean ? op->number : 0;
		event->legacy_seen = cover->legacy_seen;
		event->legacy_clean = cover->legacy_clean;
		event->capture = LOAD(cover->stream->capture);
		event->stream = LOAD(cover->stream->slot);
		if (cover->has_clock)
			keep_clock(work, event, &cover->clock);
	}
	pthread_mutex_unlock(&work->mutex);
}

/* Raises what `stream` is ordered after by everything the event covers. */
static void order_after_event(struct sy_work *work, struct sy_work_stream *stream, const struct sy_work_event *event)
{
	const struct sy_work_stream *from = &work->streams[event->stream];
	const struct sy_work_stream *legacy = &work->streams[LOAD(from->device) % SY_WORK_DEVICES];
	uint64_t *upto = stream->clock.upto;

	if (event->clean > upto[event->stream])
		upto[event->stream] = event->clean;
	if (event->clean && event->legacy_seen > upto[LOAD(legacy->slot)])
		upto[LOAD(legacy->slot)] = event->legacy_seen;
	for (unsigned i = 0; i < LOAD(work->n_slots); i++) {
		uint64_t covered = event->clock ? work->clocks[event->clock - 1].upto[i] : 0;

		if (event->clean && event->legacy_clean > covered && is_blocking_peer(&work->streams[i], legacy))
			covered = event->legacy_clean;
		if (covered > upto[i])
			upto[i] = covered;
	}
	STORE(stream->has_clock, true);
	__atomic_fetch_add(&stream->clock_version, 1, __ATOMIC_RELAXED);
	if (!(LOAD(stream->flags) & SY_STREAM_NON_BLOCKING))
		__atomic_fetch_add(&work->blocking_version, 1, __ATOMIC_RELAXED);
}

/* A capture that has ended takes no more streams: then somebody recorded the event again out of our sight. */
static bool is_going_on(struct sy_work *work, uint32_t capture)
{
	for (unsigned i = 0; i < LOAD(work->n_slots); i++)
		if (LOAD(work->streams[i].capture) == capture)
			return true;
	return false;
}

static void join_capture(struct sy_work *work, struct sy_work_stream *stream, uint32_t capture)
{
	STORE(stream->capture, capture);
	sy_work_close_runs_on(work, stream);
}

void sy_work_event_wait(struct sy_work *work, struct sy_work_stream *stream, uint64_t handle)
{
	struct sy_work_event *event;

	pthread_mutex_lock(&work->mutex);
	event = find(work, handle);
	if (event && event->capture && is_going_on(work, event->capture))
		join_capture(work, stream, event->capture);
	else if (event && event->number)
		order_after_event(work, stream, event);
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_event_forget(struct sy_work *work, uint64_t handle)
{
	struct sy_work_event *event;

	pthread_mutex_lock(&work->mutex);
	event = find(work, handle);
	if (event)
		remove_entry(work, event);
	pthread_mutex_unlock(&work->mutex);
}

bool sy_work_cover_event(struct sy_work *work, uint64_t handle, struct sy_work_cover *cover)
{
	const struct sy_work_event *event;
	bool is_pending = false;

	cover->scope = SY_COVER_NOTHING;
	pthread_mutex_lock(&work->mutex);
	event = find(work, handle);
	if (event && event->capture) {
		/* Only a record that a graph makes can be waited for, and when it did we are not told. */
		is_pending = true;
	} else if (event && event->number) {
		cover->scope = SY_COVER_EVENT;
		cover->stream = &work->streams[event->stream];
		cover->upto = event->clean;
		cover->is_clean = event->clean != 0;
		cover->legacy_seen = event->legacy_seen;
		cover->legacy_clean = event->legacy_clean;
		cover->has_clock = event->clock != 0;
		if (event->clock)
			cover->clock = work->clocks[event->clock - 1];
		is_pending = event->number > LOAD(cover->stream->done);
	}
	pthread_mutex_unlock(&work->mutex);
	return is_pending;
}
