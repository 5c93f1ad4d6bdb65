/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/produce.h"

#include "analysis/cli.h"
#include "analysis/load.h"
#include "analysis/order.h"
#include "analysis/series.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

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

/* One step in order: its trace is read once more, so that nothing is kept of the others. */
static int read_order(struct sy_profile *profile, const struct sy_request *request, struct sy_order *order)
{
	struct sy_trace *trace;
	struct sy_err err;
	size_t process;
	uint32_t step;

	if (!sy_order_choose(profile, request->step, &process, &step)) {
		sy_say(profile->has_steps ? "no such step to show in order: steps=%u"
		                          : "no step to show in order: steps=%u",
		       profile->n_processes ? profile->processes[0].steps.n : 0);
		return -1;
	}
	if (sy_trace_open(profile->processes[process].path, &trace, &err) != 0) {
		sy_say("%s", err.text);
		return -1;
	}
	sy_order_read(order, trace, profile->range, step);
	sy_trace_close(trace);
	profile->order = order;
	return 0;
}

/* A picture shows a step in order if there is one; --by order and --step insist. */
static bool wants_order(const struct sy_profile *profile, const struct sy_request *request)
{
	size_t process;
	uint32_t step;

	return request->by == SY_REPORT_BY_ORDER ||
	       (request->render == sy_render_html && sy_order_choose(profile, SY_ORDER_TYPICAL, &process, &step));
}

int sy_produce(const struct sy_request *request)
{
	struct sy_profile profile;
	struct sy_series series = { .width = 0 };
	struct sy_order order = { .n = 0 };
	int status = SY_EXIT_FINE;
	size_t n_bad;

	sy_profile_init(&profile, request->range);
	if (request->render == sy_render_html)
		sy_series_attach(&series, &profile);
	n_bad = sy_load_traces(&profile, request->paths, request->n_paths);
	if (n_bad == request->n_paths) {
		sy_profile_free(&profile);
		return SY_EXIT_USAGE;
	}
	sy_profile_finish(&profile);
	if (n_bad || sy_load_is_inconclusive(&profile))
		status = SY_EXIT_INCONCLUSIVE;
	if ((wants_order(&profile, request) && read_order(&profile, request, &order) != 0) ||
	    write_out(&profile, request) != 0)
		status = SY_EXIT_USAGE;
	sy_order_free(&order);
	sy_series_free(&series);
	sy_profile_free(&profile);
	return status;
}
