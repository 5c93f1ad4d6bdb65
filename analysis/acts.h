/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acts.h - the acts of a trace in order, each with its verdict, step and line
 *
 * What the profile and the exports have in common: the calls are put together
 * to acts (logical.h), judged by the process's own empty waits (baseline.h) and
 * given their step (steps.h). One trace at a time, in one thread; nothing is
 * kept per act.
 */
#ifndef SY_ANALYSIS_ACTS_H
#define SY_ANALYSIS_ACTS_H

#include "analysis/baseline.h"
#include "analysis/index.h"
#include "analysis/site.h"
#include "analysis/steps.h"

struct sy_acts {
	const struct sy_trace *trace;
	struct sy_arena *arena; /* of the caller; what is told of sites and names lives there */
	struct sy_arena scratch;
	struct sy_roles roles;
	struct sy_baseline baseline;
	struct sy_steps steps; /* in the caller's arena */
	/* of the thread being walked */
	const char *thread_name;
	struct sy_index places; /* {stack, native} -> position in `sites` */
	struct sy_site *sites;
	size_t sites_capacity;
	uint32_t launches_then; /* by the process, at the sync before */
};

/* An act as it is told. Valid during the call. */
struct sy_told {
	const struct sy_trace_thread *thread;
	const struct sy_act *act;
	struct sy_verdict verdict;
	uint32_t step;            /* acts->steps.n: in none */
	uint32_t launches_before; /* by the process since the thread's sync before */
	bool is_counted;          /* in a step that is to be counted */
};

typedef void sy_told_fn(void *context, struct sy_acts *acts, const struct sy_told *told);

/* Learns from all acts of the trace what an empty wait costs; the arena must outlive the acts. */
void sy_acts_init(struct sy_acts *acts, const struct sy_trace *trace, struct sy_step_range range,
                  struct sy_arena *arena);

/* "main", its name, or "thread N"; lives in the caller's arena. */
const char *sy_acts_thread_name(const struct sy_acts *acts, const struct sy_trace_thread *thread);

/* Tells the acts of one thread in order; all of them, also those that are not syncs. */
void sy_acts_walk(struct sy_acts *acts, const struct sy_trace_thread *thread, sy_told_fn *on_act, void *context);

/* The line of an event of the thread being walked. Its strings live in the caller's arena. */
struct sy_site sy_acts_site(struct sy_acts *acts, const struct sy_trace_thread *thread, const struct sy_event *event);

void sy_acts_free(struct sy_acts *acts);

#endif
