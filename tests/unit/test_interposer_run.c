/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in a row: the same account as of launches with a number each. Ordering of threads is written out, not raced for. */
#include "interposer/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { A = 0x1000, B = 0x2000, N = 0x3000 }; /* handles: A, B blocking, N non-blocking */

static struct sy_work *work;
static struct sy_work_run *run;

static int fresh(void **unused)
{
	(void)unused;
	work = aligned_alloc(64, sizeof(*work));
	if (!work)
		return -1;
	memset(work, 0, sizeof(*work));
	sy_work_stream_create(work, A, 0, false);
	sy_work_stream_create(work, B, 0, false);
	sy_work_stream_create(work, N, 0, true);
	run = sy_work_run_add(work);
	return run ? 0 : -1;
}

static int drop(void **unused)
{
	(void)unused;
	free(work);
	return 0;
}

static struct sy_work_stream *on(uint64_t handle)
{
	return sy_work_stream_get(work, handle, 0);
}

static void submit_in(uint64_t handle, bool opens)
{
	struct sy_work_op op;

	sy_work_settle(work);
	sy_work_submit(work, on(handle), &op);
	if (opens)
		sy_work_run_open(work, run, on(handle), &op, handle + 1);
	sy_work_submitted(work, on(handle), &op, true);
}

static void submit(uint64_t handle)
{
	submit_in(handle, false);
}

static void open_on(uint64_t handle)
{
	submit_in(handle, true);
}

static void launch(void)
{
	run->started++;
	run->returned = run->started;
}

static void synchronize(uint64_t handle)
{
	struct sy_work_cover cover;

	sy_work_settle(work);
	sy_work_cover_stream(work, on(handle), &cover);
	sy_work_certify(work, &cover);
}

static bool is_pending(uint64_t handle)
{
	sy_work_settle(work);
	return sy_work_is_pending(work, on(handle));
}

static void a_launch_is_pending_until_its_stream_is_waited_for(void **unused)
{
	(void)unused;
	open_on(N);
	synchronize(N);
	assert_false(is_pending(N));
	launch();
	launch();
	assert_true(is_pending(N));
	assert_false(is_pending(A));
	synchronize(N);
	assert_false(is_pending(N));
	assert_int_equal(run->key, N + 1);
	launch();
	assert_true(is_pending(N));
}

/* What comes after a launch has the higher number, so that its proof is the launch's too. */
static void what_follows_proves_what_was_launched_before(void **unused)
{
	struct sy_work_cover cover;
	struct sy_work_op op;

	(void)unused;
	open_on(N);
	launch();
	sy_work_settle(work);
	sy_work_submit(work, on(N), &op);
	sy_work_cover_op(work, on(N), &op, &cover);
	sy_work_submitted(work, on(N), &op, true);
	launch();
	sy_work_certify(work, &cover);
	assert_true(is_pending(N)); /* the second launch */
	sy_work_submit(work, on(N), &op);
	sy_work_cover_op(work, on(N), &op, &cover);
	sy_work_submitted(work, on(N), &op, true);
	sy_work_certify(work, &cover);
	assert_false(is_pending(N));
}

static void a_failed_launch_submits_nothing(void **unused)
{
	(void)unused;
	open_on(N);
	synchronize(N);
	run->started++;
	sy_work_run_take_back(work, run);
	run->returned = run->started;
	assert_false(is_pending(N));
	launch();
	run->started++;
	sy_work_run_take_back(work, run);
	run->returned = run->started;
	assert_true(is_pending(N));
	synchronize(N);
	assert_false(is_pending(N));
	launch();
	assert_true(is_pending(N));
}

/* Another thread's launch is on its way: it may reach the driver before or after our wait. */
static void nothing_is_proved_about_a_launch_in_flight(void **unused)
{
	(void)unused;
	open_on(N);
	run->started++;
	assert_true(is_pending(N));
	synchronize(N);
	assert_true(is_pending(N));
	run->returned = run->started;
	assert_true(is_pending(N));
	synchronize(N);
	assert_false(is_pending(N));
	assert_int_equal(on(N)->n_in_flight, 0);
}

static void a_launch_that_starts_during_a_wait_is_not_proved_by_it(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	open_on(N);
	launch();
	sy_work_settle(work);
	sy_work_cover_stream(work, on(N), &cover);
	launch();
	sy_work_certify(work, &cover);
	assert_true(is_pending(N));
}

/* "A, legacy" and "legacy, A" are not the same, so a run ends where the other side of the legacy rule submits. */
static void the_legacy_rule_ends_a_run(void **unused)
{
	(void)unused;
	open_on(A);
	launch();
	submit(N);
	submit(B);
	assert_int_equal(run->key, A + 1);
	submit(0); /* after A's launches */
	assert_int_equal(run->key, 0);
	synchronize(A);
	assert_true(is_pending(0));

	open_on(0);
	launch();
	submit(N);
	assert_int_equal(run->key, 0 + 1);
	submit(A); /* after the launch, and so proves it */
	assert_int_equal(run->key, 0);
	synchronize(A);
	assert_false(is_pending(0));
}

/* It was on its way past the check when the run was closed: nobody knows what it is ordered after. */
static void a_launch_too_late_for_its_run_proves_nothing_else(void **unused)
{
	struct sy_work_cover cover;
	struct sy_work_op op;

	(void)unused;
	open_on(0);
	submit(A);
	launch();
	sy_work_settle(work);
	sy_work_cover_op(work, on(0), &(struct sy_work_op){ .number = on(0)->last }, &cover);
	sy_work_certify(work, &cover);
	assert_true(is_pending(A));
	sy_work_submit(work, on(B), &op);
	sy_work_cover_op(work, on(B), &op, &cover);
	sy_work_submitted(work, on(B), &op, true);
	sy_work_certify(work, &cover);
	assert_true(is_pending(A));
}

static void a_run_is_not_opened_behind_what_is_ordered_after_its_launch(void **unused)
{
	struct sy_work_op op;

	(void)unused;
	sy_work_submit(work, on(0), &op);
	submit(A);
	sy_work_run_open(work, run, on(0), &op, 1);
	sy_work_submitted(work, on(0), &op, true);
	assert_int_equal(run->key, 0);
}

static void a_capture_and_the_end_of_a_stream_end_a_run(void **unused)
{
	const struct sy_work_stream *slot;

	(void)unused;
	open_on(N);
	launch();
	sy_work_capture_begin(work, on(N));
	assert_int_equal(run->key, 0);
	open_on(N);
	assert_int_equal(run->key, 0);
	sy_work_capture_end(work, on(N));
	synchronize(N);
	open_on(N);
	synchronize(N);
	slot = on(N);
	launch();
	sy_work_stream_destroy(work, on(N));
	assert_int_equal(run->key, 0);
	sy_work_stream_create(work, N, 0, true); /* not in the slot of work that is outstanding */
	assert_ptr_not_equal(on(N), slot);
	assert_false(is_pending(N));
	assert_true(sy_work_is_device_pending(work, 0));
}

static void a_run_that_moves_leaves_its_launches_behind(void **unused)
{
	(void)unused;
	open_on(N);
	launch();
	open_on(A);
	synchronize(A);
	assert_false(is_pending(A));
	assert_true(is_pending(N));
	launch();
	assert_true(is_pending(A));
	synchronize(N);
	assert_false(is_pending(N));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, fresh, drop)
	const struct CMUnitTest tests[] = {
		CASE(a_launch_is_pending_until_its_stream_is_waited_for),
		CASE(what_follows_proves_what_was_launched_before),
		CASE(a_failed_launch_submits_nothing),
		CASE(nothing_is_proved_about_a_launch_in_flight),
		CASE(a_launch_that_starts_during_a_wait_is_not_proved_by_it),
		CASE(the_legacy_rule_ends_a_run),
		CASE(a_launch_too_late_for_its_run_proves_nothing_else),
		CASE(a_run_is_not_opened_behind_what_is_ordered_after_its_launch),
		CASE(a_capture_and_the_end_of_a_stream_end_a_run),
		CASE(a_run_that_moves_leaves_its_launches_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
