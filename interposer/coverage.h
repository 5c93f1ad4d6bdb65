/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - whose CUDA calls we do not get to see
 *
 * A look at the objects of the process, by trace/blind.h, at the steps 1, 2, 4,
 * 8, ... and at the end: no object is met so late that much is missed, and
 * no step pays for it twice. What goes past us is noted in the trace.
 */
#ifndef SY_INTERPOSER_COVERAGE_H
#define SY_INTERPOSER_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

struct sy_state;
struct sy_blind_memory;

/* Whoever sets is_busy has the rest. */
struct sy_coverage {
	bool is_busy; /* atomic */
	bool may_wait, is_unchecked;
	unsigned n_blind;               /* noted so far */
	struct sy_blind_memory *memory; /* NULL before the first look */
};

/* `n_steps` have ended. Any thread, inside no lock of ours. */
void sy_coverage_step(struct sy_state *state, uint64_t n_steps);
/* From the destructor: perhaps in a signal handler, above a thread that holds our locks. Gives up rather than wait. */
void sy_coverage_end(struct sy_state *state);

#endif
