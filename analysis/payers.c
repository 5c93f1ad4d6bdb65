/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/payers.h"

#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

void sy_payers_begin_thread(struct sy_payers *payers)
{
	for (int i = 0; i < SY_PAYERS_BEFORE; i++)
		payers->before[i] = (struct sy_payer_wait){ .row = SY_PAYER_NONE };
	payers->burst = 0;
}

static void note_wait(struct sy_payers *payers, uint32_t row, struct sy_verdict verdict)
{
	payers->burst = 0;
	memmove(payers->before + 1, payers->before, sizeof(payers->before) - sizeof(payers->before[0]));
	payers->before[0] = (struct sy_payer_wait){ row, verdict.outcome, verdict.waited_ns };
}

/* Up to where the payer comes again: what was before that is another round. */
static void note_chain(const struct sy_payers *payers, struct sy_payer_pair *pair)
{
	bool is_over = false;

	for (int i = 0; i < SY_PAYERS_BEFORE; i++) {
		is_over |= i && payers->before[i].row == payers->before[0].row;
		pair->payer[i] = is_over ? SY_PAYER_NONE : payers->before[i].row;
	}
}

static struct sy_payer_pair *pair_of(struct sy_payers *payers, uint32_t row, uint32_t *number)
{
	const uint32_t key[2] = { row, payers->before[0].row };
	uint32_t known = payers->keys.n;
	struct sy_payer_pair *pair;

	*number = sy_index_add(&payers->keys, key, sizeof(key));
	payers->pairs = sy_mem_grow(payers->pairs, &payers->pairs_capacity, *number, sizeof(*payers->pairs));
	payers->last_burst =
		sy_mem_grow(payers->last_burst, &payers->last_capacity, *number, sizeof(*payers->last_burst));
	pair = &payers->pairs[*number];
	if (*number == known) {
		pair->row = row;
		note_chain(payers, pair);
	}
	return pair;
}

static void count_burst_of_row(struct sy_payers *payers, uint32_t row)
{
	payers->bursts_of_row =
		sy_mem_grow(payers->bursts_of_row, &payers->row_capacity, row, sizeof(*payers->bursts_of_row));
	payers->last_of_row =
		sy_mem_grow(payers->last_of_row, &payers->row_last_capacity, row, sizeof(*payers->last_of_row));
	if (payers->last_of_row[row] == payers->burst)
		return;
	payers->last_of_row[row] = payers->burst;
	payers->bursts_of_row[row]++;
}

void sy_payers_add(struct sy_payers *payers, uint32_t row, struct sy_verdict verdict, uint64_t blocked_ns,
                   bool is_counted)
{
	struct sy_payer_pair *pair;
	uint32_t number;

	if (verdict.outcome != SY_OUTCOME_EMPTY) {
		note_wait(payers, row, verdict);
		return;
	}
	if (!payers->burst)
		payers->burst = ++payers->last_number;
	if (!is_counted)
		return;
	pair = pair_of(payers, row, &number);
	pair->n_empty++;
	pair->empty_blocked_ns += blocked_ns;
	count_burst_of_row(payers, row);
	if (payers->counted_burst != payers->burst)
		payers->n_bursts++;
	payers->counted_burst = payers->burst;
	if (payers->last_burst[number] == payers->burst)
		return;
	payers->last_burst[number] = payers->burst;
	pair->n_bursts++;
	pair->n_done += payers->before[0].row != SY_PAYER_NONE && payers->before[0].outcome == SY_OUTCOME_DONE_ALREADY;
	pair->payer_waited_ns += payers->before[0].waited_ns;
}

double sy_payers_share(const struct sy_payers *payers, const struct sy_payer_pair *pair)
{
	return (double)pair->n_bursts / (double)payers->bursts_of_row[pair->row];
}

void sy_payers_free(struct sy_payers *payers)
{
	sy_index_free(&payers->keys);
	free(payers->pairs);
	free(payers->last_burst);
	free(payers->bursts_of_row);
	free(payers->last_of_row);
}
