/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series.h"

#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

/* Twice as many steps per bin: two neighbours become one. */
static void widen(struct sy_series *series)
{
	size_t n_rows = series->capacity / SY_SERIES_BINS;

	for (size_t r = 0; r < n_rows; r++) {
		uint64_t *bins = series->waited_ns + r * SY_SERIES_BINS;

		for (size_t b = 0; b < SY_SERIES_BINS / 2; b++)
			bins[b] = bins[2 * b] + bins[2 * b + 1];
		memset(bins + SY_SERIES_BINS / 2, 0, SY_SERIES_BINS / 2 * sizeof(*bins));
	}
	series->width *= 2;
	series->n_bins = (series->n_bins + 1) / 2;
}

static void on_counted(void *context, const struct sy_counted *counted)
{
	struct sy_series *series = context;
	uint32_t row = counted->row < SY_SERIES_ROWS ? counted->row : SY_SERIES_ROWS;
	unsigned bucket = counted->blocked_ns ? 63u - (unsigned)__builtin_clzll(counted->blocked_ns) : 0;
	uint32_t bin;

	series->n_by_blocked[counted->outcome][bucket < SY_SERIES_BUCKETS ? bucket : SY_SERIES_BUCKETS - 1]++;
	while (counted->step / series->width >= SY_SERIES_BINS)
		widen(series);
	bin = counted->step / series->width;
	if (bin >= series->n_bins)
		series->n_bins = bin + 1;
	if (!counted->waited_ns)
		return;
	series->waited_ns = sy_mem_grow(series->waited_ns, &series->capacity, (row + 1u) * (size_t)SY_SERIES_BINS - 1,
	                                sizeof(*series->waited_ns));
	series->waited_ns[row * (size_t)SY_SERIES_BINS + bin] += counted->waited_ns;
}

void sy_series_attach(struct sy_series *series, struct sy_profile *profile)
{
	*series = (struct sy_series){ .width = 1 };
	profile->on_counted = on_counted;
	profile->on_counted_context = series;
	profile->series = series;
}

const uint64_t *sy_series_row(const struct sy_series *series, uint32_t row)
{
	static const uint64_t nothing[SY_SERIES_BINS];
	size_t at = (row < SY_SERIES_ROWS ? row : SY_SERIES_ROWS) * (size_t)SY_SERIES_BINS;

	return at + SY_SERIES_BINS <= series->capacity ? series->waited_ns + at : nothing;
}

void sy_series_free(struct sy_series *series)
{
	free(series->waited_ns);
}
