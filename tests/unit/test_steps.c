/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_steps.c - which step events are boundaries, and which steps are counted
 */
#include "trace_fixture.h"

#include "analysis/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct sy_arena arena;

static struct sy_trace *open_fixture(const struct fix *fix)
{
	struct sy_trace *trace = NULL;
	struct sy_err err;
	char *path = fix_write_temporary(fix);

	assert_int_equal(sy_trace_open(path, &trace, &err), 0);
	unlink(path);
	free(path);
	return trace;
}

static struct sy_steps find(const struct fix *fix, uint32_t skip, uint32_t limit)
{
	struct sy_trace *trace = open_fixture(fix);
	struct sy_steps steps = sy_steps_find(trace, (struct sy_step_range){ skip, limit }, &arena);

	sy_trace_close(trace);
	return steps;
}

static int tear_down(void **state)
{
	(void)state;
	sy_arena_free(&arena);
	return 0;
}

/* A step of `ticks` with `launches`, ended by a stepper. */
static void step(struct fix *fix, uint64_t ticks, unsigned launches, enum sy_step_source source, uint32_t stepper)
{
	fix->now += ticks;
	fix_launch(fix, launches);
	fix_step(fix, 0, source, stepper);
}

static uint32_t step_of(const struct sy_steps *steps, uint32_t n_step_events)
{
	const struct sy_event event = { .step = n_step_events };

	return sy_steps_of(steps, &event);
}

static void test_none(void **state)
{
	struct sy_steps steps;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC });
	steps = find(&fix, 3, 0);
	assert_int_equal(steps.n, 0);
	assert_int_equal(steps.source, 0);
	assert_false(sy_steps_is_counted(&steps, step_of(&steps, 0)));
	fix_end(&fix);
}

static void test_plain(void **state)
{
	struct sy_steps steps;
	struct fix fix;
	uint64_t value;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 6; i++)
		step(&fix, 100 + i, 10 * i, SY_STEP_TORCH, 1);
	steps = find(&fix, 2, 0);
	assert_int_equal(steps.n, 6);
	assert_int_equal(steps.source, SY_STEP_TORCH);
	assert_int_equal(steps.first, 2);
	assert_int_equal(steps.end, 6);
	assert_true(sy_steps_duration(&steps, 0, &value));
	assert_int_equal(value, 100);
	assert_true(sy_steps_duration(&steps, 4, &value));
	assert_int_equal(value, 104);
	assert_true(sy_steps_launches(&steps, 4, &value));
	assert_int_equal(value, 40);
	assert_int_equal(step_of(&steps, 5), 5);
	assert_int_equal(step_of(&steps, 6), steps.n);
	assert_false(sy_steps_is_counted(&steps, step_of(&steps, 1)));
	assert_true(sy_steps_is_counted(&steps, step_of(&steps, 2)));
	assert_false(sy_steps_is_counted(&steps, step_of(&steps, 6)));
	fix_end(&fix);
}

static void test_range(void **state)
{
	struct sy_steps steps;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 6; i++)
		step(&fix, 100, 1, SY_STEP_CALL, 0);
	steps = find(&fix, 2, 3);
	assert_int_equal(steps.first, 2);
	assert_int_equal(steps.end, 5);
	steps = find(&fix, 2, UINT32_MAX);
	assert_int_equal(steps.end, 6);
	steps = find(&fix, 9, 1);
	assert_int_equal(steps.first, 6);
	assert_int_equal(steps.end, 6);
	fix_end(&fix);
}

/* A generator and a discriminator step once each per iteration, and the last iteration is cut short. */
static void test_two_optimizers(void **state)
{
	struct sy_steps steps;
	struct fix fix;
	uint64_t value;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 4; i++) {
		step(&fix, 10, 1, SY_STEP_TORCH, 1);
		step(&fix, 30, 2, SY_STEP_TORCH, 2);
	}
	step(&fix, 10, 1, SY_STEP_TORCH, 1);
	steps = find(&fix, 0, 0);
	assert_int_equal(steps.n, 4);
	assert_true(sy_steps_duration(&steps, 1, &value));
	assert_int_equal(value, 40);
	assert_true(sy_steps_launches(&steps, 1, &value));
	assert_int_equal(value, 3);
	assert_int_equal(step_of(&steps, 2), 1);
	assert_int_equal(step_of(&steps, 3), 1);
	assert_int_equal(step_of(&steps, 8), steps.n);
	fix_end(&fix);
}

static void test_an_optimizer_that_steps_often(void **state)
{
	struct sy_steps steps;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 10; i++) {
		step(&fix, 10, 1, SY_STEP_TORCH, 1);
		if (i % 5 == 4)
			step(&fix, 10, 1, SY_STEP_TORCH, 2);
	}
	steps = find(&fix, 0, 0);
	assert_int_equal(steps.n, 10);
	fix_end(&fix);
}

static void test_the_programs_call_comes_first(void **state)
{
	struct sy_steps steps;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 8; i++) {
		step(&fix, 10, 1, SY_STEP_TORCH, 1);
		if (i % 4 == 3)
			step(&fix, 5, 0, SY_STEP_CALL, 0);
	}
	steps = find(&fix, 0, 0);
	assert_int_equal(steps.n, 2);
	assert_int_equal(steps.source, SY_STEP_CALL);
	fix_end(&fix);
}

/* Step number 2 was not recorded: its neighbours are known to end and begin somewhere in between. */
static void test_a_discarded_step(void **state)
{
	struct sy_steps steps;
	struct fix fix;
	uint64_t value;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	step(&fix, 10, 1, SY_STEP_CALL, 0);
	step(&fix, 10, 1, SY_STEP_CALL, 0);
	fix.steps++;
	fix_skip(&fix, 0, 1);
	step(&fix, 20, 2, SY_STEP_CALL, 0);
	step(&fix, 10, 1, SY_STEP_CALL, 0);
	fix_header(&fix)->discarded_events = 1;
	steps = find(&fix, 0, 0);
	assert_int_equal(steps.n, 5);
	assert_true(sy_steps_duration(&steps, 1, &value));
	assert_false(sy_steps_duration(&steps, 2, &value));
	assert_false(sy_steps_duration(&steps, 3, &value));
	assert_false(sy_steps_launches(&steps, 3, &value));
	assert_true(sy_steps_duration(&steps, 4, &value));
	fix_end(&fix);
}

/* One damaged number must not make a table of four thousand million steps. */
static void test_absurd_numbers(void **state)
{
	struct sy_steps steps;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	step(&fix, 10, 1, SY_STEP_CALL, 0);
	fix.steps = UINT32_MAX;
	step(&fix, 10, 1, SY_STEP_CALL, 0);
	fix_header(&fix)->discarded_events = UINT64_MAX;
	steps = find(&fix, 0, 0);
	assert_true(steps.n < 100000);
	fix_end(&fix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_none, tear_down),
		cmocka_unit_test_teardown(test_plain, tear_down),
		cmocka_unit_test_teardown(test_range, tear_down),
		cmocka_unit_test_teardown(test_two_optimizers, tear_down),
		cmocka_unit_test_teardown(test_an_optimizer_that_steps_often, tear_down),
		cmocka_unit_test_teardown(test_the_programs_call_comes_first, tear_down),
		cmocka_unit_test_teardown(test_a_discarded_step, tear_down),
		cmocka_unit_test_teardown(test_absurd_numbers, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
