/* SPDX-License-Identifier: Apache-2.0 */
/* What takes part in a capture, as the preload library follows it. Its calls as a whole: tests/e2e/graphs.bats. */
#include "interposer/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { A = 0x1000, B = 0x2000, C = 0x3000, EVENT = 0x9000 };

static struct sy_work *work;

static int fresh(void **unused)
{
	(void)unused;
	work = aligned_alloc(64, sizeof(*work));
	if (!work)
		return -1;
	memset(work, 0, sizeof(*work));
	for (uint64_t handle = A; handle <= C; handle += B - A)
		sy_work_stream_create(work, handle, 0, true);
	return 0;
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

static bool is_capturing(uint64_t handle)
{
	return on(handle)->capture != 0;
}

/* As call.c does it for a stream that captures: nothing is submitted. */
static void record_captured(uint64_t event, uint64_t handle)
{
	struct sy_work_op op = { .number = 0 };
	struct sy_work_cover cover;

	sy_work_cover_op(work, on(handle), &op, &cover);
	sy_work_event_record(work, event, &op, &cover);
}

static void record(uint64_t event, uint64_t handle)
{
	struct sy_work_cover cover;
	struct sy_work_op op;

	sy_work_submit(work, on(handle), &op);
	sy_work_cover_op(work, on(handle), &op, &cover);
	sy_work_event_record(work, event, &op, &cover);
	sy_work_submitted(work, on(handle), &op, true);
}

static void a_stream_joins_by_an_event_and_leaves_with_the_capture(void **unused)
{
	(void)unused;
	sy_work_capture_begin(work, on(A));
	assert_true(is_capturing(A));
	record_captured(EVENT, A);
	sy_work_event_wait(work, on(B), EVENT);
	assert_true(is_capturing(B));
	assert_false(is_capturing(C));
	sy_work_capture_end(work, on(A));
	assert_false(is_capturing(A));
	assert_false(is_capturing(B));
}

static void captures_are_told_apart(void **unused)
{
	(void)unused;
	sy_work_capture_begin(work, on(A));
	sy_work_capture_begin(work, on(B));
	record_captured(EVENT, B);
	sy_work_event_wait(work, on(C), EVENT);
	sy_work_capture_end(work, on(A));
	assert_false(is_capturing(A));
	assert_true(is_capturing(B));
	assert_true(is_capturing(C));
}

static void an_event_of_an_ended_capture_takes_nobody_in(void **unused)
{
	(void)unused;
	sy_work_capture_begin(work, on(A));
	record_captured(EVENT, A);
	sy_work_capture_end(work, on(A));
	sy_work_event_wait(work, on(B), EVENT);
	assert_false(is_capturing(B));
	/* Nor does one that was recorded again, outside. */
	sy_work_capture_begin(work, on(A));
	record_captured(EVENT, A);
	record(EVENT, C);
	sy_work_event_wait(work, on(B), EVENT);
	assert_false(is_capturing(B));
}

static void an_event_recorded_in_a_capture_may_be_pending_and_proves_nothing(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	record(EVENT, A);
	sy_work_capture_begin(work, on(B));
	record_captured(EVENT, B);
	sy_work_capture_end(work, on(B));
	assert_true(sy_work_cover_event(work, EVENT, &cover));
	sy_work_certify(work, &cover);
	assert_true(sy_work_is_pending(work, on(A)));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fresh, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stream_joins_by_an_event_and_leaves_with_the_capture),
		TEST(captures_are_told_apart),
		TEST(an_event_of_an_ended_capture_takes_nobody_in),
		TEST(an_event_recorded_in_a_capture_may_be_pending_and_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
