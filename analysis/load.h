/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from traces to a profile, as every verb does it that works on whole runs
 */
#ifndef SY_ANALYSIS_LOAD_H
#define SY_ANALYSIS_LOAD_H

#include "analysis/aggregate.h"
#include "analysis/inputs.h"

/* What the command line says of the steps to count; what it leaves open, the note of the run decides. */
struct sy_range_wish {
	struct sy_step_range range;
	bool has_skip, has_limit;
};
struct sy_step_range sy_load_range(const struct sy_range_wish *wish, const struct sy_inputs *inputs);

/* Adds traces to a profile. Those that cannot be read are told on stderr and left out; returns how many. */
size_t sy_load_traces(struct sy_profile *profile, const char *const *paths, size_t n_paths);

/* Whether something is missing from a finished profile, so that its numbers are too small. */
bool sy_load_is_inconclusive(const struct sy_profile *profile);

#endif
