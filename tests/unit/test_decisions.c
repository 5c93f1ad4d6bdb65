/* SPDX-License-Identifier: Apache-2.0 */
/* test_decisions.c - after which readbacks a thread is said to have gone another way */
#include "analysis/decisions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { NOBODY = -1 };

static struct sy_decisions decisions;
static uint32_t launches;

/* An act at a line, after some launches; row: of a readback that was made up. Returns the row found. */
static int act(uint32_t step, uint32_t line, uint32_t launched, int row)
{
	struct sy_event event = { .stack = line, .launches = launches += launched };
	struct sy_act what = { .first = &event, .at = &event };
	uint32_t found = sy_decisions_note(&decisions, step, &what, row < 0 ? SY_DECISIONS_NOBODY : (uint32_t)row);

	return found == SY_DECISIONS_NOBODY ? NOBODY : (int)found;
}

/* A step of three readbacks. */
static void usual_step(uint32_t step, int expected_first)
{
	assert_int_equal(act(step, 1, 5, 10), expected_first);
	assert_int_equal(act(step, 2, 3, 20), NOBODY);
	assert_int_equal(act(step, 3, 0, 30), NOBODY);
}

static int begin(void **state)
{
	(void)state;
	sy_decisions_begin(&decisions);
	return 0;
}

static int end(void **state)
{
	(void)state;
	sy_decisions_free(&decisions);
	return 0;
}

static void test_equal_steps(void **state)
{
	(void)state;
	for (uint32_t step = 0; step < 5; step++)
		usual_step(step, NOBODY);
}

static void test_more_launches_behind_it(void **state)
{
	(void)state;
	usual_step(0, NOBODY);
	assert_int_equal(act(1, 1, 5, 10), NOBODY);
	assert_int_equal(act(1, 2, 4, 20), 10);
	/* Only the first difference of a step is told. */
	assert_int_equal(act(1, 9, 0, 30), NOBODY);
}

static void test_another_line_behind_it(void **state)
{
	(void)state;
	usual_step(0, NOBODY);
	assert_int_equal(act(1, 1, 5, 10), NOBODY);
	assert_int_equal(act(1, 2, 3, 20), NOBODY);
	assert_int_equal(act(1, 4, 0, 30), 20);
}

static void test_a_true_value_is_not_blamed(void **state)
{
	(void)state;
	usual_step(0, NOBODY);
	assert_int_equal(act(1, 1, 5, NOBODY), NOBODY);
	assert_int_equal(act(1, 2, 4, 20), NOBODY);
}

static void test_what_comes_before_the_first_readback_is_not_its_doing(void **state)
{
	(void)state;
	usual_step(0, NOBODY);
	assert_int_equal(act(1, 1, 7, 10), NOBODY);
	assert_int_equal(act(1, 8, 0, 10), 10);
}

static void test_a_step_that_ends_early_or_goes_on(void **state)
{
	(void)state;
	usual_step(0, NOBODY);
	assert_int_equal(act(1, 1, 5, 10), NOBODY);
	assert_int_equal(act(1, 2, 3, 20), NOBODY);
	/* Seen when the next step begins; and there the third is one more than in step 1. */
	assert_int_equal(act(2, 1, 5, 10), 20);
	assert_int_equal(act(2, 2, 3, 20), NOBODY);
	assert_int_equal(act(2, 3, 0, 30), 20);
}

static void test_a_step_without_acts_lies_between(void **state)
{
	(void)state;
	usual_step(0, NOBODY);
	assert_int_equal(act(2, 1, 5, 10), NOBODY);
	assert_int_equal(act(2, 4, 0, 20), NOBODY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_equal_steps, begin, end),
		cmocka_unit_test_setup_teardown(test_more_launches_behind_it, begin, end),
		cmocka_unit_test_setup_teardown(test_another_line_behind_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_true_value_is_not_blamed, begin, end),
		cmocka_unit_test_setup_teardown(test_what_comes_before_the_first_readback_is_not_its_doing, begin, end),
		cmocka_unit_test_setup_teardown(test_a_step_that_ends_early_or_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(test_a_step_without_acts_lies_between, begin, end),
	};

	return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
