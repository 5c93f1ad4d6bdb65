/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the time waited, over the steps and by line, for a picture
 *
 * Listens while a profile adds up. Holds at most SY_SERIES_BINS bins of as many
 * steps as it takes, for at most SY_SERIES_ROWS lines; the rest is one sum.
 */
#ifndef SY_ANALYSIS_SERIES_H
#define SY_ANALYSIS_SERIES_H

#include "analysis/aggregate.h"

#define SY_SERIES_BINS 512u
#define SY_SERIES_ROWS 512u /* row number SY_SERIES_ROWS: all further ones */
#define SY_SERIES_BUCKETS 40u

struct sy_series {
	uint32_t width;      /* steps in a bin: a power of two */
	uint32_t n_bins;     /* up to the last one that has something */
	uint64_t *waited_ns; /* [row][bin], all processes together */
	size_t capacity;
	uint64_t n_by_blocked[SY_N_OUTCOMES][SY_SERIES_BUCKETS]; /* syncs that held the host for 2^b to 2^(b+1) ns */
};

/* Hooks into a profile, between its init and its first trace. */
void sy_series_attach(struct sy_series *series, struct sy_profile *profile);
/* SY_SERIES_BINS values; all zero for a row that never waited. */
const uint64_t *sy_series_row(const struct sy_series *series, uint32_t row);
void sy_series_free(struct sy_series *series);

#endif
