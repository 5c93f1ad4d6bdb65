/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_report.c - a difference for people: the verdict, totals, lines, where waits moved to
 */
#include "analysis/diff.h"
#include "analysis/load.h"
#include "analysis/mem.h"
#include "analysis/report_internal.h"
#include "trace/event.h"

#include <math.h>
#include <string.h>

/* ---- the verdict ------------------------------------------------------------------------ */

static const char *unit(const struct sy_diff *diff)
{
	return diff->is_per_step ? "per step" : "in all";
}

static const char *wait_words(struct sy_diff *diff)
{
	double a = diff->total_a[SY_METRIC_WAITED_NS], b = diff->total_b[SY_METRIC_WAITED_NS];
	char more[SY_FORMAT_BYTES], old[SY_FORMAT_BYTES], new[SY_FORMAT_BYTES];

	sy_format_ns(old, a);
	sy_format_ns(new, b);
	if (!sy_diff_times_differ(diff, a, b))
		return sy_mem_printf(&diff->arena, "the host waits as long as before (%s %s, before %s)", new,
		                     unit(diff), old);
	return sy_mem_printf(&diff->arena, "the host waits %s %s %s (%s, before %s)", sy_format_ns(more, fabs(a - b)),
	                     unit(diff), b > a ? "more" : "less", new, old);
}

static const char *count_words(struct sy_diff *diff)
{
	double a = diff->total_a[SY_METRIC_SYNCS], b = diff->total_b[SY_METRIC_SYNCS];
	char more[SY_FORMAT_BYTES], old[SY_FORMAT_BYTES], new[SY_FORMAT_BYTES];

	if (!sy_diff_counts_differ(a, b))
		return sy_mem_printf(&diff->arena, "as many syncs as before (%s %s)", sy_format_count(new, b),
		                     unit(diff));
	return sy_mem_printf(&diff->arena, "%s sync%s %s %s (%s, before %s)", sy_format_count(more, fabs(a - b)),
	                     fabs(a - b) == 1 ? "" : "s", unit(diff), b > a ? "more" : "fewer", sy_format_count(new, b),
	                     sy_format_count(old, a));
}

static const char *move_words(struct sy_diff *diff)
{
	const struct sy_diff_move *move = diff->moves;
	char moved[SY_FORMAT_BYTES];

	if (!diff->n_moves)
		return "";
	return sy_mem_printf(&diff->arena, " The wait moved: %s %s left %s and came back at %s%s.",
	                     sy_format_ns(moved, move->waited_ns), unit(diff),
	                     sy_diff_place(diff, &diff->sites[move->from], diff->sites[move->from].a == NULL),
	                     sy_diff_place(diff, &diff->sites[move->to], diff->sites[move->to].b != NULL),
	                     diff->n_moves > 1 ? ", and others" : "");
}

/* Waiting less is worth as much as the step gets shorter. */
static const char *step_words(struct sy_diff *diff)
{
	double a = diff->total_a[SY_METRIC_STEP_NS], b = diff->total_b[SY_METRIC_STEP_NS];
	char old[SY_FORMAT_BYTES], new[SY_FORMAT_BYTES];

	if (!diff->is_known[SY_METRIC_STEP_NS])
		return "";
	sy_format_ns(old, a);
	sy_format_ns(new, b);
	if (!sy_diff_times_differ(diff, a, b))
		return sy_mem_printf(&diff->arena, " A step takes as long as before (%s, before %s).", new, old);
	return sy_mem_printf(&diff->arena, " A step takes %.1f %% %s (%s, before %s).",
	                     100 * fabs(a - b) / (a > 0 ? a : b), b > a ? "longer" : "less time", new, old);
}

static const char *sentence_of(struct sy_diff *diff)
{
	static const char *const heads[] = { "No difference", "No gain", "Better", "Worse" };

	if (diff->verdict == SY_DIFF_SAME)
		return sy_mem_printf(&diff->arena, "%s: %s, at the same lines; %s.%s", heads[diff->verdict],
		                     count_words(diff), wait_words(diff), step_words(diff));
	return sy_mem_printf(&diff->arena, "%s: %s; %s.%s%s", heads[diff->verdict], count_words(diff), wait_words(diff),
	                     move_words(diff), step_words(diff));
}

/* ---- tables --------------------------------------------------------------------------------- */

static const struct sy_column total_columns[2][4] = {
	{ { "IN ALL", false, false }, { "A", true, false }, { "B", true, false }, { "CHANGE", true, false } },
	{ { "MEAN PER STEP", false, false }, { "A", true, false }, { "B", true, false }, { "CHANGE", true, false } },
};

static struct sy_cell measured(enum sy_metric metric, double value)
{
	return sy_metric_desc[metric].unit == SY_UNIT_NS ? sy_cell_ns(value) : sy_cell_count(value);
}

static struct sy_cell signed_change(struct sy_diff *diff, enum sy_metric metric, double a, double b)
{
	bool is_time = sy_metric_desc[metric].unit == SY_UNIT_NS;
	bool differs = is_time ? sy_diff_times_differ(diff, a, b) : sy_diff_counts_differ(a, b);
	char amount[SY_FORMAT_BYTES];

	if (!differs)
		return sy_cell_text("");
	if (is_time)
		sy_format_ns(amount, fabs(b - a));
	else
		sy_format_count(amount, fabs(b - a));
	return sy_cell_text(sy_mem_printf(&diff->arena, "%c%s", b > a ? '+' : '-', amount));
}

static void add_totals(struct sy_report *report, struct sy_diff *diff)
{
	struct sy_table *table = sy_report_add_table(report, NULL, total_columns[diff->is_per_step], 4);

	for (int m = 0; m < SY_N_METRICS; m++) {
		double a = diff->total_a[m], b = diff->total_b[m];
		struct sy_cell *cell;

		if (!diff->is_known[m] || (!sy_metric_desc[m].is_always_shown && a == 0 && b == 0))
			continue;
		cell = sy_report_add_row(table);
		cell[0] = sy_cell_text(sy_metric_desc[m].heading);
		cell[1] = measured((enum sy_metric)m, a);
		cell[2] = measured((enum sy_metric)m, b);
		cell[3] = signed_change(diff, (enum sy_metric)m, a, b);
	}
}

#define SITE_COLUMNS(unit)                                                                                             \
	{                                                                                                              \
		{ "CHANGE", false, false }, { "LINE", false, true }, { "FUNCTION", false, true },                      \
			{ "CLASS", false, false }, { "COPY", false, false }, { unit " A", true, false },               \
			{ "B", true, false }, { "DRAIN A", true, false }, { "B", true, false },                        \
			{ "WAITED A", true, false }, { "B", true, false },                                             \
	}
static const struct sy_column site_columns[2][11] = { SITE_COLUMNS("COUNT"), SITE_COLUMNS("PER STEP") };

static const char *change_words(struct sy_diff *diff, const struct sy_diff_site *site)
{
	const char *move = site->is_moved_away ? "moved away" : site->is_moved_here ? "moved here" : NULL;

	if (!move)
		return sy_change_name(site->change);
	return sy_mem_printf(&diff->arena, "%s, %s", sy_change_name(site->change), move);
}

static const char *line_words(struct sy_diff *diff, const struct sy_diff_site *site)
{
	const char *a, *b;

	if (!site->a || !site->b)
		return sy_diff_place(diff, site, site->b != NULL);
	a = sy_diff_place(diff, site, false);
	b = sy_diff_place(diff, site, true);
	if (strcmp(a, b) == 0)
		return a;
	if (!site->a->site.is_native && strrchr(b, ':'))
		b = strrchr(b, ':') + 1;
	return sy_mem_printf(&diff->arena, "%s -> %s", a, b);
}

static const char *copy_words(struct sy_diff *diff, const struct sy_diff_site *site)
{
	const struct sy_row *row = site->b ? site->b : site->a;
	const char *memory = sy_memory_name(row->memory);

	if (site->a && site->a->memory != row->memory)
		memory = sy_mem_printf(&diff->arena, "%s -> %s", sy_memory_name(site->a->memory), memory);
	else if (row->direction >= SY_COPY_UNKNOWN && !row->memory)
		return "";
	if (row->direction >= SY_COPY_UNKNOWN)
		return memory;
	return sy_mem_printf(&diff->arena, "%s %s", sy_direction_name(row->direction), memory);
}

static struct sy_cell side(const struct sy_row *row, struct sy_cell cell)
{
	return row ? cell : (struct sy_cell){ SY_CELL_NONE, NULL, 0 };
}

static void put_site(struct sy_diff *diff, const struct sy_diff_site *site, struct sy_cell *cell)
{
	const struct sy_row *row = site->b ? site->b : site->a;

	cell[0] = sy_cell_text(change_words(diff, site));
	cell[1] = sy_cell_text(line_words(diff, site));
	cell[2] = sy_cell_text(row->site.is_native ? "" : row->site.function);
	cell[3] = sy_cell_text(sy_act_class_name(row->class));
	cell[4] = sy_cell_text(copy_words(diff, site));
	cell[5] = side(site->a, sy_cell_count(site->of_a.count));
	cell[6] = side(site->b, sy_cell_count(site->of_b.count));
	cell[7] = side(site->a, sy_cell_count(site->of_a.drain));
	cell[8] = side(site->b, sy_cell_count(site->of_b.drain));
	cell[9] = side(site->a, sy_cell_ns(site->of_a.waited_ns));
	cell[10] = side(site->b, sy_cell_ns(site->of_b.waited_ns));
}

static void add_sites(struct sy_report *report, struct sy_diff *diff)
{
	struct sy_table *table = sy_report_add_table(report, NULL, site_columns[diff->is_per_step], 11);
	unsigned n_same = 0;

	for (uint32_t i = 0; i < diff->n_sites; i++) {
		if (diff->sites[i].change == SY_CHANGE_NONE)
			n_same++;
		else
			put_site(diff, &diff->sites[i], sy_report_add_row(table));
	}
	if (table->n_rows == 0)
		report->n_tables--;
	if (n_same)
		sy_report_note(report, "%u line%s as before.", n_same, n_same == 1 ? " is" : "s are");
}

static const struct sy_column move_columns[] = {
	{ "THE WAIT LEFT", false, true },
	{ "AND CAME BACK AT", false, true },
	{ "WAITED", true, false },
};

static void add_moves(struct sy_report *report, struct sy_diff *diff)
{
	struct sy_table *table;

	if (!diff->n_moves)
		return;
	table = sy_report_add_table(report, NULL, move_columns, 3);
	for (uint32_t i = 0; i < diff->n_moves; i++) {
		const struct sy_diff_site *from = &diff->sites[diff->moves[i].from];
		const struct sy_diff_site *to = &diff->sites[diff->moves[i].to];
		struct sy_cell *cell = sy_report_add_row(table);

		cell[0] = sy_cell_text(sy_diff_place(diff, from, from->a == NULL));
		cell[1] = sy_cell_text(sy_diff_place(diff, to, to->b != NULL));
		cell[2] = sy_cell_ns(diff->moves[i].waited_ns);
	}
}

static void note_side(struct sy_report *report, const struct sy_profile *profile, const char *name)
{
	uint64_t discarded = sy_profile_discarded(profile);

	if (discarded)
		sy_report_note(report, "%s: %llu event%s discarded: its numbers are too small.", name,
		               (unsigned long long)discarded, discarded == 1 ? "" : "s");
	else if (sy_load_is_inconclusive(profile))
		sy_report_note(report, "%s is incomplete: `synctally report` tells what is missing.", name);
}

void sy_diff_report(struct sy_report *report, struct sy_diff *diff)
{
	memset(report, 0, sizeof(*report));
	diff->sentence = sentence_of(diff);
	report->verdict = diff->sentence;
	report->basis =
		diff->is_per_step
			? sy_mem_printf(
				  &diff->arena,
				  "A: %u step%s. B: %u step%s. Differences of times up to %.3g %% are taken for noise.",
				  diff->a->n_steps, diff->a->n_steps == 1 ? "" : "s", diff->b->n_steps,
				  diff->b->n_steps == 1 ? "" : "s", 100 * diff->tolerance)
			: "No steps found: the whole runs are compared.";
	add_totals(report, diff);
	add_sites(report, diff);
	add_moves(report, diff);
	note_side(report, diff->a, "A");
	note_side(report, diff->b, "B");
}
