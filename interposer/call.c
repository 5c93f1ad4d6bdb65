/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/call.h"

#include "interposer/classify.h"
#include "interposer/clock.h"
#include "interposer/launch.h"
#include "interposer/site.h"
#include "interposer/state.h"
#include "interposer/step.h"

bool sy_call_begin(struct sy_call *call, enum sy_api api, const void *caller)
{
	struct sy_state *state = sy_state;
	struct sy_thread *thread;

	if (sy_call_own.depth++ != 0 || sy_launch_is_inside() || SY_UNLIKELY(!state))
		return false;
	thread = sy_thread_get(state);
	if (SY_UNLIKELY(!thread)) {
		if (sy_class_desc[sy_api_desc[api].class].is_recorded)
			sy_state_discard(state);
		return false;
	}
	call->stream = call->event = call->dst = call->src = call->bytes = 0;
	call->out = NULL;
	call->out_pitch = NULL;
	call->direction = SY_ANY;
	call->class = (uint8_t)sy_api_desc[api].class;
	call->src_memory = call->dst_memory = SY_MEMORY_UNKNOWN;
	call->api = api;
	call->caller = caller;
	call->thread = thread;
	call->record = NULL;
	call->on = NULL;
	call->op.number = 0;
	call->cover.scope = SY_COVER_NOTHING;
	call->begin_ticks = 0;
	return true;
}

/* The stream a call names, with the meaning of "0" in this spelling and on this thread's device. */
static struct sy_work_stream *stream_of(const struct sy_call *call)
{
	struct sy_work *work = &sy_state->work;
	struct sy_thread *thread = call->thread;
	bool is_default_per_thread = sy_api_desc[call->api].is_per_thread && call->stream == 0;

	if (is_default_per_thread || call->stream == (uint64_t)(uintptr_t)cudaStreamPerThread) {
		if (SY_UNLIKELY(!thread->per_thread_stream))
			thread->per_thread_stream = sy_work_stream_per_thread(work, thread->device);
		return thread->per_thread_stream;
	}
	/* The slot may be another stream's by now, and the handle a new stream's. */
	if (SY_LIKELY(thread->stream && thread->stream_handle == call->stream &&
	              __atomic_load_n(&thread->stream->handle, __ATOMIC_RELAXED) == thread->slot_handle &&
	              !__atomic_load_n(&thread->stream->is_gone, __ATOMIC_RELAXED) &&
	              __atomic_load_n(&thread->stream->device, __ATOMIC_RELAXED) == thread->device))
		return thread->stream;
	thread->stream = sy_work_stream_get(work, call->stream, thread->device);
	thread->stream_handle = call->stream;
	thread->slot_handle = thread->stream ? thread->stream->handle : 0;
	return thread->stream;
}

static enum sy_memory kind_of(uint64_t address, bool is_host_end)
{
	enum sy_memory kind = address ? sy_memory_kind(&sy_state->memory, address) : SY_MEMORY_UNKNOWN;

	/* Memory we never saw allocated: pageable if the call says host, and device if it says device. */
	if (kind == SY_MEMORY_UNKNOWN)
		kind = is_host_end ? SY_MEMORY_PAGEABLE : SY_MEMORY_DEVICE;
	return kind;
}

static void find_memory(struct sy_call *call)
{
	bool is_any = call->direction >= SY_ANY;

	call->src_memory =
		(uint8_t)kind_of(call->src, is_any || call->direction == SY_H2H || call->direction == SY_H2D);
	call->dst_memory =
		(uint8_t)kind_of(call->dst, is_any || call->direction == SY_H2H || call->direction == SY_D2H);
	if (is_any)
		call->direction = (uint8_t)sy_classify_direction(call->src_memory, call->dst_memory);
}

/* A stream that captures executes nothing, so there is nothing on it to wait for. */
static bool is_capturing(const struct sy_call *call)
{
	return call->on && SY_UNLIKELY(__atomic_load_n(&call->on->capture, __ATOMIC_RELAXED));
}

/* Submits what the call submits; `completion`: what its return will prove. */
static void submit(struct sy_call *call, enum sy_completion completion)
{
	struct sy_work *work = &sy_state->work;

	if (!call->on || is_capturing(call))
		return;
	if (completion == SY_COMPLETES_BEFORE)
		sy_work_cover_stream(work, call->on, &call->cover);
	sy_work_submit(work, call->on, &call->op);
	if (completion == SY_COMPLETES_ITSELF)
		sy_work_cover_op(work, call->on, &call->op, &call->cover);
}

/* What the call would wait for, itself not counted. A stream we cannot follow may always have work. */
static bool enter_transfer(struct sy_call *call)
{
	bool is_set = call->class == SY_SET_SYNC || call->class == SY_SET_ASYNC;
	bool is_pending = !call->on || (!is_capturing(call) && sy_work_is_op_pending(&sy_state->work, call->on));

	if (is_set) {
		call->dst_memory = (uint8_t)kind_of(call->dst, false);
		submit(call, sy_classify_set(call->class == SY_SET_SYNC, call->dst_memory));
	} else {
		find_memory(call);
		submit(call, sy_classify_copy(call->class == SY_COPY_SYNC, call->direction, call->src_memory,
		                              call->dst_memory));
	}
	return is_pending;
}

static bool enter_stream_wait(struct sy_call *call)
{
	if (!call->on || is_capturing(call))
		return !call->on;
	sy_work_cover_stream(&sy_state->work, call->on, &call->cover);
	return sy_work_is_pending(&sy_state->work, call->on);
}

/* Memory that ends may be somebody else's before the call has returned: it leaves the map first. */
static bool enter_free(struct sy_call *call)
{
	struct sy_memory_range range = { 0, 0, SY_MEMORY_UNKNOWN };

	if (call->dst)
		range = sy_memory_remove(&sy_state->memory, call->dst);
	call->bytes = range.end - range.start;
	call->src_memory = (uint8_t)range.kind;
	return sy_work_is_device_pending(&sy_state->work, call->thread->device);
}

/* What only submits, and what an event will cover of it. */
static bool enter_submit(struct sy_call *call)
{
	submit(call, SY_COMPLETES_NOTHING);
	if (call->class == SY_RECORD && call->on)
		sy_work_cover_op(&sy_state->work, call->on, &call->op, &call->cover);
	else if (call->class == SY_FREE_ORDERED)
		(void)enter_free(call);
	return false;
}

/* What names an event or nothing at all. */
static bool enter_other(struct sy_call *call)
{
	struct sy_work *work = &sy_state->work;

	switch ((enum sy_class)call->class) {
	case SY_WAIT_EVENT:
	case SY_QUERY_EVENT:
		return sy_work_cover_event(work, call->event, &call->cover);
	case SY_WAIT_DEVICE:
		sy_work_cover_device(work, call->thread->device, &call->cover);
		return sy_work_is_device_pending(work, call->thread->device);
	case SY_RESET: /* may end one context of several: proves nothing about the others */
		return sy_work_is_device_pending(work, call->thread->device);
	case SY_FREE_DEVICE:
	case SY_FREE_PINNED:
	case SY_UNREGISTER:
		return enter_free(call);
	case SY_EVENT_DESTROY:
		sy_work_event_forget(work, call->event);
		return false;
	default:
		return false;
	}
}

/* By class: find the stream, what is pending, and what will be proved. Returns whether something is pending. */
static bool enter_class(struct sy_call *call)
{
	switch ((enum sy_class)call->class) {
	case SY_WAIT_STREAM:
	case SY_QUERY_STREAM:
		call->on = stream_of(call);
		return enter_stream_wait(call);
	case SY_COPY_SYNC:
	case SY_COPY_ASYNC:
	case SY_SET_SYNC:
	case SY_SET_ASYNC:
		call->on = stream_of(call);
		return enter_transfer(call);
	case SY_LAUNCH:
	case SY_SUBMIT:
	case SY_RECORD:
	case SY_STREAM_WAIT:
	case SY_ALLOC_ORDERED:
	case SY_FREE_ORDERED:
		call->on = stream_of(call);
		return enter_submit(call);
	case SY_STREAM_DESTROY:
		call->on = stream_of(call);
		if (call->on)
			sy_work_stream_destroy(&sy_state->work, call->on);
		return false;
	case SY_CAPTURE_BEGIN:
	case SY_CAPTURE_END:
		call->on = stream_of(call);
		return false;
	default:
		return enter_other(call);
	}
}

static void define_stream(struct sy_state *state, struct sy_thread *thread, struct sy_work_stream *stream)
{
	uint32_t expected = 0, id = __atomic_add_fetch(&state->n_streams, 1, __ATOMIC_RELAXED);
	bool is_default = stream->flags & (SY_STREAM_LEGACY | SY_STREAM_PER_THREAD);
	const struct {
		uint64_t handle;
		uint32_t device, flags;
	} payload = { is_default ? 0 : stream->handle, stream->device, stream->flags };
	const struct sy_part part = { &payload, sizeof(payload) };

	if (__atomic_compare_exchange_n(&stream->id, &expected, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		sy_thread_define(state, thread, SY_DEF_STREAM, id, &part, 1);
}

/* Writes down everything about the call that is known before it is made. */
static void record(struct sy_call *call, bool is_pending)
{
	struct sy_state *state = sy_state;
	struct sy_thread *thread = call->thread;
	uint32_t stack = sy_site_python(state, thread);
	uint32_t native = sy_site_native(state, thread, call->caller);
	struct sy_event *event;

	if (call->on && SY_UNLIKELY(!__atomic_load_n(&call->on->id, __ATOMIC_RELAXED)))
		define_stream(state, thread, call->on);
	event = sy_thread_event(state, thread, SY_EVENT_CALL);
	if (SY_UNLIKELY(!event))
		return;
	event->bytes = call->bytes;
	event->stack = stack;
	event->native = native;
	event->stream = call->on ? __atomic_load_n(&call->on->id, __ATOMIC_RELAXED) : 0;
	event->api = (uint16_t)(call->api + 1);
	event->memory = (uint8_t)(call->src_memory | call->dst_memory << 4);
	event->direction = call->direction;
	event->flags = (uint8_t)((is_pending ? SY_EVENT_PENDING : 0) | (is_capturing(call) ? SY_EVENT_CAPTURING : 0) |
	                         (sy_api_desc[call->api].is_per_thread ? SY_EVENT_PER_THREAD : 0));
	call->record = event;
	sy_thread_commit(thread);
}

void sy_call_enter(struct sy_call *call)
{
	bool is_pending;

	sy_work_settle(&sy_state->work);
	is_pending = enter_class(call);

	if (sy_class_desc[call->class].is_recorded)
		record(call, is_pending);
	else if (call->class == SY_LAUNCH)
		sy_launch_long_begin(call);
	else if (call->class == SY_QUERY_STREAM || call->class == SY_QUERY_EVENT)
		call->thread->polls++;
}

/* What a pitched allocation, or any other, turned out to be. */
static void leave_alloc(struct sy_call *call, enum sy_memory kind)
{
	uint64_t bytes = call->bytes * (call->out_pitch ? *call->out_pitch : 1);

	if (call->out)
		sy_memory_add(&sy_state->memory, *(const uint64_t *)call->out, bytes, kind);
}

static void leave_success(struct sy_call *call)
{
	struct sy_work *work = &sy_state->work;

	switch ((enum sy_class)call->class) {
	case SY_ALLOC_DEVICE:
	case SY_ALLOC_ORDERED:
		leave_alloc(call, SY_MEMORY_DEVICE);
		break;
	case SY_ALLOC_PINNED:
		leave_alloc(call, SY_MEMORY_PINNED);
		break;
	case SY_ALLOC_MANAGED:
		leave_alloc(call, SY_MEMORY_MANAGED);
		break;
	case SY_REGISTER:
		sy_memory_add(&sy_state->memory, call->dst, call->bytes, SY_MEMORY_PINNED);
		break;
	case SY_STREAM_CREATE:
		if (call->out)
			sy_work_stream_create(work, *(const uint64_t *)call->out, call->thread->device,
			                      call->bytes & cudaStreamNonBlocking);
		break;
	case SY_RECORD:
		if (call->on)
			sy_work_event_record(work, call->event, &call->op, &call->cover);
		return; /* a record proves nothing; its cover is the event's */
	case SY_STREAM_WAIT:
		if (call->on)
			sy_work_event_wait(work, call->on, call->event);
		break;
	case SY_CAPTURE_BEGIN:
		if (call->on)
			sy_work_capture_begin(work, call->on);
		break;
	case SY_CAPTURE_END:
		if (call->on)
			sy_work_capture_end(work, call->on);
		break;
	case SY_SET_DEVICE:
		call->thread->device = (uint32_t)call->bytes % SY_WORK_DEVICES;
		sy_launch_forget(call->thread);
		break;
	case SY_LAUNCH:
		sy_launch_done(call);
		break;
	default:
		break;
	}
	sy_work_certify(work, &call->cover);
}

/* Undoes what enter anticipated. A capture ends without a graph too, if it was not a good one. */
static void leave_failure(struct sy_call *call, int status)
{
	if (call->class == SY_FREE_DEVICE || call->class == SY_FREE_PINNED || call->class == SY_UNREGISTER ||
	    call->class == SY_FREE_ORDERED) {
		if (call->src_memory != SY_MEMORY_UNKNOWN)
			sy_memory_add(&sy_state->memory, call->dst, call->bytes, call->src_memory);
	} else if (call->class == SY_STREAM_DESTROY && call->on) {
		__atomic_store_n(&call->on->is_gone, false, __ATOMIC_RELAXED);
	} else if (call->class == SY_CAPTURE_END && call->on &&
	           (status == cudaErrorStreamCaptureInvalidated || status == cudaErrorStreamCaptureUnjoined)) {
		sy_work_capture_end(&sy_state->work, call->on);
	}
}

void sy_call_leave(struct sy_call *call, int status)
{
	struct sy_event *event = call->record;

	/* Forked since, by a signal handler or inside CUDA: the call, with all it refers to, is the parent's. */
	if (SY_UNLIKELY(!__atomic_load_n(&call->thread->is_used, __ATOMIC_RELAXED))) {
		sy_call_own.depth--;
		return;
	}
	if (event) {
		uint64_t now = sy_clock_ticks();
		uint8_t flags = SY_EVENT_COMPLETE;

		if (SY_UNLIKELY(sy_clock_made_up) && event->direction == SY_D2H && status == 0 && sy_clock_made_up())
			flags |= SY_EVENT_MADE_UP;
		event->duration_ticks = now - event->enter_ticks;
		event->status = status;
		__atomic_store_n(&event->flags, event->flags | flags, __ATOMIC_RELEASE);
	}
	if (SY_UNLIKELY(call->begin_ticks) && status == 0)
		sy_launch_long_end(call);
	if (status == 0)
		leave_success(call);
	else
		leave_failure(call, status);
	if (call->op.number) {
		/* A stream that a wait has made part of a capture got nothing to execute. */
		bool has_joined = call->class == SY_STREAM_WAIT && is_capturing(call);

		sy_work_submitted(&sy_state->work, call->on, &call->op, status == 0 && !has_joined);
	}
	sy_call_own.depth--;
}
