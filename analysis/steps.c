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

/* Everything that ended a step, by the number of step events before it. */
struct mark {
	struct sy_step_end end;
	int32_t source;
	uint32_t stepper;
};

struct marks {
	const struct sy_trace *trace;
	struct mark *at;
	uint64_t n_events;
	uint32_t n;
};

static void count(void *context, const struct sy_event *event)
{
	struct marks *marks = context;

	marks->n_events++;
	if (event->step >= marks->n && event->step < UINT32_MAX)
		marks->n = event->step + 1;
}

static void place(void *context, const struct sy_event *event)
{
	struct marks *marks = context;
	struct mark *mark;

	if (event->step >= marks->n)
		return;
	mark = &marks->at[event->step];
	mark->end.at_ns = sy_clock_at_ns(&marks->trace->clock, event->enter_ticks);
	mark->end.launches = event->bytes;
	mark->end.is_known = true;
	mark->source = event->status;
	mark->stepper = event->native;
}

static struct marks find_marks(const struct sy_trace *trace, struct sy_arena *arena)
{
	struct marks marks = { .trace = trace };
	uint64_t most;

	each_step(trace, count, &marks);
	/* Numbers beyond what events and a believable number of discarded ones explain are damage. */
	most = trace->header.discarded_events < 65536 ? trace->header.discarded_events : 65536;
	if (marks.n > marks.n_events + most)
		marks.n = (uint32_t)(marks.n_events + most);
	marks.at = sy_mem_alloc(arena, (size_t)marks.n * sizeof(*marks.at));
	each_step(trace, place, &marks);
	return marks;
}

struct stepper {
	uint64_t n;
	uint32_t first; /* mark */
	bool is_used;
};

#define MAX_STEPPERS 256u

/*
 * The optimizer that comes once per iteration: of those with (up to one) most
 * steps the one that first comes last, since the iteration ends with it.
 */
static uint32_t choose_stepper(const struct marks *marks, int32_t source)
{
	struct stepper steppers[MAX_STEPPERS] = { { 0, 0, false } };
	uint64_t most = 0;
	uint32_t chosen = 0;
	bool is_chosen = false;

	for (uint32_t i = 0; i < marks->n; i++) {
		const struct mark *mark = &marks->at[i];
		struct stepper *stepper = &steppers[mark->stepper % MAX_STEPPERS];

		if (!mark->end.is_known || mark->source != source)
			continue;
		if (!stepper->is_used)
			stepper->first = i;
		stepper->is_used = true;
		if (++stepper->n > most)
			most = stepper->n;
	}
	for (uint32_t s = 0; s < MAX_STEPPERS; s++) {
		const struct stepper *stepper = &steppers[s];

		if (!stepper->is_used || stepper->n + 1 < most || (most == 2 && stepper->n < 2))
			continue;
		if (!is_chosen || stepper->first > steppers[chosen].first)
			chosen = s;
		is_chosen = true;
	}
	return chosen;
}

static int32_t best_source(const struct marks *marks)
{
	int32_t best = 0;

	for (uint32_t i = 0; i < marks->n; i++)
		if (marks->at[i].end.is_known && best != SY_STEP_CALL)
			best = marks->at[i].source;
	return best;
}

/* Whether all that is known ends steps in the same way: then what was discarded did, too. */
static bool is_uniform(const struct marks *marks, int32_t source, uint32_t stepper)
{
	for (uint32_t i = 0; i < marks->n; i++)
		if (marks->at[i].end.is_known &&
		    (marks->at[i].source != source || marks->at[i].stepper % MAX_STEPPERS != stepper))
			return false;
	return true;
}

struct sy_steps sy_steps_find(const struct sy_trace *trace, struct sy_step_range range, struct sy_arena *arena)
{
	struct marks marks = find_marks(trace, arena);
	struct sy_steps steps = { .source = best_source(&marks), .n_of_event = marks.n };
	uint32_t stepper = choose_stepper(&marks, steps.source);
	bool uniform = is_uniform(&marks, steps.source, stepper);
	uint32_t end;

	steps.ends = sy_mem_alloc(arena, (size_t)marks.n * sizeof(*steps.ends));
	steps.of_event = sy_mem_alloc(arena, (size_t)marks.n * sizeof(*steps.of_event));
	for (uint32_t i = 0; i < marks.n; i++) {
		const struct mark *mark = &marks.at[i];
		bool is_end = mark->end.is_known
		                      ? mark->source == steps.source && mark->stepper % MAX_STEPPERS == stepper
		                      : uniform;

		steps.of_event[i] = steps.n;
		if (is_end)
			steps.ends[steps.n++] = mark->end;
	}
	steps.first = range.skip < steps.n ? range.skip : steps.n;
	end = steps.n - steps.first;
	steps.end = steps.first + (range.limit && range.limit < end ? range.limit : end);
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
