/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the syncs of one step in the order in which they happened
 *
 * Equal ones in a row (line, class, outcome, launches before) are one entry.
 * Only the step that is shown is kept.
 */
#ifndef SY_ANALYSIS_ORDER_H
#define SY_ANALYSIS_ORDER_H

#include "analysis/aggregate.h"

/* A step that is typical: as many syncs as the median of all. */
#define SY_ORDER_TYPICAL UINT32_MAX

struct sy_order_entry {
	struct sy_site site;
	const char *thread;
	const char *copy; /* "d2h pinned", "" */
	enum sy_act_class class;
	enum sy_outcome outcome;
	uint32_t launches_before; /* by the process since the thread's sync before; of each */
	uint64_t times;
	uint64_t bytes; /* of all together, as the times */
	uint64_t blocked_ns, waited_ns;
	uint64_t at_ns, end_ns; /* from the start of the trace: of the first, of the last */
	size_t number;          /* as told: thread by thread, each in order */
};

/* Zeroed: nothing was asked for. */
struct sy_order {
	struct sy_arena arena;
	uint32_t step;
	uint32_t pid;
	int32_t rank;
	struct sy_order_entry *entries;
	size_t n, capacity;
};

/* The step to show of the profile's first process that has it; false: there is none. */
bool sy_order_choose(const struct sy_profile *profile, uint32_t wanted, size_t *process, uint32_t *step);

/* Reads the step from the trace it is in. */
void sy_order_read(struct sy_order *order, const struct sy_trace *trace, struct sy_step_range range, uint32_t step);
void sy_order_free(struct sy_order *order);

#endif
