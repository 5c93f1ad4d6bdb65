/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - what a program may do: limits per step, in all, by line, thread and rank
 *
 * docs/synctally-check.1.md describes the file. Reading it knows nothing of
 * runs; budget_check.h compares the two.
 */
#ifndef SY_ANALYSIS_BUDGET_H
#define SY_ANALYSIS_BUDGET_H

#include "analysis/aggregate.h"
#include "trace/err.h"

#include <stdio.h>

#define SY_BUDGET_VERSION 1
#define SY_BUDGET_MAX_BYTES (4u << 20)

/* Which number of the steps is compared with the limits. */
enum sy_statistic { SY_STATISTIC_MAX, SY_STATISTIC_MEDIAN, SY_STATISTIC_MEAN, SY_N_STATISTICS };

/* What an entry is about; the key of its section in the file. */
enum sy_scope {
	SY_SCOPE_STEP,   /* per_step: everything that is not accepted */
	SY_SCOPE_OTHER,  /* other_lines: each line that `lines` does not name */
	SY_SCOPE_LINE,   /* lines: one line, or a pattern of functions */
	SY_SCOPE_THREAD, /* threads: each that fits */
	SY_SCOPE_RANK,   /* ranks: each that fits */
	SY_SCOPE_ACCEPT, /* accept: lines that no limit counts */
	SY_N_SCOPES
};

struct sy_limit {
	bool is_set;
	double allowed; /* nanoseconds, if the metric is a time */
};

struct sy_budget_entry {
	enum sy_scope scope;
	unsigned budget_line; /* where it begins in the budget */
	const char *name;     /* pattern of a thread or a rank; of lines and accept what `at` says */
	/* lines, accept: */
	const char *file;     /* pattern for the end of the path */
	const char *pattern;  /* of functions; NULL if a line is given or all of the file is meant */
	uint32_t line;        /* 0: none given */
	const char *function; /* if given, the line may have moved within it */
	int class;            /* enum sy_act_class; -1 any */
	const char *code;     /* the line's text when the budget was written; NULL not given */
	const char *reason;
	struct sy_limit limits[SY_N_METRICS];
};

/* Zeroed has no limits at all. Text is safe to show. */
struct sy_budget {
	struct sy_arena arena;
	bool has_statistic;
	enum sy_statistic statistic;
	struct sy_budget_entry *entries;
	size_t n, capacity;
};

/*
 * 0, or -1 with "NAME:LINE:COLUMN: what is wrong" in `err`; free it in any
 * case. `name` stands for the file in messages.
 */
int sy_budget_read(struct sy_budget *budget, const char *text, size_t bytes, const char *name, struct sy_err *err);
/* The same for a file. */
int sy_budget_read_file(struct sy_budget *budget, const char *path, struct sy_err *err);
void sy_budget_free(struct sy_budget *budget);

const char *sy_scope_key(enum sy_scope scope);
const char *sy_statistic_name(enum sy_statistic statistic);
int sy_statistic_find(const char *name); /* -1: there is no such */

/* The key of a metric's limit: a time is given with its unit, so its key has none. In the arena. */
const char *sy_budget_metric_key(struct sy_arena *arena, enum sy_metric metric);
/* Whether a section may limit a metric. */
bool sy_budget_may_limit(enum sy_scope scope, enum sy_metric metric);

#endif
