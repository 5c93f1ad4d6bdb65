/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.c - the end of a profile: statistics over steps, totals, order of rows
 */
#include "analysis/aggregate.h"

#include "analysis/mem.h"
#include "analysis/source_lines.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void describe(struct sy_stat *stat, uint64_t *samples, size_t n)
{
	double sum = 0;

	memset(stat, 0, sizeof(*stat));
	stat->n = n;
	if (n == 0)
		return;
	qsort(samples, n, sizeof(*samples), by_value);
	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i];
	stat->min = samples[0];
	stat->max = samples[n - 1];
	stat->mean = sum / (double)n;
	stat->median = n % 2 ? (double)samples[n / 2] : ((double)samples[n / 2 - 1] + (double)samples[n / 2]) / 2;
}

static void measure(struct sy_profile *profile, enum sy_metric metric, uint64_t *samples)
{
	size_t n = 0;

	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_process *process = &profile->processes[p];

		profile->total[SY_PART_OUTSIDE][metric] += process->outside[metric];
		for (uint32_t s = 0; s < process->steps.n; s++) {
			const struct sy_process_step *step = &process->step[s];
			bool is_inside = sy_steps_is_counted(&process->steps, s);

			profile->total[is_inside ? SY_PART_STEPS : SY_PART_OUTSIDE][metric] += step->value[metric];
			if (is_inside && step->is_known[metric])
				samples[n++] = step->value[metric];
		}
	}
	describe(&profile->stat[metric], samples, n);
}

/* Most blocked time first; the rest of the order only makes it the same from run to run. */
static int by_blocked(const void *a, const void *b)
{
	const struct sy_row *x = *(struct sy_row *const *)a, *y = *(struct sy_row *const *)b;

	for (int part = 0; part < SY_N_PARTS; part++) {
		const struct sy_tally *s = &x->tally[part], *t = &y->tally[part];

		if (s->blocked_ns != t->blocked_ns)
			return s->blocked_ns > t->blocked_ns ? -1 : 1;
		if (s->count != t->count)
			return s->count > t->count ? -1 : 1;
	}
	if (strcmp(x->site.file, y->site.file) != 0)
		return strcmp(x->site.file, y->site.file);
	if (x->site.line != y->site.line)
		return x->site.line < y->site.line ? -1 : 1;
	if (strcmp(x->site.function, y->site.function) != 0)
		return strcmp(x->site.function, y->site.function);
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return x->direction != y->direction ? x->direction - y->direction : x->memory - y->memory;
}

static void sort_rows(struct sy_profile *profile)
{
	profile->n_rows = profile->row_keys.n;
	profile->sorted = sy_mem_alloc(&profile->arena, profile->n_rows * sizeof(struct sy_row *));
	for (uint32_t i = 0; i < profile->n_rows; i++)
		profile->sorted[i] = &profile->rows[i];
	if (profile->n_rows)
		qsort(profile->sorted, profile->n_rows, sizeof(struct sy_row *), by_blocked);
}

static void swap_parts(struct sy_tally *tally)
{
	struct sy_tally inside = tally[SY_PART_STEPS];

	tally[SY_PART_STEPS] = tally[SY_PART_OUTSIDE];
	tally[SY_PART_OUTSIDE] = inside;
}

/* No process has steps: then all there is, is the result. */
static void take_everything(struct sy_profile *profile)
{
	uint64_t inside[SY_N_METRICS];

	for (uint32_t i = 0; i < profile->row_keys.n; i++)
		swap_parts(profile->rows[i].tally);
	for (int by = 0; by < SY_N_GROUPINGS; by++)
		for (uint32_t i = 0; i < profile->groups[by].keys.n; i++)
			swap_parts(profile->groups[by].at[i].tally);
	memcpy(inside, profile->total[SY_PART_STEPS], sizeof(inside));
	memcpy(profile->total[SY_PART_STEPS], profile->total[SY_PART_OUTSIDE], sizeof(inside));
	memcpy(profile->total[SY_PART_OUTSIDE], inside, sizeof(inside));
}

/* Source where the recording says it is. */
static void note_accepted(struct sy_profile *profile)
{
	struct sy_sources sources = { 0 };

	for (uint32_t i = 0; i < profile->row_keys.n; i++) {
		struct sy_row *row = &profile->rows[i];
		const char *path = row->site.file, *reason;

		if (row->site.is_native)
			continue;
		if (*path != '/' && profile->cwd)
			path = sy_mem_printf(&sources.arena, "%s/%s", profile->cwd, path);
		reason = sy_source_reason(&sources, path, row->site.line);
		if (reason)
			row->accepted = sy_mem_copy(&profile->arena, reason);
	}
	sy_sources_free(&sources);
}

void sy_profile_finish(struct sy_profile *profile)
{
	uint64_t *samples;

	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_steps *steps = &profile->processes[p].steps;
		uint32_t n = steps->end - steps->first;

		profile->has_steps |= steps->n > 0;
		profile->n_samples += n;
		if (steps->n == 0 || (profile->step_source && n <= profile->n_steps))
			continue;
		profile->n_steps = n;
		profile->n_skipped = steps->first;
		profile->step_source = steps->source;
	}
	for (int by = 0; by < SY_N_GROUPINGS; by++)
		for (uint32_t i = 0; by != SY_BY_RANK && i < profile->groups[by].keys.n; i++)
			profile->groups[by].at[i].n_steps = profile->n_samples;
	samples = sy_mem_alloc(&profile->arena, profile->n_samples * sizeof(*samples));
	for (int m = 0; m < SY_N_METRICS; m++)
		measure(profile, (enum sy_metric)m, samples);
	if (!profile->has_steps)
		take_everything(profile);
	note_accepted(profile);
	sort_rows(profile);
}

uint64_t sy_profile_discarded(const struct sy_profile *profile)
{
	uint64_t n = 0;

	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_process *process = &profile->processes[p];
		/* A gap is the trace of a discarded event, unless the event stood in a part that is missing. */
		uint64_t gaps = process->census.gaps;

		n += process->discarded_events > gaps ? process->discarded_events : gaps;
	}
	return n;
}

bool sy_profile_is_incomplete(const struct sy_profile *profile)
{
	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_damage *damage = &profile->processes[p].damage;
		const struct sy_census *census = &profile->processes[p].census;

		if (damage->missing_bytes || damage->unreadable_bytes || damage->missing_events ||
		    damage->unreadable_defs || damage->lost_segments || census->disordered || census->unknown ||
		    profile->processes[p].discarded_defs)
			return true;
	}
	return false;
}
