/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget_check.h"

#include "analysis/mem.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY UINT32_MAX

/* What a number is taken of. */
struct selection {
	uint32_t place;  /* ANY: all that are not accepted */
	size_t entry;    /* if not SIZE_MAX, only places that it covers */
	uint32_t thread; /* number; ANY all */
	bool has_rank;   /* only processes of `rank` */
	int32_t rank;
};

static const struct selection everything = { ANY, SIZE_MAX, ANY, false, 0 };

/* ---- measuring -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double statistic_of(enum sy_statistic statistic, double *samples, size_t n)
{
	double sum = 0;

	if (n == 0)
		return 0;
	if (statistic == SY_STATISTIC_MEAN) {
		for (size_t i = 0; i < n; i++)
			sum += samples[i];
		return sum / (double)n;
	}
	qsort(samples, n, sizeof(*samples), by_value);
	if (statistic == SY_STATISTIC_MAX)
		return samples[n - 1];
	return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

static bool is_selected_process(const struct selection *selection, const struct sy_process *process)
{
	return !selection->has_rank || process->rank == selection->rank;
}

static bool is_selected_place(const struct sy_check *check, const struct selection *selection, uint32_t place)
{
	if (check->places[place].accepted)
		return false;
	if (selection->entry != SIZE_MAX && !sy_check_covers(check, selection->entry, place))
		return false;
	return selection->place == ANY || selection->place == place;
}

/* The length of a step and the like: known of whole processes only. */
static double measure_processes(struct sy_check *check, const struct selection *selection, enum sy_metric metric)
{
	size_t n = 0;

	for (size_t p = 0; p < check->profile->n_processes; p++) {
		const struct sy_process *process = &check->profile->processes[p];

		for (uint32_t s = process->steps.first; s < process->steps.end; s++)
			if (is_selected_process(selection, process) && process->step[s].is_known[metric])
				check->samples[n++] = (double)process->step[s].value[metric];
	}
	return statistic_of(check->statistic, check->samples, n);
}

/* Where the samples of each process begin, SIZE_MAX if it is not selected; returns how many samples there are. */
static size_t place_samples(const struct sy_check *check, const struct selection *selection, size_t *begin)
{
	size_t n = 0;

	for (size_t p = 0; p < check->profile->n_processes; p++) {
		const struct sy_process *process = &check->profile->processes[p];
		bool is_selected = is_selected_process(selection, process);

		begin[p] = is_selected ? n : SIZE_MAX;
		n += is_selected ? process->steps.end - process->steps.first : 0;
	}
	return n;
}

static void add_row(struct sy_check *check, const struct selection *selection, const size_t *begin, uint32_t row,
                    enum sy_metric metric)
{
	const struct sy_profile *profile = check->profile;

	for (uint32_t i = sy_step_counts_of(check->counts, row); i != SY_NO_CELL;
	     i = check->counts->cells[i].previous) {
		const struct sy_step_cell *cell = &check->counts->cells[i];

		if (begin[cell->process] == SIZE_MAX || (selection->thread != ANY && selection->thread != cell->thread))
			continue;
		check->samples[begin[cell->process] + cell->step - profile->processes[cell->process].steps.first] +=
			(double)sy_step_cell_value(cell, &profile->rows[row], metric);
	}
}

static double measure(struct sy_check *check, const struct selection *selection, enum sy_metric metric)
{
	const struct sy_profile *profile = check->profile;
	struct sy_arena scratch = { NULL };
	double result;
	size_t *begin, n;

	if (!sy_metric_is_of_lines(metric))
		return measure_processes(check, selection, metric);
	begin = sy_mem_alloc(&scratch, profile->n_processes * sizeof(*begin));
	n = place_samples(check, selection, begin);
	memset(check->samples, 0, n * sizeof(*check->samples));
	for (uint32_t row = 0; row < profile->n_rows; row++)
		if (is_selected_place(check, selection, check->place_of_row[row]))
			add_row(check, selection, begin, row, metric);
	result = statistic_of(check->statistic, check->samples, n);
	sy_arena_free(&scratch);
	return result;
}

double sy_check_measure_place(struct sy_check *check, uint32_t place, enum sy_metric metric)
{
	struct selection selection = everything;

	selection.place = place;
	return measure(check, &selection, metric);
}

double sy_check_measure_all(struct sy_check *check, enum sy_metric metric)
{
	return measure(check, &everything, metric);
}

/* ---- whose fault --------------------------------------------------------------------------------- */

/* What the lines of a budget allow a place in a metric; below 0 if they do not say. */
static double listed_limit(const struct sy_check *check, uint32_t place, enum sy_metric metric)
{
	double allowed = -1;

	for (size_t i = 0; i < check->budget->n; i++) {
		const struct sy_budget_entry *entry = &check->budget->entries[i];

		if (entry->scope == SY_SCOPE_LINE && sy_check_covers(check, i, place) && entry->limits[metric].is_set)
			allowed = entry->limits[metric].allowed;
	}
	return allowed;
}

/*
 * The line to look at when a sum is too large: the one that exceeds most what
 * the budget lists for it, or, if none does, the one that contributes most.
 */
static uint32_t blame(struct sy_check *check, struct selection selection, enum sy_metric metric)
{
	double most = 0, most_excess = 0;
	uint32_t largest = SY_NO_PLACE, worst = SY_NO_PLACE;

	if (!sy_metric_is_of_lines(metric))
		return SY_NO_PLACE;
	for (uint32_t i = 0; i < check->n_places; i++) {
		double value, excess, listed = listed_limit(check, i, metric);

		selection.place = i;
		value = measure(check, &selection, metric);
		excess = listed >= 0 ? value - listed : check->places[i].is_listed ? 0 : value;
		if (value > most) {
			most = value;
			largest = i;
		}
		if (excess > most_excess) {
			most_excess = excess;
			worst = i;
		}
	}
	return worst != SY_NO_PLACE ? worst : largest;
}

/* ---- limits ---------------------------------------------------------------------------------------- */

/* Sums of times and means are not exact. */
static bool is_more(double measured, double allowed)
{
	return measured > allowed + 1e-9 * (1 + allowed);
}

static struct sy_finding *add_finding(struct sy_check *check, const struct sy_budget_entry *entry,
                                      enum sy_metric metric, double measured)
{
	struct sy_finding *finding;

	check->findings =
		sy_mem_grow(check->findings, &check->findings_capacity, check->n_findings, sizeof(*check->findings));
	finding = &check->findings[check->n_findings++];
	*finding = (struct sy_finding){ .entry = entry,
		                        .metric = metric,
		                        .measured = measured,
		                        .allowed = entry->limits[metric].allowed,
		                        .place = SY_NO_PLACE };
	finding->is_broken = is_more(measured, finding->allowed);
	check->n_broken += finding->is_broken;
	return finding;
}

static void judge_sum(struct sy_check *check, const struct sy_budget_entry *entry, const struct selection *selection,
                      const char *subject)
{
	for (int m = 0; m < SY_N_METRICS; m++) {
		struct sy_finding *finding;

		if (!entry->limits[m].is_set)
			continue;
		finding = add_finding(check, entry, (enum sy_metric)m, measure(check, selection, (enum sy_metric)m));
		finding->subject = subject;
		if (finding->is_broken)
			finding->place = blame(check, *selection, (enum sy_metric)m);
	}
}

/* Every line that no entry names, by itself: one finding for each that breaks the limit, or one that all hold it. */
static void judge_others(struct sy_check *check, const struct sy_budget_entry *entry)
{
	for (int m = 0; m < SY_N_METRICS; m++) {
		enum sy_metric metric = (enum sy_metric)m;
		double most = 0;
		bool is_broken = false;

		if (!entry->limits[m].is_set)
			continue;
		for (uint32_t i = 0; i < check->n_places; i++) {
			double measured = 0;

			if (!check->places[i].is_listed && !check->places[i].accepted)
				measured = sy_check_measure_place(check, i, metric);
			most = measured > most ? measured : most;
			if (!is_more(measured, entry->limits[m].allowed))
				continue;
			is_broken = true;
			add_finding(check, entry, metric, measured)->place = i;
		}
		if (!is_broken)
			add_finding(check, entry, metric, most);
	}
}

static void judge_threads(struct sy_check *check, const struct sy_budget_entry *entry)
{
	for (uint32_t i = 0; i < check->counts->threads.n; i++) {
		struct selection selection = everything;

		if (fnmatch(entry->name, check->counts->thread_names[i], 0) != 0)
			continue;
		selection.thread = i;
		judge_sum(check, entry, &selection, check->counts->thread_names[i]);
	}
}

/* Each rank once, however many processes it has. */
static void judge_ranks(struct sy_check *check, const struct sy_budget_entry *entry)
{
	const struct sy_profile *profile = check->profile;

	for (size_t p = 0; p < profile->n_processes; p++) {
		struct selection selection = everything;
		const char *name;
		bool is_first = true;

		for (size_t before = 0; before < p; before++)
			is_first &= profile->processes[before].rank != profile->processes[p].rank;
		name = profile->processes[p].rank < 0 ? "unknown"
		                                      : sy_mem_printf(&check->arena, "%d", profile->processes[p].rank);
		if (!is_first || fnmatch(entry->name, name, 0) != 0)
			continue;
		selection.has_rank = true;
		selection.rank = profile->processes[p].rank;
		judge_sum(check, entry, &selection, name);
	}
}

/* An entry for one line: the finding names that line whether it holds or not. */
static void judge_line(struct sy_check *check, size_t number)
{
	const struct sy_budget_entry *entry = &check->budget->entries[number];
	struct selection selection = everything;
	size_t first = check->n_findings;

	for (size_t i = 0; i < check->n_stale; i++)
		if (check->stale[i] == entry)
			return;
	selection.entry = number;
	judge_sum(check, entry, &selection, NULL);
	for (uint32_t i = 0; entry->line && i < check->n_places; i++)
		for (size_t f = first; sy_check_covers(check, number, i) && f < check->n_findings; f++)
			if (check->findings[f].place == SY_NO_PLACE)
				check->findings[f].place = i;
}

void sy_check_make(struct sy_check *check, const struct sy_profile *profile, const struct sy_step_counts *counts,
                   const struct sy_budget *budget, enum sy_statistic statistic)
{
	memset(check, 0, sizeof(*check));
	check->profile = profile;
	check->counts = counts;
	check->budget = budget;
	check->statistic = statistic;
	check->samples = sy_mem_alloc(&check->arena, profile->n_samples * sizeof(*check->samples));
	sy_check_find_places(check);
	for (size_t i = 0; i < budget->n; i++) {
		const struct sy_budget_entry *entry = &budget->entries[i];

		switch (entry->scope) {
		case SY_SCOPE_STEP:
			judge_sum(check, entry, &everything, NULL);
			break;
		case SY_SCOPE_OTHER:
			judge_others(check, entry);
			break;
		case SY_SCOPE_LINE:
			judge_line(check, i);
			break;
		case SY_SCOPE_THREAD:
			judge_threads(check, entry);
			break;
		case SY_SCOPE_RANK:
			judge_ranks(check, entry);
			break;
		default:
			break;
		}
	}
}

void sy_check_free(struct sy_check *check)
{
	free(check->findings);
	sy_sources_free(&check->sources);
	sy_arena_free(&check->arena);
	memset(check, 0, sizeof(*check));
}
