/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_fixture.h - whole runs for tests, described line by line
 *
 * Every step is the same unless a line says otherwise; the clock is virtual,
 * so what is asked for is what is measured.
 */
#ifndef SY_TESTS_RUN_FIXTURE_H
#define SY_TESTS_RUN_FIXTURE_H

#include "trace_fixture.h"

#include "analysis/aggregate.h"

/* What one line of the program does in each step. */
struct run_line {
	const char *frame;  /* "file:line function"; NULL ends a list */
	unsigned count;     /* device synchronizes, or readbacks */
	unsigned n_drains;  /* the first of them wait */
	uint64_t waited_ns; /* each of those */
	bool is_readback;
	unsigned only_step; /* if not 0, only in the step of this number, 1 is the first */
	unsigned thread;
};

#define RUN_CALL_NS 100

/* Begins a trace with `n_steps` steps of these lines; add to it, write it, end it as any fix. */
void run_begin(struct fix *fix, const struct run_line *lines, unsigned n_steps);
/* Adds the trace to a profile and ends it. */
void run_add(struct sy_profile *profile, struct fix *fix);
/* A finished profile of one such run. */
void run_profile(struct sy_profile *profile, const struct run_line *lines, unsigned n_steps);

#endif
