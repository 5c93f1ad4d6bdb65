/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/load.h"

#include "analysis/cli.h"
#include "analysis/run_note.h"
#include "trace/reader.h"

struct sy_step_range sy_load_range(const struct sy_range_wish *wish, const struct sy_inputs *inputs)
{
	struct sy_step_range range = sy_run_note_read(inputs->paths[0]);

	if (wish->has_skip)
		range.skip = wish->range.skip;
	if (wish->has_limit)
		range.limit = wish->range.limit;
	return range;
}

size_t sy_load_traces(struct sy_profile *profile, const char *const *paths, size_t n_paths)
{
	size_t n_bad = 0;

	for (size_t i = 0; i < n_paths; i++) {
		struct sy_trace *trace;
		struct sy_err err;

		if (sy_trace_open(paths[i], &trace, &err) != 0) {
			sy_say("%s", err.text);
			n_bad++;
			continue;
		}
		sy_profile_add(profile, trace);
		sy_trace_close(trace);
	}
	return n_bad;
}

bool sy_load_is_inconclusive(const struct sy_profile *profile)
{
	return sy_profile_discarded(profile) > 0 || sy_profile_is_incomplete(profile) ||
	       (profile->has_steps && profile->n_samples == 0);
}
