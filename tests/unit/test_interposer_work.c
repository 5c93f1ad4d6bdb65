/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of docs/SYNC-RULES.md, "Pending", one test each. Ordering of threads is written out, not raced for. */
#include "interposer/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { A = 0x1000, B = 0x2000, N = 0x3000 }; /* handles: A, B blocking, N non-blocking */

static struct sy_work *work;

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

static void submit(uint64_t handle)
{
	struct sy_work_op op;

	sy_work_submit(work, on(handle), &op);
	sy_work_submitted(work, on(handle), &op, true);
}

static void synchronize(uint64_t handle)
{
	struct sy_work_cover cover;

	sy_work_cover_stream(work, on(handle), &cover);
	sy_work_certify(work, &cover);
}

static void record_event(uint64_t event, uint64_t handle)
{
	struct sy_work_cover cover;
	struct sy_work_op op;

	sy_work_submit(work, on(handle), &op);
	sy_work_cover_op(work, on(handle), &op, &cover);
	sy_work_event_record(work, event, &op, &cover);
	sy_work_submitted(work, on(handle), &op, true);
}

static void wait_event(uint64_t handle, uint64_t event)
{
	struct sy_work_op op;

	sy_work_submit(work, on(handle), &op);
	sy_work_event_wait(work, on(handle), event);
	sy_work_submitted(work, on(handle), &op, true);
}

static bool is_pending(uint64_t handle)
{
	return sy_work_is_pending(work, on(handle));
}

static void nothing_submitted_is_empty(void **unused)
{
	(void)unused;
	assert_false(is_pending(0));
	assert_false(is_pending(A));
	assert_false(sy_work_is_device_pending(work, 0));
}

static void a_wait_proves_its_stream_once(void **unused)
{
	(void)unused;
	submit(N);
	assert_true(is_pending(N));
	assert_false(is_pending(A));
	synchronize(N);
	assert_false(is_pending(N));
	submit(N);
	assert_true(is_pending(N));
}

static void a_failed_call_submits_nothing(void **unused)
{
	struct sy_work_op op;

	(void)unused;
	sy_work_submit(work, on(N), &op);
	sy_work_submitted(work, on(N), &op, false);
	assert_false(is_pending(N));
}

static void a_failed_call_orders_its_stream_after_nothing(void **unused)
{
	struct sy_work_op op;

	(void)unused;
	submit(A);
	submit(0);
	sy_work_submit(work, on(A), &op); /* would have been ordered after the legacy stream */
	sy_work_submitted(work, on(A), &op, false);
	synchronize(A);
	assert_true(is_pending(0));
}

static void the_legacy_stream_covers_blocking_streams_only(void **unused)
{
	(void)unused;
	submit(A);
	submit(N);
	assert_true(is_pending(0));
	synchronize(0);
	assert_false(is_pending(A));
	assert_true(is_pending(N));
}

static void a_blocking_stream_covers_what_legacy_did_before_it(void **unused)
{
	(void)unused;
	submit(B);
	submit(0); /* after B */
	submit(A); /* after legacy, and so after B */
	submit(B); /* not before A */
	synchronize(A);
	assert_false(sy_work_is_op_pending(work, on(A)));
	assert_true(is_pending(B));
	submit(0);
	synchronize(A);
	assert_true(is_pending(0)); /* legacy went on after A's last operation */
}

static void a_copy_on_a_blocking_stream_is_ordered_after_legacy(void **unused)
{
	(void)unused;
	submit(0);
	assert_false(is_pending(A));
	assert_true(sy_work_is_op_pending(work, on(A)));
	assert_false(sy_work_is_op_pending(work, on(N)));
}

static void an_event_covers_its_stream_up_to_the_record(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	assert_false(sy_work_cover_event(work, 77, &cover)); /* never recorded */
	submit(N);
	record_event(77, N);
	assert_true(sy_work_cover_event(work, 77, &cover));
	sy_work_certify(work, &cover);
	assert_false(is_pending(N));
	assert_false(sy_work_cover_event(work, 77, &cover));
	submit(N);
	assert_false(sy_work_cover_event(work, 77, &cover));
	assert_true(is_pending(N));
}

static void a_wait_for_an_event_makes_one_stream_cover_another(void **unused)
{
	(void)unused;
	submit(N);
	record_event(5, N);
	wait_event(A, 5);
	submit(N);
	synchronize(A);
	assert_true(is_pending(N)); /* the operation behind the record */
	synchronize(N);
	submit(A);
	record_event(6, A);
	wait_event(N, 6);
	synchronize(N);
	assert_false(is_pending(A));
}

static void a_reused_event_means_its_last_record(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	record_event(9, A);
	submit(N);
	record_event(9, N);
	assert_true(sy_work_cover_event(work, 9, &cover));
	sy_work_certify(work, &cover);
	assert_false(is_pending(N));
	assert_true(is_pending(A));
	sy_work_event_forget(work, 9);
	assert_false(sy_work_cover_event(work, 9, &cover));
}

static void a_device_wait_covers_everything(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	submit(0);
	submit(A);
	submit(N);
	sy_work_stream_destroy(work, on(N));
	assert_true(sy_work_is_device_pending(work, 0));
	sy_work_cover_device(work, 0, &cover);
	submit(A); /* after the wait had begun */
	sy_work_certify(work, &cover);
	assert_true(is_pending(A));
	synchronize(A);
	assert_false(sy_work_is_device_pending(work, 0));
}

/* Another thread's call is on its way: it may reach the driver before or after our wait. */
static void nothing_is_proved_about_a_stream_with_a_call_in_flight(void **unused)
{
	struct sy_work_cover stream_cover, legacy_cover, device_cover;
	struct sy_work_op in_flight;

	(void)unused;
	sy_work_submit(work, on(A), &in_flight);
	sy_work_cover_stream(work, on(A), &stream_cover);
	sy_work_cover_stream(work, on(0), &legacy_cover);
	sy_work_cover_device(work, 0, &device_cover);
	sy_work_submitted(work, on(A), &in_flight, true);
	sy_work_certify(work, &stream_cover);
	sy_work_certify(work, &legacy_cover);
	sy_work_certify(work, &device_cover);
	assert_true(is_pending(A));
}

static void knowledge_is_what_was_submitted_at_entry(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	submit(N);
	sy_work_cover_stream(work, on(N), &cover);
	submit(N);
	sy_work_certify(work, &cover);
	assert_true(is_pending(N));
}

static void a_capturing_stream_belongs_to_its_capture_until_the_end(void **unused)
{
	(void)unused;
	sy_work_capture_begin(work, on(A));
	assert_int_not_equal(on(A)->capture, 0);
	sy_work_capture_end(work, on(A));
	assert_int_equal(on(A)->capture, 0);
}

static void more_streams_than_slots_are_told_apart_from_known_ones(void **unused)
{
	unsigned n_known = 0;

	(void)unused;
	for (uint64_t i = 0; i < 2 * SY_WORK_STREAMS; i++)
		n_known += sy_work_stream_get(work, 0x100000 + i * 64, 0) != NULL;
	assert_in_range(n_known, SY_WORK_STREAMS / 2, SY_WORK_STREAMS);
	assert_ptr_equal(sy_work_stream_get(work, 0x100000, 0), sy_work_stream_get(work, 0x100000, 0));
}

static void events_survive_removals_around_them(void **unused)
{
	struct sy_work_cover cover;

	(void)unused;
	for (uint64_t i = 1; i <= 20000; i++)
		record_event(i * 16, N);
	for (uint64_t i = 1; i <= 20000; i += 2)
		sy_work_event_forget(work, i * 16);
	for (uint64_t i = 1; i <= 20000; i++)
		assert_int_equal(sy_work_cover_event(work, i * 16, &cover), i % 2 == 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, fresh, drop)
	const struct CMUnitTest tests[] = {
		CASE(nothing_submitted_is_empty),
		CASE(a_wait_proves_its_stream_once),
		CASE(a_failed_call_submits_nothing),
		CASE(a_failed_call_orders_its_stream_after_nothing),
		CASE(the_legacy_stream_covers_blocking_streams_only),
		CASE(a_blocking_stream_covers_what_legacy_did_before_it),
		CASE(a_copy_on_a_blocking_stream_is_ordered_after_legacy),
		CASE(an_event_covers_its_stream_up_to_the_record),
		CASE(a_wait_for_an_event_makes_one_stream_cover_another),
		CASE(a_reused_event_means_its_last_record),
		CASE(a_device_wait_covers_everything),
		CASE(nothing_is_proved_about_a_stream_with_a_call_in_flight),
		CASE(knowledge_is_what_was_submitted_at_entry),
		CASE(a_capturing_stream_belongs_to_its_capture_until_the_end),
		CASE(more_streams_than_slots_are_told_apart_from_known_ones),
		CASE(events_survive_removals_around_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
