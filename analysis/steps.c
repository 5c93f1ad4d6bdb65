/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps.h"

#include "analysis/mem.h"

#include <stdlib.h>

/* Everything that ended a step, by the number of step events before it. */
struct mark {
	struct sy_step_end end;
	int32_t source;
	uint32_t stepper;
};

/* A step event, copied: by the time it is placed, its page may be gone from memory. */
struct seen {
	uint64_t ticks, launches;
	uint32_t step, stepper;
	int32_t source;
};

struct marks {
	const struct sy_trace *trace;
	struct mark *at;
	uint32_t n;
	struct seen *seen; /* all step events */
	size_t n_seen, capacity;
	struct sy_census census;
};

static void collect(void *context, const struct sy_event *event)
{
	struct marks *marks = context;

	marks->seen = sy_mem_grow(marks->seen, &marks->capacity, marks->n_seen, sizeof(*marks->seen));
	marks->seen[marks->n_seen++] = (struct seen){ .ticks = event->enter_ticks,
		                                      .launches = event->bytes,
		                                      .step = event->step,
		                                      .stepper = event->native,
		                                      .source = event->status };
	if (event->step >= marks->n && event->step < UINT32_MAX)
		marks->n = event->step + 1;
}

static void place(struct marks *marks, const struct seen *seen)
{
	struct mark *mark;

	if (seen->step >= marks->n)
		return;
	mark = &marks->at[seen->step];
	mark->end.at_ns = sy_clock_at_ns(&marks->trace->clock, seen->ticks);
	mark->end.launches = seen->launches;
	mark->end.is_known = true;
	mark->source = seen->source;
	mark->stepper = seen->stepper;
}

static struct marks find_marks(const struct sy_trace *trace, struct sy_arena *arena)
{
	struct marks marks = { .trace = trace };
	uint64_t most;

	marks.census = sy_trace_survey(trace, collect, &marks);
	/* Numbers beyond what events and a believable number of discarded ones explain are damage. */
	most = trace->header.discarded_events < 65536 ? trace->header.discarded_events : 65536;
	if (marks.n > marks.n_seen + most)
		marks.n = (uint32_t)(marks.n_seen + most);
	marks.at = sy_mem_alloc(arena, (size_t)marks.n * sizeof(*marks.at));
	for (size_t i = 0; i < marks.n_seen; i++)
		place(&marks, &marks.seen[i]);
	free(marks.seen);
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

/* What the program says itself before what is inferred. A source of a later version is trusted least. */
static unsigned trust(int32_t source)
{
	static const unsigned char trusts[] = { [SY_STEP_TORCH] = 2, [SY_STEP_NVTX] = 3, [SY_STEP_CALL] = 4 };

	if (source <= 0)
		return 0;
	return (size_t)source < sizeof(trusts) ? trusts[source] : 1;
}

static int32_t best_source(const struct marks *marks)
{
	int32_t best = 0;

	for (uint32_t i = 0; i < marks->n; i++)
		if (marks->at[i].end.is_known && trust(marks->at[i].source) > trust(best))
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
	struct sy_steps steps = { .source = best_source(&marks), .n_of_event = marks.n, .census = marks.census };
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
