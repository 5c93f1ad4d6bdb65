/* SPDX-License-Identifier: Apache-2.0 */
/* test_lanes.c - threads that followed one another in the same segments are told apart */
#include "trace_fixture.h"

#include "trace/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define KEPT "tests/data/v1/handover.trace"

enum { EVENTS_OF_SEGMENT = (SY_BLOCK_BYTES - 64) / 64 };

static struct sy_trace *open_fixture(struct fix *fix)
{
	char *path = fix_write_temporary(fix);
	struct sy_trace *trace = NULL;
	struct sy_err err;

	assert_int_equal(sy_trace_open(path, &trace, &err), 0);
	unlink(path);
	free(path);
	return trace;
}

static void call(struct fix *fix, unsigned lane, unsigned n)
{
	while (n--)
		fix_call(fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .thread = lane, .duration = 10, .stack = 1 });
}

/* Thread 0 with 2 events, then 2 with 3; thread 1 beside them; then 3, of which nothing is there yet. */
static void three(struct fix *fix)
{
	static const char *const frames[] = { "train.py:42 train" };

	fix_begin(fix, SY_CLOCK_VIRTUAL);
	fix_stack(fix, 0, frames, 1);
	call(fix, 0, 2);
	call(fix, 1, 1);
	fix_handover(fix, 0, 2, 7777, "second");
	call(fix, 0, 3);
	fix_handover(fix, 0, 3, 7778, "third");
	fix_header(fix)->n_threads = 4;
}

static void test_told_apart(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	three(&fix);
	if (getenv("RECORD") && access(KEPT, F_OK) != 0)
		fix_write(&fix, KEPT, fix.n_bytes);
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 3);
	assert_int_equal(trace->n_lanes, 2);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(trace->threads[i].index, i);
	assert_int_equal(trace->threads[0].n_events, 2);
	assert_int_equal(trace->threads[1].n_events, 1);
	assert_int_equal(trace->threads[2].n_events, 3);
	assert_int_equal(trace->threads[2].tid, 7777);
	assert_string_equal(trace->threads[2].name, "second");
	assert_int_equal(trace->threads[2].chunks[0].events[0].sequence, 1);
	assert_string_equal(sy_thread_frame(&trace->threads[2], 1, 0).function, "train");
	assert_string_equal(sy_thread_frame(&trace->threads[1], 1, 0).function, "?");
	assert_int_equal(sy_trace_census(trace).events, 6);
	assert_int_equal(sy_trace_census(trace).gaps, 0);
	sy_trace_close(trace);
	fix_end(&fix);
}

/* A segment that the lane's first thread has not begun starts with a handover. */
static void test_over_segments(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	call(&fix, 0, EVENTS_OF_SEGMENT - 2);
	fix_handover(&fix, 0, 1, 7777, "second");
	call(&fix, 0, 1);
	fix_handover(&fix, 0, 1, 7777, "second");
	fix.threads[0].sequence = 1;
	call(&fix, 0, 5);
	fix_segment(&fix, 0, SY_SEG_EVENTS)->discarded = 3;
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 2);
	assert_int_equal(trace->threads[0].n_events, EVENTS_OF_SEGMENT - 2);
	assert_int_equal(trace->threads[1].n_events, 6);
	assert_int_equal(trace->threads[1].n_chunks, 2);
	assert_int_equal(trace->lanes[0].discarded, 3);
	assert_int_equal(trace->damage.lost_segments, 0);
	assert_int_equal(sy_trace_census(trace).gaps, 0);
	sy_trace_close(trace);
	fix_end(&fix);
}

/* A number of handovers that is not true costs nothing but a search. */
static void test_untrue_number(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	three(&fix);
	fix_segment(&fix, 1, SY_SEG_EVENTS)->handovers = UINT32_MAX;
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 3);
	assert_int_equal(trace->threads[1].n_events, 1);
	sy_trace_close(trace);
	fix_end(&fix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_apart),
		cmocka_unit_test(test_over_segments),
		cmocka_unit_test(test_untrue_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
