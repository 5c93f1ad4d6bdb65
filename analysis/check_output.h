/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_output.h - the result of a check: lines of text, JUnit XML, GitHub annotations
 *
 * Names in traces and budgets are anybody's: in each format they come out as
 * text and can neither end a line nor begin a tag or a command.
 */
#ifndef SY_ANALYSIS_CHECK_OUTPUT_H
#define SY_ANALYSIS_CHECK_OUTPUT_H

#include "analysis/budget_check.h"

#include <stdio.h>

struct sy_check_output {
	struct sy_check *check;
	const char *budget_path;
	bool is_strict;           /* entries for lines that are gone count as broken */
	const char *inconclusive; /* why the result is not the whole truth; NULL: it is */
};

/* What is broken, one line each, what is gone, and a last line with the sum. */
void sy_check_text(const struct sy_check_output *output, FILE *out);
void sy_check_github(const struct sy_check_output *output, FILE *out);
/* A document of its own: one test case for each limit. */
void sy_check_junit(const struct sy_check_output *output, FILE *out);

/* In words, shared by all formats; in the check's arena. */
struct sy_check_words {
	const char *file;         /* where to look: the line, or else the entry of the budget */
	uint32_t line;            /* 0: none, `file` says it all */
	const char *group, *name; /* "per_step", "syncs" */
	const char *message;
};
struct sy_check_words sy_check_words_of(const struct sy_check_output *output, const struct sy_finding *finding);
struct sy_check_words sy_check_words_stale(const struct sy_check_output *output, const struct sy_budget_entry *entry);

#endif
