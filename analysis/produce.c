/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/produce.h"

#include "analysis/cli.h"
#include "trace/reader.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

/* Returns how many traces could not be read. */
static size_t add_traces(struct sy_profile *profile, const struct sy_request *request)
{
	size_t n_bad = 0;

	for (size_t i = 0; i < request->n_paths; i++) {
		struct sy_trace *trace;
		struct sy_err err;

		if (sy_trace_open(request->paths[i], &trace, &err) != 0) {
			sy_say("%s", err.text);
			n_bad++;
			continue;
		}
		sy_profile_add(profile, trace);
		sy_trace_close(trace);
	}
	return n_bad;
}

static int write_out(const struct sy_profile *profile, const struct sy_request *request)
{
	struct sy_report report;
	int result;

	sy_report_build(&report, profile, request->by);
	errno = 0;
	result = request->render(profile, &report, request->out, request->is_terminal);
	if (result == 0 && fflush(request->out) != 0)
		result = -1;
	sy_report_free(&report);
	if (result == 0)
		return 0;
	if (errno != EPIPE)
		sy_say("cannot write the report: %s", errno ? strerror(errno) : "the output failed");
	/* It is told; what is still buffered must not fail, and be told, again. */
	__fpurge(request->out);
	clearerr(request->out);
	return -1;
}

static bool is_inconclusive(const struct sy_profile *profile)
{
	return sy_profile_discarded(profile) > 0 || sy_profile_is_incomplete(profile) ||
	       (profile->has_steps && profile->n_samples == 0);
}

int sy_produce(const struct sy_request *request)
{
	struct sy_profile profile;
	int status = SY_EXIT_FINE;
	size_t n_bad;

	sy_profile_init(&profile, request->range);
	n_bad = add_traces(&profile, request);
	if (n_bad == request->n_paths) {
		sy_profile_free(&profile);
		return SY_EXIT_USAGE;
	}
	sy_profile_finish(&profile);
	if (n_bad || is_inconclusive(&profile))
		status = SY_EXIT_INCONCLUSIVE;
	if (write_out(&profile, request) != 0)
		status = SY_EXIT_USAGE;
	sy_profile_free(&profile);
	return status;
}
