/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_tables.c - the tables of a report: per step, per line or group, uploads that are only staged
 */
#include "analysis/mem.h"
#include "analysis/report_internal.h"
#include "trace/event.h"

#include <stdlib.h>
#include <string.h>

static struct sy_cell measured(enum sy_metric metric, double value)
{
	return sy_metric_desc[metric].unit == SY_UNIT_NS ? sy_cell_ns(value) : sy_cell_count(value);
}

/* ---- per step, or totals --------------------------------------------------------- */

static const struct sy_column step_columns[] = {
	{ "PER STEP", false, false }, { "MEDIAN", true, false }, { "MIN", true, false },
	{ "MAX", true, false },       { "MEAN", true, false },
};
static const struct sy_column total_columns[] = {
	{ "TOTAL", false, false },
	{ "", true, false },
};

/* Lines of nothing but zeros are left out, except the ones everybody looks for. */
static bool is_shown(const struct sy_profile *profile, enum sy_metric metric)
{
	return sy_metric_desc[metric].is_always_shown || profile->total[SY_PART_STEPS][metric] > 0;
}

static void add_step_table(struct sy_report *report, const struct sy_profile *profile)
{
	struct sy_table *table = sy_report_add_table(report, NULL, step_columns, 5);

	for (int m = 0; m < SY_N_METRICS; m++) {
		const struct sy_stat *stat = &profile->stat[m];
		enum sy_metric metric = (enum sy_metric)m;
		struct sy_cell *cell;

		if (stat->n == 0 || !is_shown(profile, metric))
			continue;
		cell = sy_report_add_row(table);
		cell[0] = sy_cell_text(sy_metric_desc[m].heading);
		cell[1] = measured(metric, stat->median);
		cell[2] = measured(metric, (double)stat->min);
		cell[3] = measured(metric, (double)stat->max);
		cell[4] = measured(metric, stat->mean);
	}
}

static void add_total_table(struct sy_report *report, const struct sy_profile *profile)
{
	struct sy_table *table = sy_report_add_table(report, NULL, total_columns, 2);

	for (int m = 0; m < SY_METRIC_STEP_NS; m++) {
		struct sy_cell *cell;

		if (!is_shown(profile, (enum sy_metric)m))
			continue;
		cell = sy_report_add_row(table);
		cell[0] = sy_cell_text(sy_metric_desc[m].heading);
		cell[1] = measured((enum sy_metric)m, (double)profile->total[SY_PART_STEPS][m]);
	}
}

/* ---- per line ---------------------------------------------------------------------- */

static const struct sy_column line_columns[] = {
	{ "LINE", false, true },
	{ "FUNCTION", false, true },
	{ "CLASS", false, false },
	{ "COPY", false, false },
	{ "PER STEP", true, false },
	{ "DRAIN", true, false },
	{ "EMPTY", true, false },
	{ "DONE", true, false },
	{ "WAITED", true, false },
	{ "IN CALLS", true, false },
	{ "LAUNCHES BEFORE", true, false },
};
static const struct sy_column line_total_columns[] = {
	{ "LINE", false, true },
	{ "FUNCTION", false, true },
	{ "CLASS", false, false },
	{ "COPY", false, false },
	{ "COUNT", true, false },
	{ "DRAIN", true, false },
	{ "EMPTY", true, false },
	{ "DONE", true, false },
	{ "WAITED", true, false },
	{ "IN CALLS", true, false },
	{ "LAUNCHES BEFORE", true, false },
};

/* Seven cells that lines and groups have in common. */
static void put_tally(struct sy_cell *cell, const struct sy_tally *tally, double per)
{
	cell[0] = sy_cell_count((double)tally->count / per);
	cell[1] = sy_cell_count((double)tally->outcome[SY_OUTCOME_DRAIN] / per);
	cell[2] = sy_cell_count((double)tally->outcome[SY_OUTCOME_EMPTY] / per);
	cell[3] = sy_cell_count((double)tally->outcome[SY_OUTCOME_DONE_ALREADY] / per);
	cell[4] = sy_cell_ns((double)tally->waited_ns / per);
	cell[5] = sy_cell_ns((double)tally->blocked_ns / per);
	cell[6] = sy_cell_count(tally->count ? (double)tally->launches_before / (double)tally->count : 0);
}

/* "d2h pinned"; for sets only the memory. */
static const char *copy_words(struct sy_report *report, const struct sy_row *row)
{
	if (row->direction < SY_COPY_UNKNOWN)
		return sy_mem_printf(&report->arena, "%s %s", sy_direction_name(row->direction),
		                     sy_memory_name(row->memory));
	return row->memory ? sy_memory_name(row->memory) : "";
}

static void put_place(struct sy_report *report, const struct sy_profile *profile, const struct sy_row *row,
                      struct sy_cell *cell)
{
	cell[0] = sy_cell_text(sy_report_place(report, profile, &row->site));
	cell[1] = sy_cell_text(row->site.is_native ? "" : row->site.function);
}

static void add_line_table(struct sy_report *report, const struct sy_profile *profile)
{
	double per = profile->n_samples ? (double)profile->n_samples : 1;
	struct sy_table *table =
		sy_report_add_table(report, NULL, profile->n_samples ? line_columns : line_total_columns, 11);

	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];
		struct sy_cell *cell;

		if (row->class == SY_ACT_STAGING || row->tally[SY_PART_STEPS].count == 0)
			continue;
		cell = sy_report_add_row(table);
		put_place(report, profile, row, cell);
		cell[2] = sy_cell_text(sy_act_class_name(row->class));
		cell[3] = sy_cell_text(copy_words(report, row));
		put_tally(cell + 4, &row->tally[SY_PART_STEPS], per);
	}
	if (table->n_rows == 0)
		report->n_tables--;
}

static const struct sy_column staging_columns[2][5] = {
	{ { "LINE", false, true },
	  { "FUNCTION", false, true },
	  { "COUNT", true, false },
	  { "BYTES", true, false },
	  { "IN CALLS", true, false } },
	{ { "LINE", false, true },
	  { "FUNCTION", false, true },
	  { "PER STEP", true, false },
	  { "BYTES", true, false },
	  { "IN CALLS", true, false } },
};

static void add_staging_table(struct sy_report *report, const struct sy_profile *profile)
{
	double per = profile->n_samples ? (double)profile->n_samples : 1;
	struct sy_table *table = sy_report_add_table(report,
	                                             "Uploads from pageable memory that only stage: the host copies, "
	                                             "it does not wait",
	                                             staging_columns[profile->n_samples > 0], 5);

	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];
		const struct sy_tally *tally = &row->tally[SY_PART_STEPS];
		struct sy_cell *cell;

		if (row->class != SY_ACT_STAGING || tally->count == 0)
			continue;
		cell = sy_report_add_row(table);
		put_place(report, profile, row, cell);
		cell[2] = sy_cell_count((double)tally->count / per);
		cell[3] = sy_cell_count((double)tally->bytes / per);
		cell[4] = sy_cell_ns((double)tally->blocked_ns / per);
	}
	if (table->n_rows == 0)
		report->n_tables--;
}

/* ---- per group ---------------------------------------------------------------------- */

#define GROUP_COLUMNS(heading, count)                                                                                  \
	{                                                                                                              \
		{ heading, false, true }, { count, true, false }, { "DRAIN", true, false }, { "EMPTY", true, false },  \
			{ "DONE", true, false }, { "WAITED", true, false }, { "IN CALLS", true, false },               \
			{ "LAUNCHES BEFORE", true, false },                                                            \
	}
static const struct sy_column group_columns[2][SY_N_GROUPINGS][8] = {
	{ [SY_BY_API] = GROUP_COLUMNS("FUNCTIONS", "COUNT"),
	  [SY_BY_CLASS] = GROUP_COLUMNS("CLASS", "COUNT"),
	  [SY_BY_THREAD] = GROUP_COLUMNS("THREAD", "COUNT"),
	  [SY_BY_RANK] = GROUP_COLUMNS("RANK", "COUNT") },
	{ [SY_BY_API] = GROUP_COLUMNS("FUNCTIONS", "PER STEP"),
	  [SY_BY_CLASS] = GROUP_COLUMNS("CLASS", "PER STEP"),
	  [SY_BY_THREAD] = GROUP_COLUMNS("THREAD", "PER STEP"),
	  [SY_BY_RANK] = GROUP_COLUMNS("RANK", "PER STEP") },
};

static int by_blocked(const void *a, const void *b)
{
	const struct sy_tally *x = &(*(struct sy_group *const *)a)->tally[SY_PART_STEPS];
	const struct sy_tally *y = &(*(struct sy_group *const *)b)->tally[SY_PART_STEPS];

	if (x->blocked_ns != y->blocked_ns)
		return x->blocked_ns > y->blocked_ns ? -1 : 1;
	return strcmp((*(struct sy_group *const *)a)->name, (*(struct sy_group *const *)b)->name);
}

static void add_group_table(struct sy_report *report, const struct sy_profile *profile, enum sy_grouping by)
{
	const struct sy_groups *groups = &profile->groups[by];
	struct sy_table *table = sy_report_add_table(report, NULL, group_columns[profile->n_samples > 0][by], 8);
	struct sy_group **sorted = sy_mem_alloc(&report->arena, groups->keys.n * sizeof(struct sy_group *));
	size_t n = 0;

	for (uint32_t i = 0; i < groups->keys.n; i++)
		if (groups->at[i].tally[SY_PART_STEPS].count)
			sorted[n++] = &groups->at[i];
	if (n)
		qsort(sorted, n, sizeof(struct sy_group *), by_blocked);
	for (size_t i = 0; i < n; i++) {
		struct sy_cell *cell = sy_report_add_row(table);

		cell[0] = sy_cell_text(sorted[i]->name);
		put_tally(cell + 1, &sorted[i]->tally[SY_PART_STEPS],
		          sorted[i]->n_steps ? (double)sorted[i]->n_steps : 1);
	}
	if (table->n_rows == 0)
		report->n_tables--;
}

/* ---- every step ---------------------------------------------------------------------- */

static const struct sy_column each_columns[] = {
	{ "PROCESS", true, false }, { "STEP", true, false },   { "SYNCS", true, false },    { "DRAIN", true, false },
	{ "EMPTY", true, false },   { "DONE", true, false },   { "LAUNCHES", true, false }, { "IN CALLS", true, false },
	{ "WAITED", true, false },  { "LENGTH", true, false },
};

static void add_each_step_table(struct sy_report *report, const struct sy_profile *profile)
{
	static const uint8_t shown[] = { SY_METRIC_SYNCS,        SY_METRIC_DRAINS,   SY_METRIC_EMPTY,
		                         SY_METRIC_DONE_ALREADY, SY_METRIC_LAUNCHES, SY_METRIC_BLOCKED_NS,
		                         SY_METRIC_WAITED_NS,    SY_METRIC_STEP_NS };
	struct sy_table *table = sy_report_add_table(report, NULL, each_columns, 10);

	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_process *process = &profile->processes[p];

		for (uint32_t s = process->steps.first; s < process->steps.end; s++) {
			struct sy_cell *cell = sy_report_add_row(table);

			cell[0] = sy_cell_count(process->pid);
			cell[1] = sy_cell_count(s);
			for (unsigned i = 0; i < sizeof(shown); i++) {
				enum sy_metric metric = (enum sy_metric)shown[i];

				if (process->step[s].is_known[metric])
					cell[2 + i] = measured(metric, (double)process->step[s].value[metric]);
			}
		}
	}
	if (table->n_rows == 0)
		report->n_tables--;
}

void sy_report_tables(struct sy_report *report, const struct sy_profile *profile, enum sy_by by)
{
	static const uint8_t grouping[SY_N_BY] = { [SY_REPORT_BY_API] = SY_BY_API,
		                                   [SY_REPORT_BY_CLASS] = SY_BY_CLASS,
		                                   [SY_REPORT_BY_THREAD] = SY_BY_THREAD,
		                                   [SY_REPORT_BY_RANK] = SY_BY_RANK };
	unsigned before;

	if (profile->n_calls == 0)
		return;
	if (profile->n_samples)
		add_step_table(report, profile);
	else if (!profile->has_steps)
		add_total_table(report, profile);
	before = report->n_tables;
	if (by == SY_REPORT_BY_ORDER)
		sy_report_order(report, profile);
	else if (by == SY_REPORT_BY_STEP)
		add_each_step_table(report, profile);
	else if (by != SY_REPORT_BY_SITE)
		add_group_table(report, profile, (enum sy_grouping)grouping[by]);
	else
		add_line_table(report, profile);
	report->main = report->n_tables > before ? &report->tables[before] : NULL;
	sy_report_payers(report, profile);
	add_staging_table(report, profile);
}
