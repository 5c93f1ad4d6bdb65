/* SPDX-License-Identifier: Apache-2.0 */
/*
 * produce.h - from traces to a report written out, as report and run do it
 */
#ifndef SY_ANALYSIS_PRODUCE_H
#define SY_ANALYSIS_PRODUCE_H

#include "analysis/order.h"
#include "analysis/render.h"
#include "analysis/steps.h"

struct sy_request {
	const char *const *paths;
	size_t n_paths;
	struct sy_step_range range;
	enum sy_by by;
	uint32_t step; /* with SY_REPORT_BY_ORDER; SY_ORDER_TYPICAL */
	sy_render_fn *render;
	FILE *out;
	bool is_terminal;
};

/*
 * Traces that cannot be read are told on stderr and left out. Returns
 * SY_EXIT_FINE; SY_EXIT_INCONCLUSIVE if something is missing; SY_EXIT_USAGE if
 * no trace could be read, or writing failed (told, too, except for EPIPE).
 */
int sy_produce(const struct sy_request *request);

#endif
