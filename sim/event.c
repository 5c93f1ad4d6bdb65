/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/event.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/capture.h"
#include "sim/clock.h"
#include "sim/event_share.h"
#include "sim/lock.h"
#include "sim/open.h"
#include "sim/pool.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"

/* Like stream handles: no addresses, the same in every run. */
#define HANDLE_BASE ((uintptr_t)0x5200000000)
#define HANDLE_STEP ((uintptr_t)0x80)

struct sim_event {
	const struct sim_device *device; /* whose streams may record it */
	unsigned flags;
	unsigned next_free; /* while dead: 1 + index of the next dead one */
	bool is_live;
	bool is_recorded;
	uint64_t complete_ns;     /* SIM_OPEN_NS: not known yet */
	uint64_t n_records;       /* of this entry, whatever event it was for */
	struct sim_vector covers; /* what the last record is ordered after, itself included */
	/*
	 * Recorded by a graph: the operation it is inside of counts as covered when
	 * asked what is pending, but the event proves nothing about it.
	 */
	bool is_inside;
	unsigned inside_slot;
	struct sim_event_page *page; /* shared with other processes; NULL if not */
	int page_fd;
	uint64_t n_seen;              /* records of the page that this entry knows */
	struct sim_capture_mark mark; /* recorded in a capturing stream; then it is no record at all */
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

CUresult sim_event_create_locked(CUevent *handle, unsigned flags)
{
	struct sim_event *event = new_event();

	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->device = sim_device_current();
	event->flags = flags;
	event->is_live = true;
	event->is_recorded = false;
	*handle = (CUevent)(HANDLE_BASE + (uintptr_t)(event - events.at) * HANDLE_STEP);
	return CUDA_SUCCESS;
}

CUresult sim_event_create(CUevent *handle, unsigned flags)
{
	sim_lock();
	CUresult result = sim_event_create_locked(handle, flags);
	sim_unlock();
	return result;
}

CUresult sim_event_shared_file(CUevent handle, int *fd)
{
	const struct sim_event *event = find(handle);

	if (!event || !(event->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	*fd = event->page ? event->page_fd : -1;
	return CUDA_SUCCESS;
}

/* What this process has recorded becomes known to the others. */
static void publish(struct sim_event *event)
{
	if (!event->page || !event->is_recorded || event->complete_ns == SIM_OPEN_NS)
		return;
	atomic_store(&event->page->complete_ns, event->complete_ns);
	event->n_seen = 1 + atomic_fetch_add(&event->page->n_records, 1);
}

CUresult sim_event_share(CUevent handle, struct sim_event_page *page, int fd)
{
	struct sim_event *event = find(handle);

	event->page = page;
	event->page_fd = fd;
	publish(event);
	return CUDA_SUCCESS;
}

/* What another process has recorded since. */
static void look_at_page(struct sim_event *event)
{
	uint64_t n_records = event && event->page ? atomic_load(&event->page->n_records) : 0;

	if (!n_records || n_records == event->n_seen)
		return;
	event->n_seen = n_records;
	event->is_recorded = true;
	event->is_inside = false;
	event->complete_ns = atomic_load(&event->page->complete_ns);
	sim_vector_free(&event->covers);
}

CUresult sim_event_destroy(CUevent handle)
{
	sim_lock();
	struct sim_event *event = find(handle);
	if (event) {
		sim_vector_free(&event->covers);
		sim_capture_unmark(&event->mark);
		if (event->page) {
			munmap(event->page, sizeof *event->page);
			close(event->page_fd);
			event->page = NULL;
			event->n_seen = 0;
		}
		event->is_live = false;
		event->next_free = events.first_free;
		events.first_free = 1 + (unsigned)(event - events.at);
	}
	sim_unlock();
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The event stands for the stream as it is now, or for its last operation up to some time. */
static CUresult note_record(struct sim_event *event, const struct sim_stream *stream, const struct sim_span *inside)
{
	uint64_t complete_ns = sim_stream_completion(stream, stream->n_submitted);
	struct sim_tell tell = { (unsigned)(event - events.at), ++event->n_records, 0, inside == NULL };

	if (inside)
		tell.after_ns = inside->duration_ns;
	if (complete_ns == SIM_OPEN_NS && !sim_open_tell(stream, &tell))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (inside && complete_ns != SIM_OPEN_NS)
		complete_ns = inside->start_ns + inside->duration_ns;
	sim_capture_unmark(&event->mark);
	event->is_recorded = true;
	event->is_inside = false;
	event->complete_ns = complete_ns;
	return sim_vector_copy(&event->covers, &stream->covers) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* In a capture a record only names a point of the stream, unless it is wanted as a node. */
static CUresult record_captured(struct sim_event *event, struct sim_stream *stream, CUevent handle, bool is_node)
{
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = handle };
	bool is_captured;

	if (is_node || !sim_capture_is_valid(stream))
		return sim_capture_submit(stream, &node, &is_captured);
	return sim_capture_mark(stream, &event->mark) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult record_on(struct sim_stream *stream, CUevent handle, unsigned flags)
{
	struct sim_event *event = find(handle);
	bool is_captured;

	if (sim_is_capturing(stream))
		return record_captured(event, stream, handle, flags & CU_EVENT_RECORD_EXTERNAL);
	CUresult result = sim_capture_submit(stream, NULL, &is_captured);
	if (result == CUDA_SUCCESS)
		result = sim_timeline_submit(stream, 0, NULL);
	/* Submitting may have let the lock go: look again. */
	event = find(handle);
	if (result == CUDA_SUCCESS && event)
		result = note_record(event, stream, NULL);
	if (result != CUDA_SUCCESS || !event || !event->page || event->complete_ns == SIM_OPEN_NS)
		return result;
	/* Who waits for it in another process must find the bytes there, whatever this one does next. */
	sim_timeline_run_ahead(event->complete_ns);
	event = find(handle);
	if (event)
		publish(event);
	return result;
}

CUresult sim_event_record(CUevent handle, CUstream stream_handle, unsigned flags)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(stream_handle, sim_scope_is_per_thread());
	const struct sim_event *event = find(handle);
	if (stream && event && event->device == stream->device) {
		sim_scope_note_stream(stream, stream_handle);
		result = record_on(stream, handle, flags);
	}
	sim_unlock();
	return result;
}

bool sim_event_exists(CUevent handle)
{
	return find(handle) != NULL;
}

/* What the event is ordered after, without the graph that it is in the middle of. */
static bool copy_proof(struct sim_vector *into, const struct sim_event *event)
{
	if (!sim_vector_copy(into, &event->covers))
		return false;
	if (event->is_inside)
		into->at[event->inside_slot]--;
	return true;
}

CUresult sim_event_proof(CUevent handle, struct sim_vector *covers, uint64_t *until_ns)
{
	struct sim_event *event = find(handle);
	struct sim_vector proof = { 0 };

	*until_ns = 0;
	look_at_page(event);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->mark.capture)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (!event->is_recorded)
		return CUDA_SUCCESS;
	/* What is open is waited for by what is covered. */
	if (event->complete_ns != SIM_OPEN_NS)
		*until_ns = event->complete_ns;
	bool is_fine = copy_proof(&proof, event) && sim_vector_merge(covers, &proof);
	sim_vector_free(&proof);
	return is_fine ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_event_record_in_graph(CUevent handle, const struct sim_stream *stream, const struct sim_span *until)
{
	struct sim_event *event = find(handle);
	/* An event destroyed since the graph was made is not recorded. */
	CUresult result = event ? note_record(event, stream, until) : CUDA_SUCCESS;

	if (event) {
		event->is_inside = true;
		event->inside_slot = stream->slot;
	}
	return result;
}

void sim_event_settle(unsigned index, uint64_t record, uint64_t complete_ns)
{
	if (events.at[index].n_records == record)
		events.at[index].complete_ns = complete_ns;
	if (events.at[index].n_records == record)
		publish(&events.at[index]);
}

static CUresult wait_on(struct sim_stream *stream, CUevent handle, unsigned flags)
{
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = handle };
	const struct sim_event *event = find(handle);
	uint64_t until_ns;
	bool is_captured;

	if (event->mark.capture)
		return sim_capture_join(stream, &event->mark);
	if (sim_is_capturing(stream) && sim_capture_is_valid(stream) && !(flags & CU_EVENT_WAIT_EXTERNAL)) {
		sim_capture_invalidate(stream);
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	CUresult result = sim_capture_submit(stream, &node, &is_captured);
	if (result != CUDA_SUCCESS || is_captured)
		return result;
	/* An event that was never recorded is no reason to wait; the wait is submitted all the same. */
	result = sim_event_proof(handle, &stream->covers, &until_ns);
	if (result != CUDA_SUCCESS)
		return result;
	sim_timeline_delay(stream, until_ns);
	return sim_timeline_submit(stream, 0, NULL);
}

CUresult sim_stream_wait_event(CUstream stream_handle, CUevent handle, unsigned flags)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(stream_handle, sim_scope_is_per_thread());
	if (stream && find(handle)) {
		sim_scope_note_stream(stream, stream_handle);
		result = wait_on(stream, handle, flags);
	}
	sim_unlock();
	return result;
}

CUresult sim_event_elapsed(float *ms, CUevent start_handle, CUevent end_handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	const struct sim_event *start = find(start_handle), *end = find(end_handle);
	if (start && start->mark.capture) {
		result = sim_capture_wait_mark(&start->mark);
	} else if (end && end->mark.capture) {
		result = sim_capture_wait_mark(&end->mark);
	} else if (start && end && start->device == end->device && start->is_recorded && end->is_recorded &&
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
	struct sim_event *event = find(handle);
	look_at_page(event);
	CUresult result = event ? sim_capture_wait_mark(&event->mark) : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && event->is_recorded) {
		uint64_t until_ns = event->complete_ns == SIM_OPEN_NS ? 0 : event->complete_ns;
		sim_scope_note_pending(sim_streams_exceed_certified(&event->covers) ||
		                       (event->page && until_ns > sim_clock_now()));
		bool has_snapshot = copy_proof(&covered, event);
		result = sim_timeline_wait_for(&covered, until_ns);
		if (has_snapshot)
			sim_streams_certify(&covered);
		sim_pools_settle();
	}
	sim_unlock();
	sim_vector_free(&covered);
	return result;
}

/* Before a query. */
static void linger(CUevent handle)
{
	const struct sim_event *event = find(handle);
	struct sim_vector covered = { 0 };

	if (!event || !event->is_recorded || event->complete_ns != SIM_OPEN_NS)
		return;
	if (sim_vector_copy(&covered, &event->covers))
		sim_open_linger(&covered);
	sim_vector_free(&covered);
}

CUresult sim_event_query(CUevent handle)
{
	struct sim_vector covered = { 0 };

	sim_lock();
	sim_scope_note_event(handle);
	linger(handle);
	uint64_t now = sim_timeline_catch_up_locked();
	struct sim_event *event = find(handle);
	look_at_page(event);
	CUresult result = event ? sim_capture_wait_mark(&event->mark) : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && event->is_recorded) {
		result = sim_open_failure();
		if (event->complete_ns > now)
			result = CUDA_ERROR_NOT_READY;
		else if (copy_proof(&covered, event))
			sim_streams_certify(&covered);
	}
	sim_unlock();
	sim_vector_free(&covered);
	return result;
}
