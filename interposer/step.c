/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/step.h"

#include "interposer/call.h"
#include "interposer/compiler.h"
#include "interposer/config.h"
#include "interposer/launch.h"
#include "interposer/state.h"

void synctally_step(void);

static const char *source_name(enum sy_step_source source)
{
	return source == SY_STEP_TORCH ? "torch-optimizer" : source == SY_STEP_NVTX ? "nvtx" : "call";
}

static bool is_wanted(enum sy_step_source source)
{
	switch (sy_config.steps) {
	case SY_STEPS_AUTO:
		return true;
	case SY_STEPS_TORCH:
		return source == SY_STEP_TORCH;
	case SY_STEPS_CALL:
		return source == SY_STEP_CALL;
	case SY_STEPS_NVTX:
		return source == SY_STEP_NVTX;
	default:
		return false;
	}
}

/* Said in the trace at the first step of each source; the last word holds, and the call is the better source. */
static SY_COLD void note_source(struct sy_state *state, enum sy_step_source source)
{
	pthread_mutex_lock(&state->mutex);
	if (state->step_source != SY_STEP_CALL && state->step_source != source) {
		state->step_source = source;
		sy_state_note(state, "step_source", source_name(source));
	}
	pthread_mutex_unlock(&state->mutex);
}

static void end_step(struct sy_state *state, enum sy_step_source source, uint32_t stepper)
{
	struct sy_thread *thread = sy_thread_get(state);
	struct sy_event *event = thread ? sy_thread_event(state, thread, SY_EVENT_STEP) : NULL;
	uint64_t n_steps;

	if (!event)
		return;
	if (event->step == 0)
		note_source(state, source);
	event->bytes = sy_launch_count(state);
	event->native = stepper;
	event->status = (int32_t)source;
	event->flags = SY_EVENT_COMPLETE;
	n_steps = __atomic_add_fetch(&state->n_steps, 1, __ATOMIC_RELAXED);
	sy_thread_commit(thread);
	sy_coverage_step(state, n_steps);
}

void sy_step_end(enum sy_step_source source, uint32_t stepper)
{
	struct sy_state *state = sy_state;

	if (!state || !is_wanted(source))
		return;
	sy_call_own.depth++; /* a signal handler's CUDA call must not take the event being written */
	end_step(state, source, stepper);
	sy_call_own.depth--;
}

SY_EXPORT void synctally_step(void)
{
	sy_step_end(SY_STEP_CALL, 0);
}
