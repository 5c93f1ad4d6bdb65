/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/thread.h"

#include "interposer/call.h"
#include "interposer/clock.h"
#include "interposer/compiler.h"
#include "interposer/launch.h"
#include "interposer/log.h"
#include "interposer/site.h"
#include "interposer/state.h"
#include "interposer/undisturbed.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A first segment small enough for many short threads, later ones large enough for few claims. */
#define FIRST_EVENTS_BYTES SY_BLOCK_BYTES
#define NEXT_EVENTS_BYTES (4 * SY_BLOCK_BYTES)
#define PAIR_PERIOD_NS 10000000u

/* What a new thread in a slot begins with anew; what stands before it others read, or it is the lane's. */
#define OWN_PART offsetof(struct sy_thread, polls)

static SY_TLS struct sy_thread *own_thread;
static pthread_key_t end_key;

/* Runs in the ending thread. Its slot, with what it leaves open and the counters others add up, goes to a later one. */
static void end_thread(void *at)
{
	struct sy_thread *thread = at;

	own_thread = NULL;
	if (!sy_state || !__atomic_load_n(&thread->is_used, __ATOMIC_ACQUIRE))
		return;      /* a forked child's: nothing in it is ours */
	sy_call_own.depth++; /* what a signal handler calls now is not for this slot */
	sy_launch_end_thread(thread);
	if (thread->per_thread_stream)
		sy_work_stream_destroy(&sy_state->work, thread->per_thread_stream);
	__atomic_store_n(&thread->is_used, 0, __ATOMIC_RELEASE);
	sy_call_own.depth--;
}

int sy_thread_init(void)
{
	return pthread_key_create(&end_key, end_thread);
}

static struct sy_thread *claim_slot(struct sy_state *state)
{
	uint32_t n = state->n_thread_slots;

	for (uint32_t i = 0; i < n; i++)
		if (!__atomic_load_n(&state->threads[i].is_used, __ATOMIC_ACQUIRE))
			return &state->threads[i];
	if (n == SY_MAX_THREADS)
		return NULL;
	__atomic_store_n(&state->n_thread_slots, n + 1, __ATOMIC_RELEASE);
	return &state->threads[n];
}

static SY_COLD struct sy_thread *begin_thread(struct sy_state *state)
{
	struct sy_thread *thread;
	int saved_errno = errno;

	pthread_mutex_lock(&state->mutex);
	thread = claim_slot(state);
	if (thread) {
		memset((char *)thread + OWN_PART, 0, sizeof(*thread) - OWN_PART);
		thread->index = UINT32_MAX;
		thread->tid = (uint32_t)syscall(SYS_gettid);
		if (!thread->lane.events && !thread->lane.defs)
			thread->lane.number = UINT32_MAX;
		__atomic_store_n(&thread->is_used, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&state->mutex);
	own_thread = thread;
	if (thread)
		sy_launch_begin_thread(thread);
	if (thread)
		(void)pthread_setspecific(end_key, thread);
	else if (!__atomic_exchange_n(&state->work.is_incomplete, true, __ATOMIC_RELAXED))
		sy_log("more threads at once than can be followed; the calls of those beyond are counted as discarded");
	errno = saved_errno;
	return thread;
}

struct sy_thread *sy_thread_get(struct sy_state *state)
{
	struct sy_thread *thread = own_thread;

	if (SY_LIKELY(thread && __atomic_load_n(&thread->is_used, __ATOMIC_RELAXED)))
		return thread;
	return begin_thread(state);
}

/* The thread's place in the trace, if there is a trace. */
static bool enter_trace(struct sy_state *state, struct sy_thread *thread)
{
	if (!sy_state_start(state))
		return false;
	if (thread->index == UINT32_MAX)
		thread->index = __atomic_fetch_add(&state->writer.header->n_threads, 1, __ATOMIC_RELAXED);
	if (thread->lane.number == UINT32_MAX)
		thread->lane.number = thread->index;
	return true;
}

static struct sy_segment_header *new_segment(struct sy_state *state, struct sy_thread *thread,
                                             enum sy_segment_kind kind)
{
	bool is_events = kind == SY_SEG_EVENTS;
	uint32_t *sequence = is_events ? &thread->lane.n_event_segments : &thread->lane.n_def_segments;
	uint32_t bytes = is_events && *sequence ? NEXT_EVENTS_BYTES : FIRST_EVENTS_BYTES;
	struct sy_segment_header *segment;
	char name[16] = "";
	int error = 0;

	(void)prctl(PR_GET_NAME, name);
	segment = sy_writer_segment(&state->writer, kind, bytes, thread->lane.number, *sequence, thread->tid, name,
	                            &error);
	if (segment)
		(*sequence)++;
	else
		sy_state_stop(state, "cannot extend the trace", error);
	return segment;
}

/* The newest pair of clock readings in the segment makes ticks translatable however the process ends. */
static void refresh_pair(struct sy_thread *thread, uint64_t ticks)
{
	uint64_t monotonic_ns = sy_clock_monotonic_ns();

	if (!thread->pair_period_ticks)
		thread->pair_period_ticks = sy_clock_kind == SY_CLOCK_TSC ? 3ull * PAIR_PERIOD_NS : PAIR_PERIOD_NS;
	__atomic_store_n(&thread->lane.events->last_ticks, ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->lane.events->last_monotonic_ns, monotonic_ns, __ATOMIC_RELAXED);
	thread->pair_due_ticks = ticks + thread->pair_period_ticks;
}

static uint32_t capacity_of(const struct sy_segment_header *segment)
{
	return (uint32_t)((segment->bytes - sizeof(*segment)) / sizeof(struct sy_event));
}

/* Says that the events behind this one are the calling thread's. */
static void announce(struct sy_thread *thread)
{
	struct sy_segment_header *segment = thread->lane.events;
	struct sy_handover *handover = (struct sy_handover *)(segment + 1) + segment->used;

	handover->enter_ticks = sy_clock_ticks();
	handover->tid = thread->tid;
	handover->thread = thread->index;
	(void)prctl(PR_GET_NAME, handover->name);
	handover->flags = SY_EVENT_COMPLETE;
	handover->kind = SY_EVENT_THREAD;
	__atomic_store_n(&segment->handovers, segment->handovers + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&segment->used, segment->used + 1, __ATOMIC_RELEASE);
}

/* Where the thread's next events go: the segment it is in, the one it found in its slot, or a new one. */
static bool find_room(struct sy_state *state, struct sy_thread *thread)
{
	struct sy_thread_lane *lane = &thread->lane;
	uint32_t wanted = thread->is_announced ? 1 : 2;
	struct sy_segment_header *segment;

	if (!enter_trace(state, thread))
		return false;
	if (!lane->events || capacity_of(lane->events) - lane->events->used < wanted) {
		segment = new_segment(state, thread, SY_SEG_EVENTS);
		if (!segment)
			return false;
		segment->discarded = lane->discarded;
		if (lane->events)
			sy_writer_release(lane->events);
		lane->events = segment;
		thread->is_announced = false;
	}
	if (!thread->is_announced && thread->index != lane->number)
		announce(thread);
	thread->is_announced = true;
	thread->room = capacity_of(lane->events);
	thread->pair_due_ticks = 0;
	return true;
}

static SY_COLD bool next_events(struct sy_state *state, struct sy_thread *thread)
{
	struct sy_undisturbed saved;
	bool has_room;

	sy_undisturbed_begin(&saved);
	has_room = __atomic_load_n(&state->phase, __ATOMIC_RELAXED) != SY_PHASE_STOPPED && find_room(state, thread);
	sy_undisturbed_end(&saved);
	if (has_room)
		return true;
	thread->lane.discarded++;
	if (thread->lane.events)
		__atomic_store_n(&thread->lane.events->discarded, thread->lane.discarded, __ATOMIC_RELAXED);
	sy_state_discard(state);
	return false;
}

struct sy_event *sy_thread_event(struct sy_state *state, struct sy_thread *thread, enum sy_event_kind kind)
{
	struct sy_segment_header *segment = thread->lane.events;
	struct sy_event *event;
	uint64_t ticks;

	thread->sequence++;
	if (SY_UNLIKELY(thread->room == 0 || segment->used == thread->room)) {
		if (!next_events(state, thread))
			return NULL;
		segment = thread->lane.events;
	}
	event = (struct sy_event *)(segment + 1) + segment->used;
	event->kind = (uint8_t)kind;
	event->direction = 4;
	event->device = (uint8_t)thread->device;
	event->sequence = thread->sequence;
	event->polls = thread->polls;
	event->launches = (uint32_t)sy_launch_count(state);
	event->step = (uint32_t)__atomic_load_n(&state->n_steps, __ATOMIC_RELAXED);
	ticks = sy_clock_ticks();
	event->enter_ticks = ticks;
	if (SY_UNLIKELY(ticks >= thread->pair_due_ticks))
		refresh_pair(thread, ticks);
	return event;
}

void sy_thread_commit(struct sy_thread *thread)
{
	struct sy_segment_header *segment = thread->lane.events;

	/* NULL in a child that was forked since, by a signal handler: the event was its parent's. */
	if (SY_LIKELY(segment))
		__atomic_store_n(&segment->used, segment->used + 1, __ATOMIC_RELEASE);
}

/* A new segment of definitions, in the place of a full one. */
static bool next_defs(struct sy_state *state, struct sy_thread *thread)
{
	struct sy_segment_header *segment = enter_trace(state, thread) ? new_segment(state, thread, SY_SEG_DEFS) : NULL;

	if (!segment)
		return false;
	if (thread->lane.defs)
		sy_writer_release(thread->lane.defs);
	thread->lane.defs = segment;
	return true;
}

bool sy_thread_define(struct sy_state *state, struct sy_thread *thread, enum sy_def_kind kind, uint32_t id,
                      const struct sy_part *parts, unsigned n_parts)
{
	struct sy_undisturbed saved;
	bool is_kept;

	if (__atomic_load_n(&state->phase, __ATOMIC_RELAXED) == SY_PHASE_STOPPED)
		return false;
	sy_undisturbed_begin(&saved);
	is_kept = thread->lane.defs && sy_writer_define(&state->writer, thread->lane.defs, kind, id, parts, n_parts);
	if (!is_kept)
		is_kept = next_defs(state, thread) &&
		          sy_writer_define(&state->writer, thread->lane.defs, kind, id, parts, n_parts);
	if (!is_kept && state->writer.header)
		__atomic_fetch_add(&state->writer.header->discarded_defs, 1, __ATOMIC_RELAXED);
	sy_undisturbed_end(&saved);
	return is_kept;
}
