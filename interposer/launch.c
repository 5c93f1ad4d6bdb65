/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/launch.h"

#include "interposer/clock.h"
#include "interposer/state.h"

/* No key is ever in it: a handle that would match it does not exist. */
static struct sy_work_run closed_run = { .key = UINT64_MAX };

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
		sy_work_run_open(&sy_state->work, thread->run, call->on, &call->op, handle + sy_call_own.salt);
	}
	thread->launch_stream = call->on;
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
