/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - what changed between two runs, line by line, and whether it pays
 *
 * Compares what happens per counted step; runs without steps are compared as
 * a whole. A wait that left one line and came back at another, while the host
 * waits as long as before, is a move: no gain. Nothing here knows a format.
 */
#ifndef SY_ANALYSIS_DIFF_H
#define SY_ANALYSIS_DIFF_H

#include "analysis/aggregate.h"
#include "analysis/report.h"

#include <stdio.h>

enum sy_change { SY_CHANGE_NONE, SY_CHANGE_CHANGED, SY_CHANGE_APPEARED, SY_CHANGE_GONE };

/* Means per step, or totals of a run without steps. */
struct sy_diff_numbers {
	double count, drain, empty, done;
	double waited_ns, blocked_ns;
};

struct sy_diff_site {
	const struct sy_row *a, *b; /* one of both may be NULL */
	struct sy_diff_numbers of_a, of_b;
	enum sy_change change;
	bool is_moved_away, is_moved_here; /* part of a move */
};

struct sy_diff_move {
	uint32_t from, to; /* positions in sites */
	double waited_ns;
};

enum sy_diff_verdict { SY_DIFF_SAME, SY_DIFF_NO_GAIN, SY_DIFF_BETTER, SY_DIFF_WORSE };

struct sy_diff {
	struct sy_arena arena;
	const struct sy_profile *a, *b;
	double tolerance; /* as a part of 1 */
	bool is_per_step;
	double total_a[SY_N_METRICS], total_b[SY_N_METRICS]; /* as sy_diff_numbers */
	bool is_known[SY_N_METRICS];
	struct sy_diff_site *sites; /* the most changed wait first */
	uint32_t n_sites;
	struct sy_diff_move *moves; /* the largest first */
	uint32_t n_moves;
	enum sy_diff_verdict verdict;
	const char *sentence; /* the verdict in words */
};

/* Both profiles are finished and stay as they are. The runs are comparable: both have steps, or neither. */
void sy_diff_make(struct sy_diff *diff, const struct sy_profile *a, const struct sy_profile *b, double tolerance);
void sy_diff_free(struct sy_diff *diff);

/* The words of the JSON: "same", "no gain", ...; "changed", "gone", ... */
const char *sy_diff_verdict_name(enum sy_diff_verdict verdict);
const char *sy_change_name(enum sy_change change);

/* Whether two amounts differ by more than noise: counts, and times within the tolerance. */
bool sy_diff_counts_differ(double a, double b);
bool sy_diff_times_differ(const struct sy_diff *diff, double a, double b);

/* "train.py:42" on either side of the difference, in the arena. */
const char *sy_diff_place(struct sy_diff *diff, const struct sy_diff_site *site, bool is_b);

/* In words and tables, for the renderers of a report. Free the report before the difference. */
void sy_diff_report(struct sy_report *report, struct sy_diff *diff);

/* The other formats. Return 0, or -1 if writing failed. */
int sy_diff_json(const struct sy_diff *diff, FILE *out);

#endif
