/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what a report says, free of any format
 *
 * Built once from a profile; the renderers for people (text, markdown)
 * only lay it out. Numbers stay numbers until then.
 */
#ifndef SY_ANALYSIS_REPORT_H
#define SY_ANALYSIS_REPORT_H

#include "analysis/aggregate.h"

enum sy_cell_kind { SY_CELL_NONE, SY_CELL_TEXT, SY_CELL_COUNT, SY_CELL_NS };

struct sy_cell {
	enum sy_cell_kind kind;
	const char *text;
	double number; /* SY_CELL_COUNT, SY_CELL_NS */
};

struct sy_column {
	const char *heading;
	bool is_number;
	bool may_shrink; /* on a narrow terminal */
};

struct sy_table {
	const char *title;
	const struct sy_column *columns;
	unsigned n_columns;
	struct sy_cell *cells; /* row by row */
	size_t n_rows, rows_capacity;
};

#define SY_REPORT_MAX_TABLES 6

struct sy_report {
	struct sy_arena arena;
	const char *verdict; /* two sentences */
	const char *basis;   /* what was counted: steps, processes */
	struct sy_table tables[SY_REPORT_MAX_TABLES];
	unsigned n_tables;
	const struct sy_table *main; /* the one that --by asks for; NULL: it would be empty */
	const char **notes;          /* what was discarded, not seen, uncertain */
	size_t n_notes, notes_capacity;
};

/* What the second table is grouped by. */
enum sy_by {
	SY_REPORT_BY_SITE,
	SY_REPORT_BY_API,
	SY_REPORT_BY_CLASS,
	SY_REPORT_BY_THREAD,
	SY_REPORT_BY_RANK,
	SY_REPORT_BY_STEP,
	SY_REPORT_BY_ORDER, /* the profile has one step in order */
	SY_N_BY
};

/* The word of --by, and back; -1 if there is no such. */
const char *sy_by_name(enum sy_by by);
int sy_by_find(const char *name);

/* The profile must stay as it is while the report is used. */
void sy_report_build(struct sy_report *report, const struct sy_profile *profile, enum sy_by by);
void sy_report_free(struct sy_report *report);

/* A time for people, as "1.24 ms"; a number without needless digits. Both fit in 32 bytes. */
#define SY_FORMAT_BYTES 32
const char *sy_format_ns(char *to, double ns);
const char *sy_format_count(char *to, double count);

/* How a step source is told to people. */
const char *sy_step_source_words(int32_t source);

#endif
