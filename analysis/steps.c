/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps.h"

#include "analysis/mem.h"

/* Calls `see` for every step event. */
static void each_step(const struct sy_trace *trace, void (*see)(void *, const struct sy_event *), void *context)
{
	for (uint32_t t = 0; t < trace->n_threads; t++) {
		const struct sy_trace_thread *thread = &trace->threads[t];

		for (uint32_t c = 0; c < thread->n_chunks; c++)
			for (uint32_t i = 0; i < thread->chunks[c].n_events; i++)
				if (thread->chunks[c].events[i].kind == SY_EVENT_STEP)
					see(context, &thread->chunks[c].events[i]);
	}
}

struct found {
	const struct sy_trace *trace;
	struct sy_steps *steps;
	uint64_t n_events;
	uint32_t highest;
};

static void count(void *context, const struct sy_event *event)
{
	struct found *found = context;

	found->n_events++;
	if (event->step > found->highest)
		found->highest = event->step;
}

static void place(void *context, const struct sy_event *event)
{
	struct found *found = context;
	struct sy_step_end *end;

	if (event->step >= found->steps->n)
		return;
	end = &found->steps->ends[event->step];
	end->at_ns = sy_clock_at_ns(&found->trace->clock, event->enter_ticks);
	end->launches = event->bytes;
	end->is_known = true;
	found->steps->source = event->status;
}

/* Numbers beyond what events and discarded events together explain are damage. */
static uint32_t number_of_steps(const struct sy_trace *trace, const struct found *found)
{
	uint64_t most = found->n_events + trace->header.discarded_events;

	if (found->n_events == 0)
		return 0;
	/* A header that says absurdly much was discarded is damage, too. */
	if (most > found->n_events * 16 + 65536)
		most = found->n_events * 16 + 65536;
	return found->highest < most ? found->highest + 1 : (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
}

struct sy_steps sy_steps_find(const struct sy_trace *trace, struct sy_step_range range, struct sy_arena *arena)
{
	struct sy_steps steps = { 0 };
	struct found found = { trace, &steps, 0, 0 };

	each_step(trace, count, &found);
	steps.n = number_of_steps(trace, &found);
	steps.ends = sy_mem_alloc(arena, (size_t)steps.n * sizeof(*steps.ends));
	each_step(trace, place, &found);
	steps.first = range.skip < steps.n ? range.skip : steps.n;
	steps.end = range.limit && range.limit < steps.n - steps.first ? steps.first + range.limit : steps.n;
	return steps;
}

bool sy_steps_is_counted(const struct sy_steps *steps, uint32_t step)
{
	return step >= steps->first && step < steps->end;
}

bool sy_steps_duration(const struct sy_steps *steps, uint32_t step, uint64_t *ns)
{
	uint64_t from_ns = 0;

	if (step >= steps->n || !steps->ends[step].is_known || (step > 0 && !steps->ends[step - 1].is_known))
		return false;
	if (step > 0)
		from_ns = steps->ends[step - 1].at_ns;
	if (steps->ends[step].at_ns < from_ns)
		return false;
	*ns = steps->ends[step].at_ns - from_ns;
	return true;
}

bool sy_steps_launches(const struct sy_steps *steps, uint32_t step, uint64_t *launches)
{
	uint64_t before = 0;

	if (step >= steps->n || !steps->ends[step].is_known || (step > 0 && !steps->ends[step - 1].is_known))
		return false;
	if (step > 0)
		before = steps->ends[step - 1].launches;
	if (steps->ends[step].launches < before)
		return false;
	*launches = steps->ends[step].launches - before;
	return true;
}
