/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_payers.c - bursts of empty waits and who paid for them
 */
#include "analysis/payers.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

enum { TIMER, COUNT, METRICS, OTHER };

static void wait_at(struct sy_payers *payers, uint32_t row, enum sy_outcome outcome, uint64_t waited_ns)
{
	struct sy_verdict verdict = { .outcome = outcome, .waited_ns = waited_ns };

	sy_payers_add(payers, row, verdict, outcome == SY_OUTCOME_EMPTY ? 7 : waited_ns, true);
}

static const struct sy_payer_pair *find(const struct sy_payers *payers, uint32_t row, uint32_t payer)
{
	for (uint32_t i = 0; i < payers->keys.n; i++)
		if (payers->pairs[i].row == row && payers->pairs[i].payer[0] == payer)
			return &payers->pairs[i];
	fail_msg("no pair %u, %u", row, payer);
	return NULL;
}

/* The shape of the founding case: a timer drains, a count finds the rest, 22 metrics are empty. */
static void test_burst(void **state)
{
	struct sy_payers payers = { .pairs = NULL };
	const struct sy_payer_pair *pair;

	(void)state;
	sy_payers_begin_thread(&payers);
	for (int step = 0; step < 10; step++) {
		wait_at(&payers, TIMER, SY_OUTCOME_DRAIN, 5000);
		wait_at(&payers, COUNT, SY_OUTCOME_DRAIN, 100);
		for (int i = 0; i < 22; i++)
			wait_at(&payers, METRICS, SY_OUTCOME_EMPTY, 0);
	}
	assert_int_equal(payers.keys.n, 1);
	pair = find(&payers, METRICS, COUNT);
	assert_int_equal(pair->n_empty, 220);
	assert_int_equal(pair->n_bursts, 10);
	assert_int_equal(payers.n_bursts, 10);
	assert_int_equal(pair->payer_waited_ns, 1000);
	assert_int_equal(pair->empty_blocked_ns, 220 * 7);
	assert_int_equal(pair->n_done, 0);
	assert_int_equal(pair->payer[1], TIMER);
	assert_int_equal(pair->payer[2], SY_PAYER_NONE);
	assert_true(sy_payers_share(&payers, pair) == 1);
	sy_payers_free(&payers);
}

/* A line whose bursts have different payers; one of them found its work complete. */
static void test_two_payers(void **state)
{
	struct sy_payers payers = { .pairs = NULL };

	(void)state;
	sy_payers_begin_thread(&payers);
	for (int i = 0; i < 4; i++) {
		wait_at(&payers, i == 3 ? OTHER : TIMER, i == 3 ? SY_OUTCOME_DONE_ALREADY : SY_OUTCOME_DRAIN,
		        i == 3 ? 0 : 10);
		wait_at(&payers, METRICS, SY_OUTCOME_EMPTY, 0);
		wait_at(&payers, COUNT, SY_OUTCOME_EMPTY, 0);
		wait_at(&payers, METRICS, SY_OUTCOME_EMPTY, 0);
	}
	assert_int_equal(payers.n_bursts, 4);
	assert_int_equal(payers.keys.n, 4);
	assert_int_equal(find(&payers, METRICS, TIMER)->n_bursts, 3);
	assert_int_equal(find(&payers, METRICS, TIMER)->n_empty, 6);
	assert_int_equal(find(&payers, COUNT, TIMER)->payer_waited_ns, 30);
	assert_int_equal(find(&payers, METRICS, OTHER)->n_done, 1);
	assert_true(sy_payers_share(&payers, find(&payers, METRICS, OTHER)) == 0.25);
	sy_payers_free(&payers);
}

/* What is not counted may still pay; a thread's burst has no payer in another thread. */
static void test_edges(void **state)
{
	struct sy_payers payers = { .pairs = NULL };
	struct sy_verdict drain = { .outcome = SY_OUTCOME_DRAIN, .waited_ns = 9 },
			  empty = { .outcome = SY_OUTCOME_EMPTY };

	(void)state;
	sy_payers_begin_thread(&payers);
	sy_payers_add(&payers, TIMER, drain, 9, false);
	sy_payers_add(&payers, METRICS, empty, 1, false);
	sy_payers_add(&payers, METRICS, empty, 1, true);
	assert_int_equal(find(&payers, METRICS, TIMER)->n_empty, 1);
	assert_int_equal(find(&payers, METRICS, TIMER)->payer_waited_ns, 9);
	sy_payers_begin_thread(&payers);
	wait_at(&payers, METRICS, SY_OUTCOME_EMPTY, 0);
	assert_int_equal(find(&payers, METRICS, SY_PAYER_NONE)->n_bursts, 1);
	assert_int_equal(find(&payers, METRICS, SY_PAYER_NONE)->payer_waited_ns, 0);
	assert_int_equal(payers.n_bursts, 2);
	sy_payers_free(&payers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_two_payers),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
