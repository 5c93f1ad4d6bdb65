/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_check.h - a run against a budget: every limit with what was measured
 *
 * Says nothing itself; check_words.h puts it into words and formats.
 */
#ifndef SY_ANALYSIS_BUDGET_CHECK_H
#define SY_ANALYSIS_BUDGET_CHECK_H

#include "analysis/budget.h"
#include "analysis/place_match.h"
#include "analysis/source_lines.h"
#include "analysis/step_counts.h"

/* One line of the program, as far as it does one kind of thing; rows that differ in memory only are one. */
struct sy_check_place {
	struct sy_place place;    /* `file` is the path as it is shown */
	const char *full;         /* the path with where the program was started */
	const struct sy_row *row; /* one of its rows */
	const char *accepted;     /* the reason; NULL: it counts */
	bool is_listed;           /* an entry of `lines` covers it */
};

/* One limit and what was measured. */
struct sy_finding {
	const struct sy_budget_entry *entry;
	enum sy_metric metric;
	const char *subject; /* the thread or rank; otherwise NULL */
	double measured, allowed;
	bool is_broken;
	uint32_t place; /* the line, or the one that most likely is the cause; SY_NO_PLACE none */
};

struct sy_check {
	struct sy_arena arena;
	struct sy_sources sources;
	const struct sy_profile *profile;
	const struct sy_step_counts *counts;
	const struct sy_budget *budget;
	enum sy_statistic statistic;
	struct sy_check_place *places; /* as the rows of the profile are sorted */
	uint32_t n_places;
	uint32_t *place_of_row;     /* by position in the profile's rows */
	const char **file_of_entry; /* the pattern that counts, see budget_places.c */
	unsigned char *covers;      /* [entry][place] */
	struct sy_finding *findings;
	size_t n_findings, findings_capacity;
	size_t n_broken;
	const struct sy_budget_entry **stale; /* entries for lines that the run does not have */
	size_t n_stale;
	double *samples; /* one per counted step */
};

/* The profile is finished and has counted steps; all that is given stays as it is while the check is used. */
void sy_check_make(struct sy_check *check, const struct sy_profile *profile, const struct sy_step_counts *counts,
                   const struct sy_budget *budget, enum sy_statistic statistic);
void sy_check_free(struct sy_check *check);

/* What a single line reaches in a metric, by the statistic. */
double sy_check_measure_place(struct sy_check *check, uint32_t place, enum sy_metric metric);
/* What everything that is not accepted reaches together. */
double sy_check_measure_all(struct sy_check *check, enum sy_metric metric);

/* The first part of sy_check_make, in budget_places.c: places, and which entry covers which. */
void sy_check_find_places(struct sy_check *check);
bool sy_check_covers(const struct sy_check *check, size_t entry, uint32_t place);

/* Whether a pattern fits the end of a path, component by component. */
bool sy_path_fits(const char *pattern, const char *path);

#endif
