/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - where the training steps of one process end
 *
 * A step event may come from the program or from an optimizer, and a program
 * may have several optimizers. Those of the most trusted source that come once
 * per iteration are the boundaries: the program's own call before any
 * optimizer; of optimizers that step equally often, the one that comes last.
 *
 * Step k reaches from the end of step k-1 (step 0: from the start of the
 * process) to boundary number k. What comes after the last one belongs to no
 * step. Steps before `skip` and from skip + limit on are not counted.
 */
#ifndef SY_ANALYSIS_STEPS_H
#define SY_ANALYSIS_STEPS_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct sy_step_end {
	uint64_t at_ns;    /* from the start of the trace */
	uint64_t launches; /* by the process up to here */
	bool is_known;     /* false: the step event was discarded */
};

struct sy_step_range {
	uint32_t skip;
	uint32_t limit; /* 0: all */
};

struct sy_steps {
	struct sy_step_end *ends;
	uint32_t n;
	uint32_t first, end; /* counted: first <= step < end */
	int32_t source;      /* enum sy_step_source; 0 none */
	uint32_t *of_event;  /* the step of an event whose `step` is the index; n: after the last one */
	uint32_t n_of_event;
	struct sy_census census; /* of the walk that found them */
};

/* Allocates in the arena. */
struct sy_steps sy_steps_find(const struct sy_trace *trace, struct sy_step_range range, struct sy_arena *arena);

/* The step an event belongs to; steps->n if to none. */
static inline uint32_t sy_steps_of(const struct sy_steps *steps, const struct sy_event *event)
{
	return event->step < steps->n_of_event ? steps->of_event[event->step] : steps->n;
}

bool sy_steps_is_counted(const struct sy_steps *steps, uint32_t step);

/* False: not known, since an end of it was discarded. */
bool sy_steps_duration(const struct sy_steps *steps, uint32_t step, uint64_t *ns);
bool sy_steps_launches(const struct sy_steps *steps, uint32_t step, uint64_t *launches);

#endif
