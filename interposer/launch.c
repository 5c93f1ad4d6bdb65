/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/launch.h"

#include "interposer/clock.h"
#include "interposer/site.h"
#include "interposer/state.h"

/* No key is ever in it: a handle that would match it does not exist. */
static struct sy_work_run closed_run = { .key = UINT64_MAX, .watch_from = UINT64_MAX };

SY_TLS struct sy_call_own sy_call_own = { &closed_run, 0, 0 };

void sy_launch_begin_thread(struct sy_thread *thread)
{
	uint64_t salt = (sy_clock_monotonic_ns() ^ (uint64_t)thread->tid << 40) * 0x9e3779b97f4a7c15ull;

	sy_call_own.salt = salt ^ salt >> 32;
	sy_call_own.run = thread->run ? thread->run : &closed_run;
}

void sy_launch_forget(const struct sy_thread *thread)
{
	if (thread->run)
		sy_work_run_close(&sy_state->work, thread->run);
}

void sy_launch_end_thread(struct sy_thread *thread)
{
	sy_launch_forget(thread);
	sy_call_own.run = &closed_run;
	thread->launch_stream = NULL;
}

/* From here on so many launches are not timed. */
static void watch_anew(struct sy_work_run *run, const struct sy_work_stream *stream)
{
	run->watched_done = __atomic_load_n(&stream->done, __ATOMIC_RELAXED);
	run->watch_from = run->started + SY_LAUNCH_DEEP;
	run->least_ticks = 0;
}

void sy_launch_done(const struct sy_call *call)
{
	struct sy_thread *thread = call->thread;
	uint64_t handle = call->stream;

	if (SY_UNLIKELY(!thread->run)) {
		thread->run = sy_work_run_add(&sy_state->work);
		sy_call_own.run = thread->run;
	}
	__atomic_store_n(&thread->run->others, thread->run->others + 1, __ATOMIC_RELAXED);
	/* A stream that is launched to in turn with another one is not worth closing the other's run for. */
	if (thread->launch_stream == call->on && call->on && call->op.number) {
		if (handle == 0 && sy_api_desc[call->api].is_per_thread)
			handle = (uint64_t)(uintptr_t)cudaStreamPerThread;
		if (thread->run->stream != call->on)
			watch_anew(thread->run, call->on);
		sy_work_run_open(&sy_state->work, thread->run, call->on, &call->op, handle + sy_call_own.salt);
	}
	thread->launch_stream = call->on;
}

#define MUCH_LONGER 4 /* times the shortest launch: it was held */

/* Something on the stream has been proved complete since the launches were last looked at: they are not that many. */
static bool is_drained(struct sy_work_run *run)
{
	if (__atomic_load_n(&run->stream->done, __ATOMIC_RELAXED) == run->watched_done)
		return false;
	watch_anew(run, run->stream);
	return true;
}

SY_COLD struct sy_launch_watch sy_launch_watch_begin(uint64_t stream, uint64_t zero)
{
	struct sy_work_run *run = sy_call_own.run;
	uint64_t watch_from = run->watch_from;
	struct sy_launch_watch watch = { NULL, 0 };

	/* The start of the trace chooses its clock. */
	if (run->started < watch_from || !run->stream || !sy_state_start(sy_state))
		return watch;
	if (is_drained(run)) {
		watch.run = sy_launch_begin(stream, zero);
		return watch;
	}
	run->watch_from = UINT64_MAX;
	watch.run = sy_launch_begin(stream, zero);
	run->watch_from = watch_from;
	if (watch.run)
		watch.begin_ticks = sy_clock_ticks();
	return watch;
}

/* Written down now, since only now it is known. */
static SY_COLD void record_held(enum sy_api api, const void *caller, const struct sy_work_stream *stream,
                                uint64_t begin_ticks, uint64_t ticks)
{
	struct sy_state *state = sy_state;
	struct sy_thread *thread = sy_thread_get(state);
	uint32_t stack = thread ? sy_site_python(state, thread) : 0;
	uint32_t native = thread ? sy_site_native(state, thread, caller) : 0;
	struct sy_event *event = thread ? sy_thread_event(state, thread, SY_EVENT_CALL) : NULL;

	if (!event)
		return;
	event->enter_ticks = begin_ticks;
	event->duration_ticks = ticks;
	event->stack = stack;
	event->native = native;
	event->stream = __atomic_load_n(&stream->id, __ATOMIC_RELAXED);
	event->api = (uint16_t)(api + 1);
	event->flags = (uint8_t)(SY_EVENT_COMPLETE | SY_EVENT_PENDING |
	                         (sy_api_desc[api].is_per_thread ? SY_EVENT_PER_THREAD : 0));
	sy_thread_commit(thread);
}

/* Is it several times as long as the shortest so far? */
static bool is_held(uint64_t *least_ticks, uint64_t ticks)
{
	bool is_long = *least_ticks && ticks > MUCH_LONGER * *least_ticks;

	if (*least_ticks == 0 || ticks < *least_ticks)
		*least_ticks = ticks;
	return is_long;
}

SY_COLD void sy_launch_watch_end(const struct sy_launch_watch *watch, enum sy_api api, const void *caller,
                                 bool has_failed)
{
	struct sy_work_run *run = watch->run;
	uint64_t ticks = watch->begin_ticks ? sy_clock_ticks() - watch->begin_ticks : 0;

	sy_launch_end(run, has_failed);
	/* A child that was forked inside the launch finds its parent's run empty. */
	if (ticks == 0 || has_failed || run->started == 0)
		return;
	sy_call_own.depth++; /* a signal handler's call must not take the event being written */
	if (is_held(&run->least_ticks, ticks))
		record_held(api, caller, run->stream, watch->begin_ticks, ticks);
	sy_call_own.depth--;
}

void sy_launch_long_begin(struct sy_call *call)
{
	bool is_deep = call->on && call->op.number &&
	               call->op.number - __atomic_load_n(&call->on->done, __ATOMIC_RELAXED) >= SY_LAUNCH_DEEP;

	call->begin_ticks = is_deep && sy_state_start(sy_state) ? sy_clock_ticks() : 0;
}

void sy_launch_long_end(const struct sy_call *call)
{
	uint64_t ticks = sy_clock_ticks() - call->begin_ticks;

	if (is_held(&call->thread->least_launch_ticks, ticks))
		record_held(call->api, call->caller, call->on, call->begin_ticks, ticks);
}

SY_COLD void sy_launch_failed(struct sy_work_run *run)
{
	/* In a child that was forked inside the launch nothing of it is left. */
	if (__atomic_load_n(&run->started, __ATOMIC_RELAXED) == 0)
		return;
	__atomic_store_n(&run->others, run->others - 1, __ATOMIC_RELAXED);
	sy_work_run_take_back(&sy_state->work, run);
}

uint64_t sy_launch_count(const struct sy_state *state)
{
	uint32_t n = __atomic_load_n(&state->work.n_runs, __ATOMIC_ACQUIRE);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += __atomic_load_n(&state->work.runs[i].returned, __ATOMIC_RELAXED) +
		       __atomic_load_n(&state->work.runs[i].others, __ATOMIC_RELAXED);
	return sum;
}
