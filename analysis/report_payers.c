/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_payers.c - two tables: who pays for the empty waits, and one step in order
 */
#include "analysis/mem.h"
#include "analysis/order.h"
#include "analysis/report_internal.h"

#include <stdlib.h>

/* More would not be read; all of them are in the JSON. */
#define MAX_PAIRS 30

static const char *outcome_words(enum sy_outcome outcome)
{
	return outcome == SY_OUTCOME_DONE_ALREADY ? "done" : sy_outcome_name(outcome);
}

/* ---- who pays ------------------------------------------------------------------------- */

#define PAYER_COLUMNS(count)                                                                                           \
	{                                                                                                              \
		{ "EMPTY AT", false, true }, { "CLASS", false, false }, { count, true, false },                        \
			{ "IN CALLS", true, false }, { "DRAINED BEFORE BY", false, true }, { "CLASS", false, false },  \
			{ "SHARE", true, false }, { "WAITED", true, false }, { "BEFORE THAT", false, true },           \
	}
static const struct sy_column payer_columns[2][9] = { PAYER_COLUMNS("COUNT"), PAYER_COLUMNS("PER STEP") };

/* The waits before the payer, the latest first, each line once. */
static const char *chain_words(struct sy_report *report, const struct sy_profile *profile,
                               const struct sy_payer_pair *pair)
{
	const char *words = "";

	for (int i = 1; i < SY_PAYERS_BEFORE && pair->payer[i] != SY_PAYER_NONE; i++) {
		const char *place = sy_report_place(report, profile, &profile->rows[pair->payer[i]].site);
		bool is_told = false;

		for (int j = 0; j < i; j++)
			is_told |= pair->payer[j] == pair->payer[i];
		if (!is_told)
			words = *words ? sy_mem_printf(&report->arena, "%s, %s", words, place) : place;
	}
	return words;
}

static void put_pair(struct sy_report *report, const struct sy_profile *profile, const struct sy_payer_pair *pair,
                     struct sy_cell *cell)
{
	double per = profile->n_samples ? (double)profile->n_samples : 1;
	const struct sy_row *row = &profile->rows[pair->row];
	const struct sy_row *payer = pair->payer[0] == SY_PAYER_NONE ? NULL : &profile->rows[pair->payer[0]];
	const char *place = payer ? sy_report_place(report, profile, &payer->site) : "(no wait before)";

	if (pair->n_done == pair->n_bursts)
		place = sy_mem_printf(&report->arena, "%s (done already)", place);
	cell[0] = sy_cell_text(sy_report_place(report, profile, &row->site));
	cell[1] = sy_cell_text(sy_act_class_name(row->class));
	cell[2] = sy_cell_count((double)pair->n_empty / per);
	cell[3] = sy_cell_ns((double)pair->empty_blocked_ns / per);
	cell[4] = sy_cell_text(place);
	cell[5] = sy_cell_text(payer ? sy_act_class_name(payer->class) : "");
	cell[6] = sy_cell_text(sy_mem_printf(&report->arena, "%.0f %%", 100 * sy_payers_share(&profile->payers, pair)));
	cell[7] = sy_cell_ns((double)pair->payer_waited_ns / per);
	cell[8] = sy_cell_text(chain_words(report, profile, pair));
}

static int by_empty(const void *a, const void *b)
{
	const struct sy_payer_pair *x = *(const struct sy_payer_pair *const *)a;
	const struct sy_payer_pair *y = *(const struct sy_payer_pair *const *)b;

	if (x->n_empty != y->n_empty)
		return x->n_empty > y->n_empty ? -1 : 1;
	return x < y ? -1 : x > y;
}

const struct sy_payer_pair **sy_report_sort_payers(struct sy_arena *arena, const struct sy_profile *profile)
{
	uint32_t n = profile->payers.keys.n;
	const struct sy_payer_pair **sorted = sy_mem_alloc(arena, n * sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = &profile->payers.pairs[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_empty);
	return sorted;
}

void sy_report_payers(struct sy_report *report, const struct sy_profile *profile)
{
	uint32_t n = profile->payers.keys.n;
	const struct sy_payer_pair **sorted;
	struct sy_table *table;

	/* Of several processes, only some may have steps. */
	if (n == 0 || (profile->has_steps && profile->n_samples == 0))
		return;
	sorted = sy_report_sort_payers(&report->arena, profile);
	table = sy_report_add_table(report,
	                            "Who pays: the wait that drained the device before each burst of empty ones",
	                            payer_columns[profile->n_samples > 0], 9);
	for (uint32_t i = 0; i < n && i < MAX_PAIRS; i++)
		put_pair(report, profile, sorted[i], sy_report_add_row(table));
	if (n > MAX_PAIRS)
		sy_report_note(report, "Who pays: %u more pairs of lines are in the JSON report.", n - MAX_PAIRS);
}

/* ---- one step in order ------------------------------------------------------------------ */

static const struct sy_column order_columns[] = {
	{ "LINE", false, true },     { "FUNCTION", false, true }, { "CLASS", false, false },
	{ "COPY", false, false },    { "TIMES", true, false },    { "LAUNCHES BEFORE", true, false },
	{ "OUTCOME", false, false }, { "WAITED", true, false },   { "IN CALLS", true, false },
	{ "THREAD", false, true },
};

void sy_report_order(struct sy_report *report, const struct sy_profile *profile)
{
	const struct sy_order *order = profile->order;
	struct sy_table *table;

	if (!order || !order->n)
		return;
	table = sy_report_add_table(
		report, sy_mem_printf(&report->arena, "Step %u of process %u, in order", order->step, order->pid),
		order_columns, 10);
	for (size_t i = 0; i < order->n; i++) {
		const struct sy_order_entry *entry = &order->entries[i];
		struct sy_cell *cell = sy_report_add_row(table);

		cell[0] = sy_cell_text(sy_report_place(report, profile, &entry->site));
		cell[1] = sy_cell_text(entry->site.is_native ? "" : entry->site.function);
		cell[2] = sy_cell_text(sy_act_class_name(entry->class));
		cell[3] = sy_cell_text(entry->copy);
		cell[4] = sy_cell_count((double)entry->times);
		cell[5] = sy_cell_count(entry->launches_before);
		cell[6] = sy_cell_text(outcome_words(entry->outcome));
		cell[7] = sy_cell_ns((double)entry->waited_ns);
		cell[8] = sy_cell_ns((double)entry->blocked_ns);
		cell[9] = sy_cell_text(entry->thread);
	}
}
