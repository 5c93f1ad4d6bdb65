/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - where the training steps of one process end
 *
 * Step k reaches from the end of step k-1 (step 0: from the start of the
 * process) to the step event number k. What comes after the last one belongs
 * to no step. Steps before `skip` and from skip + limit on are not counted.
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
};

/* Allocates in the arena. */
struct sy_steps sy_steps_find(const struct sy_trace *trace, struct sy_step_range range, struct sy_arena *arena);

bool sy_steps_is_counted(const struct sy_steps *steps, uint32_t step);

/* False: not known, since an end of it was discarded. */
bool sy_steps_duration(const struct sy_steps *steps, uint32_t step, uint64_t *ns);
bool sy_steps_launches(const struct sy_steps *steps, uint32_t step, uint64_t *launches);

#endif
