/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payers.h - who pays: the wait that left the device idle before a burst of empty waits
 *
 * A burst is a run of empty waits of one thread without any other wait in
 * between. What it would have had to wait for, the thread's last wait that was
 * not empty has waited for already: its payer. Taking the burst away gains the
 * calls, not that time; taking the payer away hands its time to the burst.
 *
 * Kept per pair of lines and per line, nothing per wait.
 */
#ifndef SY_ANALYSIS_PAYERS_H
#define SY_ANALYSIS_PAYERS_H

#include "analysis/baseline.h"
#include "analysis/index.h"

#include <stdbool.h>

/* How many waits before a burst are told: the payer and the ones that waited before it. */
#define SY_PAYERS_BEFORE 4
#define SY_PAYER_NONE UINT32_MAX

/* Empty waits of one line behind the same payer. */
struct sy_payer_pair {
	uint32_t row;                     /* the empty line: position in the profile's rows */
	uint32_t payer[SY_PAYERS_BEFORE]; /* rows, the latest first, of the first burst; SY_PAYER_NONE: none */
	uint64_t n_empty, n_bursts;       /* empty waits; bursts that they were part of */
	uint64_t n_done;                  /* bursts whose payer found the work complete */
	uint64_t payer_waited_ns;         /* the payer's, once per burst */
	uint64_t empty_blocked_ns;        /* time inside the empty calls: what taking them away could gain */
};

struct sy_payer_wait {
	uint32_t row;
	enum sy_outcome outcome;
	uint64_t waited_ns;
};

/* Zeroed is empty. */
struct sy_payers {
	struct sy_index keys; /* {empty row, payer's row} */
	struct sy_payer_pair *pairs;
	uint64_t *last_burst; /* by pair: number of the last burst it was seen in */
	size_t pairs_capacity, last_capacity;
	uint64_t *bursts_of_row; /* by row: bursts that it was part of */
	uint64_t *last_of_row;
	size_t row_capacity, row_last_capacity;
	uint64_t n_bursts; /* with a counted wait in them */
	/* of the thread being walked */
	struct sy_payer_wait before[SY_PAYERS_BEFORE]; /* waits that were not empty, the latest first */
	uint64_t burst;                                /* number of the running one; 0 none */
	uint64_t last_number;
	uint64_t counted_burst; /* the last one counted in n_bursts */
};

void sy_payers_begin_thread(struct sy_payers *payers);
/* One sync of the thread, in order. Only counted empty ones are told; any other may be a payer. */
void sy_payers_add(struct sy_payers *payers, uint32_t row, struct sy_verdict verdict, uint64_t blocked_ns,
                   bool is_counted);
/* Of all bursts in which the pair's line is empty, the part that had this payer. */
double sy_payers_share(const struct sy_payers *payers, const struct sy_payer_pair *pair);
void sy_payers_free(struct sy_payers *payers);

#endif
