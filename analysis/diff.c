/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff.h"

#include "analysis/mem.h"
#include "analysis/place_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less is noise: a line that is reached in some steps only has a mean that depends on how many there were. */
#define COUNT_NOISE 0.01
#define NS_NOISE 1000.0

bool sy_diff_counts_differ(double a, double b)
{
	return fabs(a - b) > COUNT_NOISE * fmax(1, fmax(a, b));
}

bool sy_diff_times_differ(const struct sy_diff *diff, double a, double b)
{
	return fabs(a - b) > fmax(NS_NOISE, diff->tolerance * fmax(a, b));
}

const char *sy_diff_verdict_name(enum sy_diff_verdict verdict)
{
	static const char *const names[] = { "same", "no gain", "better", "worse" };

	return names[verdict];
}

const char *sy_change_name(enum sy_change change)
{
	static const char *const names[] = { "none", "changed", "appeared", "gone" };

	return names[change];
}

/* ---- lines ----------------------------------------------------------------------------- */

static double per(const struct sy_diff *diff, const struct sy_profile *profile)
{
	return diff->is_per_step && profile->n_samples ? (double)profile->n_samples : 1;
}

static const char *relative(const struct sy_profile *profile, const char *file)
{
	size_t n = profile->cwd ? strlen(profile->cwd) : 0;

	return n > 1 && strncmp(file, profile->cwd, n) == 0 && file[n] == '/' ? file + n + 1 : file;
}

static struct sy_diff_numbers numbers_of(const struct sy_diff *diff, const struct sy_profile *profile,
                                         const struct sy_row *row)
{
	const struct sy_tally *tally = &row->tally[SY_PART_STEPS];
	double steps = per(diff, profile);

	return (struct sy_diff_numbers){ (double)tally->count / steps,
		                         (double)tally->outcome[SY_OUTCOME_DRAIN] / steps,
		                         (double)tally->outcome[SY_OUTCOME_EMPTY] / steps,
		                         (double)tally->outcome[SY_OUTCOME_DONE_ALREADY] / steps,
		                         (double)tally->waited_ns / steps,
		                         (double)tally->blocked_ns / steps };
}

/* The lines of a run that did something in its counted steps. */
struct lines {
	struct sy_place *places;
	const struct sy_row **rows;
	uint32_t n;
};

static struct lines lines_of(struct sy_diff *diff, const struct sy_profile *profile)
{
	struct lines lines = { .n = 0 };

	lines.places = sy_mem_alloc(&diff->arena, profile->n_rows * sizeof(*lines.places));
	lines.rows = sy_mem_alloc(&diff->arena, profile->n_rows * sizeof(*lines.rows));
	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];

		if (row->tally[SY_PART_STEPS].count == 0)
			continue;
		lines.places[lines.n] = (struct sy_place){ .file = relative(profile, row->site.file),
			                                   .function = row->site.function,
			                                   .line = row->site.line,
			                                   .first_line = row->site.first_line,
			                                   .class = (uint8_t)row->class,
			                                   .direction = row->direction,
			                                   .memory = row->memory,
			                                   .weight = numbers_of(diff, profile, row).count };
		lines.rows[lines.n++] = row;
	}
	return lines;
}

static enum sy_change change_of(const struct sy_diff *diff, const struct sy_diff_site *site)
{
	const struct sy_diff_numbers *a = &site->of_a, *b = &site->of_b;

	if (!site->a)
		return SY_CHANGE_APPEARED;
	if (!site->b)
		return SY_CHANGE_GONE;
	if (sy_diff_counts_differ(a->count, b->count) || sy_diff_counts_differ(a->drain, b->drain) ||
	    sy_diff_counts_differ(a->empty, b->empty) || sy_diff_counts_differ(a->done, b->done) ||
	    site->a->memory != site->b->memory || sy_diff_times_differ(diff, a->waited_ns, b->waited_ns))
		return SY_CHANGE_CHANGED;
	return SY_CHANGE_NONE;
}

static void add_site(struct sy_diff *diff, const struct sy_row *a, const struct sy_row *b)
{
	struct sy_diff_site *site = &diff->sites[diff->n_sites++];

	site->a = a;
	site->b = b;
	if (a)
		site->of_a = numbers_of(diff, diff->a, a);
	if (b)
		site->of_b = numbers_of(diff, diff->b, b);
	site->change = change_of(diff, site);
}

/* What changed first, then by how much the wait changed; ties as both runs have them, which never depends on chance. */
static int by_change(const void *x, const void *y)
{
	const struct sy_diff_site *p = x, *q = y;
	double s = fabs(p->of_a.waited_ns - p->of_b.waited_ns), t = fabs(q->of_a.waited_ns - q->of_b.waited_ns);
	const struct sy_row *r = p->a ? p->a : p->b, *u = q->a ? q->a : q->b;

	if ((p->change == SY_CHANGE_NONE) != (q->change == SY_CHANGE_NONE))
		return p->change == SY_CHANGE_NONE ? 1 : -1;
	if (s < t || s > t)
		return s > t ? -1 : 1;
	s = fabs(p->of_a.count - p->of_b.count);
	t = fabs(q->of_a.count - q->of_b.count);
	if (s < t || s > t)
		return s > t ? -1 : 1;
	if (strcmp(r->site.file, u->site.file) != 0)
		return strcmp(r->site.file, u->site.file);
	if (r->site.line != u->site.line)
		return r->site.line < u->site.line ? -1 : 1;
	if (strcmp(r->site.function, u->site.function) != 0)
		return strcmp(r->site.function, u->site.function);
	if (r->class != u->class)
		return r->class < u->class ? -1 : 1;
	return r->memory != u->memory ? r->memory - u->memory : r->direction - u->direction;
}

static void pair_lines(struct sy_diff *diff)
{
	struct lines a = lines_of(diff, diff->a), b = lines_of(diff, diff->b);
	uint32_t *b_of_a = sy_mem_alloc(&diff->arena, a.n * sizeof(*b_of_a));
	unsigned char *is_paired = sy_mem_alloc(&diff->arena, b.n);

	sy_places_match(a.places, a.n, b.places, b.n, b_of_a);
	diff->sites = sy_mem_alloc(&diff->arena, ((size_t)a.n + b.n) * sizeof(*diff->sites));
	for (uint32_t i = 0; i < a.n; i++) {
		add_site(diff, a.rows[i], b_of_a[i] == SY_NO_PLACE ? NULL : b.rows[b_of_a[i]]);
		if (b_of_a[i] != SY_NO_PLACE)
			is_paired[b_of_a[i]] = 1;
	}
	for (uint32_t i = 0; i < b.n; i++)
		if (!is_paired[i])
			add_site(diff, NULL, b.rows[i]);
	if (diff->n_sites)
		qsort(diff->sites, diff->n_sites, sizeof(*diff->sites), by_change);
}

/* ---- moves ------------------------------------------------------------------------------- */

/* The site that lost (sign 1) or gained (sign -1) most of what is not yet accounted for. */
static uint32_t most_changed(const struct sy_diff *diff, const double *left, double sign)
{
	uint32_t most = UINT32_MAX;

	for (uint32_t i = 0; i < diff->n_sites; i++)
		if (sign * left[i] > NS_NOISE && (most == UINT32_MAX || sign * left[i] > sign * left[most]))
			most = i;
	return most;
}

/*
 * Takes the largest loss and the largest gain together until one kind is used
 * up. What is small against the whole is noise and no move.
 */
static void find_moves(struct sy_diff *diff)
{
	double *left = sy_mem_alloc(&diff->arena, diff->n_sites * sizeof(*left));
	double least = fmax(NS_NOISE, diff->tolerance * diff->total_a[SY_METRIC_WAITED_NS]);

	diff->moves = sy_mem_alloc(&diff->arena, diff->n_sites * sizeof(*diff->moves));
	for (uint32_t i = 0; i < diff->n_sites; i++)
		left[i] = diff->sites[i].of_a.waited_ns - diff->sites[i].of_b.waited_ns;
	/* Each turn uses up one site at least, so there are fewer moves than sites. */
	for (;;) {
		uint32_t from = most_changed(diff, left, 1), to = most_changed(diff, left, -1);
		double moved;

		if (from == UINT32_MAX || to == UINT32_MAX)
			return;
		moved = fmin(left[from], -left[to]);
		if (moved < least)
			return;
		diff->moves[diff->n_moves++] = (struct sy_diff_move){ from, to, moved };
		diff->sites[from].is_moved_away = true;
		diff->sites[to].is_moved_here = true;
		left[from] = moved < left[from] ? left[from] - moved : 0;
		left[to] = moved < -left[to] ? left[to] + moved : 0;
	}
}

/* ---- the verdict --------------------------------------------------------------------------- */

static void sum_up(struct sy_diff *diff)
{
	for (int m = 0; m < SY_N_METRICS; m++) {
		if (diff->is_per_step) {
			diff->total_a[m] = diff->a->stat[m].mean;
			diff->total_b[m] = diff->b->stat[m].mean;
			diff->is_known[m] = diff->a->stat[m].n && diff->b->stat[m].n;
		} else {
			diff->total_a[m] = (double)diff->a->total[SY_PART_STEPS][m];
			diff->total_b[m] = (double)diff->b->total[SY_PART_STEPS][m];
			diff->is_known[m] = m != SY_METRIC_STEP_NS;
		}
	}
}

static enum sy_diff_verdict judge(const struct sy_diff *diff)
{
	const double *a = diff->total_a, *b = diff->total_b;

	if (sy_diff_times_differ(diff, a[SY_METRIC_WAITED_NS], b[SY_METRIC_WAITED_NS]))
		return b[SY_METRIC_WAITED_NS] > a[SY_METRIC_WAITED_NS] ? SY_DIFF_WORSE : SY_DIFF_BETTER;
	if (sy_diff_counts_differ(a[SY_METRIC_SYNCS], b[SY_METRIC_SYNCS]))
		return b[SY_METRIC_SYNCS] > a[SY_METRIC_SYNCS] ? SY_DIFF_WORSE : SY_DIFF_NO_GAIN;
	if (diff->n_moves)
		return SY_DIFF_NO_GAIN;
	for (uint32_t i = 0; i < diff->n_sites; i++)
		if (diff->sites[i].change != SY_CHANGE_NONE)
			return SY_DIFF_NO_GAIN;
	return SY_DIFF_SAME;
}

void sy_diff_make(struct sy_diff *diff, const struct sy_profile *a, const struct sy_profile *b, double tolerance)
{
	memset(diff, 0, sizeof(*diff));
	diff->a = a;
	diff->b = b;
	diff->tolerance = tolerance;
	diff->is_per_step = a->n_samples && b->n_samples;
	sum_up(diff);
	pair_lines(diff);
	find_moves(diff);
	diff->verdict = judge(diff);
}

void sy_diff_free(struct sy_diff *diff)
{
	sy_arena_free(&diff->arena);
	memset(diff, 0, sizeof(*diff));
}

const char *sy_diff_place(struct sy_diff *diff, const struct sy_diff_site *site, bool is_b)
{
	const struct sy_row *row = is_b ? site->b : site->a;
	const struct sy_profile *profile = is_b ? diff->b : diff->a;
	const char *file, *slash;

	if (!row)
		return "";
	file = relative(profile, row->site.file);
	slash = strrchr(file, '/');
	if (!row->site.is_native)
		return sy_mem_printf(&diff->arena, "%s:%u", file, row->site.line);
	if (strcmp(file, "?") == 0)
		return "(not known)";
	return sy_mem_printf(&diff->arena, "%s%s", slash ? slash + 1 : file, row->site.function);
}
