/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/event.h"

#include <stdint.h>
#include <stdlib.h>

#include "sim/clock.h"
#include "sim/lock.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"

/* Like stream handles: no addresses, the same in every run. */
#define HANDLE_BASE ((uintptr_t)0x5200000000)
#define HANDLE_STEP ((uintptr_t)0x80)

struct sim_event {
	unsigned flags;
	unsigned next_free; /* while dead: 1 + index of the next dead one */
	bool is_live;
	bool is_recorded;
	uint64_t complete_ns;
	struct sim_vector covers; /* what the last record is ordered after, itself included */
};

static struct {
	struct sim_event *at;
	unsigned n;
	unsigned capacity;
	unsigned first_free; /* 1 + index, 0 if none */
} events;

static struct sim_event *find(CUevent handle)
{
	uintptr_t distance = (uintptr_t)handle - HANDLE_BASE;

	if (distance % HANDLE_STEP != 0 || distance / HANDLE_STEP >= events.n)
		return NULL;
	struct sim_event *event = &events.at[distance / HANDLE_STEP];
	return event->is_live ? event : NULL;
}

static struct sim_event *new_event(void)
{
	if (events.first_free) {
		struct sim_event *event = &events.at[events.first_free - 1];
		events.first_free = event->next_free;
		return event;
	}
	if (events.n == events.capacity) {
		unsigned capacity = events.capacity ? 2 * events.capacity : 64;
		struct sim_event *at = realloc(events.at, capacity * sizeof *at);
		if (!at)
			return NULL;
		events.at = at;
		events.capacity = capacity;
	}
	events.at[events.n] = (struct sim_event){ 0 };
	return &events.at[events.n++];
}

CUresult sim_event_create(CUevent *handle, unsigned flags)
{
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	sim_lock();
	struct sim_event *event = new_event();
	if (event) {
		event->flags = flags;
		event->is_live = true;
		event->is_recorded = false;
		*handle = (CUevent)(HANDLE_BASE + (uintptr_t)(event - events.at) * HANDLE_STEP);
		result = CUDA_SUCCESS;
	}
	sim_unlock();
	return result;
}

CUresult sim_event_destroy(CUevent handle)
{
	sim_lock();
	struct sim_event *event = find(handle);
	if (event) {
		sim_vector_free(&event->covers);
		event->is_live = false;
		event->next_free = events.first_free;
		events.first_free = 1 + (unsigned)(event - events.at);
	}
	sim_unlock();
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_event_record(CUevent handle, CUstream stream_handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(stream_handle, sim_scope_is_per_thread());
	if (stream && find(handle)) {
		sim_scope_note_stream(stream, stream_handle);
		result = sim_timeline_submit(stream, 0, NULL);
		/* Submitting may have let the lock go: look again. */
		struct sim_event *event = find(handle);
		if (result == CUDA_SUCCESS && event) {
			event->is_recorded = true;
			event->complete_ns = stream->ready_ns;
			if (!sim_vector_copy(&event->covers, &stream->covers))
				result = CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	sim_unlock();
	return result;
}

CUresult sim_stream_wait_event(CUstream stream_handle, CUevent handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(stream_handle, sim_scope_is_per_thread());
	const struct sim_event *event = find(handle);
	if (stream && event) {
		sim_scope_note_stream(stream, stream_handle);
		result = CUDA_SUCCESS;
		/* An event that was never recorded is no reason to wait; the wait is submitted all the same. */
		if (event->is_recorded) {
			sim_timeline_delay(stream, event->complete_ns);
			if (!sim_vector_merge(&stream->covers, &event->covers))
				result = CUDA_ERROR_OUT_OF_MEMORY;
		}
		if (result == CUDA_SUCCESS)
			result = sim_timeline_submit(stream, 0, NULL);
	}
	sim_unlock();
	return result;
}

CUresult sim_event_elapsed(float *ms, CUevent start_handle, CUevent end_handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	const struct sim_event *start = find(start_handle), *end = find(end_handle);
	if (start && end && start->is_recorded && end->is_recorded &&
	    !((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)) {
		uint64_t now = sim_clock_now();
		result = start->complete_ns > now || end->complete_ns > now ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
		if (result == CUDA_SUCCESS)
			*ms = (float)((double)(int64_t)(end->complete_ns - start->complete_ns) / 1e6);
	}
	sim_unlock();
	return result;
}

CUresult sim_event_sync(CUevent handle)
{
	struct sim_vector covered = { 0 };

	sim_lock();
	sim_scope_note_event(handle);
	const struct sim_event *event = find(handle);
	if (event && event->is_recorded) {
		uint64_t until_ns = event->complete_ns;
		sim_scope_note_pending(sim_streams_exceed_certified(&event->covers));
		bool has_snapshot = sim_vector_copy(&covered, &event->covers);
		sim_timeline_wait(until_ns);
		if (has_snapshot)
			sim_streams_certify(&covered);
	}
	sim_unlock();
	sim_vector_free(&covered);
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_event_query(CUevent handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	sim_scope_note_event(handle);
	uint64_t now = sim_timeline_catch_up_locked();
	const struct sim_event *event = find(handle);
	if (event) {
		result = CUDA_SUCCESS;
		if (event->is_recorded && event->complete_ns > now)
			result = CUDA_ERROR_NOT_READY;
		else if (event->is_recorded)
			sim_streams_certify(&event->covers);
	}
	sim_unlock();
	return result;
}
