/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decisions.h - after which readbacks a thread went another way than in the step before
 *
 * A simulated device does not compute, so what a readback shows is made up. If
 * the calls right behind one are others than in the step before, its value may
 * have decided which. The acts of a thread are compared step by step, one after
 * the other; behind the first difference nothing is compared until the next
 * step. Bounded: of a step with more acts than SY_DECISIONS_MAX the rest is not compared.
 */
#ifndef SY_ANALYSIS_DECISIONS_H
#define SY_ANALYSIS_DECISIONS_H

#include "analysis/logical.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SY_DECISIONS_MAX = 1 << 16 };

/* What an act is known by in the next step. */
struct sy_decision_key {
	uint64_t bytes;
	uint32_t stack, native;
	uint32_t launches; /* by the process since the act before; 0 in a step's first act */
	uint16_t api;
	uint8_t class;
};

struct sy_decisions {
	struct sy_decision_key *now, *before;
	size_t now_capacity, before_capacity;
	uint32_t n_now, n_before;
	uint32_t step;
	bool has_step, has_before, has_differed;
	bool is_suspect;        /* the act before showed something made up */
	uint32_t suspect;       /* its row */
	uint32_t launches_then; /* by the process, at the end of the act before */
};

#define SY_DECISIONS_NOBODY UINT32_MAX

/* For the next thread; keeps the memory. A struct of zeros is ready for the first. */
void sy_decisions_begin(struct sy_decisions *decisions);

/*
 * The next act of the thread, in the given step. `row` is its own, if it
 * showed something made up, else SY_DECISIONS_NOBODY. Returns the row of the
 * readback behind which the thread turns out to have gone another way, or SY_DECISIONS_NOBODY.
 */
uint32_t sy_decisions_note(struct sy_decisions *decisions, uint32_t step, const struct sy_act *act, uint32_t row);

void sy_decisions_free(struct sy_decisions *decisions);

#endif
