/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kept_traces.c - traces of every format version stay readable, and mean what they meant
 *
 * tests/data/vMAJOR/NAME.trace is never edited; NAME.dump is what it says.
 * Each format version adds a folder. RECORD=1 writes the traces of the present
 * version, where they do not exist yet.
 */
#include "trace_fixture.h"

#include "trace/event.h"
#include "trace/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MIXED "tests/data/v1/mixed.trace"
#define DAMAGED "tests/data/v1/damaged.trace"

/* Something of everything the format can say. */
static void mixed(struct fix *fix)
{
	static const char *const frames[] = { "train.py:42 train", "caf\xc3\xa9.py:7 <lambda>",
		                              "train.py:90 <module>" };
	uint32_t stack, native;

	fix_begin(fix, SY_CLOCK_TSC);
	stack = fix_stack(fix, 0, frames, 3);
	native = fix_native(fix, 0, "/usr/lib/libtorch_cuda.so", 0xabcdef);
	fix_launch(fix, 41);
	fix_call(fix, (struct fix_call){ .api = FIX_MEMCPY_ASYNC,
	                                 .duration = 3001,
	                                 .bytes = 4,
	                                 .source = SY_MEMORY_DEVICE,
	                                 .destination = SY_MEMORY_PINNED,
	                                 .direction = SY_COPY_D2H,
	                                 .stream = 2,
	                                 .stack = stack,
	                                 .native = native,
	                                 .is_pending = true,
	                                 .gap = 5000001 });
	fix_call(fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .duration = 77777, .stream = 2, .stack = stack });
	fix_step(fix, 0, SY_STEP_TORCH, 3);
	fix_skip(fix, 0, 2);
	fix_call(fix, (struct fix_call){ .api = FIX_FREE,
	                                 .duration = 9,
	                                 .source = SY_MEMORY_DEVICE,
	                                 .direction = SY_COPY_UNKNOWN,
	                                 .status = -5 });
	fix_call(fix, (struct fix_call){ .api = (enum fix_api)500, .duration = 1, .stream = 77, .stack = 88 });
	fix_call(fix, (struct fix_call){ .api = FIX_MEMSET,
	                                 .thread = 1,
	                                 .bytes = 1ull << 40,
	                                 .destination = SY_MEMORY_MANAGED,
	                                 .direction = SY_COPY_UNKNOWN,
	                                 .is_capturing = true });
	fix_call(fix, (struct fix_call){ .api = FIX_DRV_STREAM_SYNC, .thread = 1, .stream = 1, .is_in_flight = true });
}

static void record(const struct fix *fix, const char *path, size_t n_bytes)
{
	if (getenv("RECORD") && access(path, F_OK) != 0)
		fix_write(fix, path, n_bytes);
}

static void test_mixed(void **state)
{
	struct sy_trace *trace = NULL;
	const struct sy_event *events;
	struct sy_census census;
	struct sy_err err;
	struct fix fix;

	(void)state;
	mixed(&fix);
	record(&fix, MIXED, fix.n_bytes);
	fix_end(&fix);
	assert_int_equal(sy_trace_open(MIXED, &trace, &err), 0);
	assert_int_equal(trace->n_threads, 2);
	events = trace->threads[0].chunks[0].events;
	assert_int_equal(sy_clock_at_ns(&trace->clock, events[0].enter_ticks), 2500000);
	assert_int_equal(sy_clock_span_ns(&trace->clock, events[1].duration_ticks), 38888);
	assert_string_equal(sy_trace_api(trace, events[1].api)->name, "cudaStreamSynchronize");
	assert_string_equal(sy_thread_frame(&trace->threads[0], events[0].stack, 1).file, "caf\xc3\xa9.py");
	assert_int_equal(events[2].kind, SY_EVENT_STEP);
	assert_int_equal(events[2].native, 3);
	assert_int_equal(events[3].status, -5);
	assert_false(sy_trace_api(trace, events[4].api)->is_defined);
	census = sy_trace_census(trace);
	assert_int_equal(census.events, 7);
	assert_int_equal(census.gaps, 2);
	assert_int_equal(census.in_flight, 1);
	sy_trace_close(trace);
}

/* Cut in the middle of the second thread's segment. */
static void test_damaged(void **state)
{
	struct sy_trace *trace = NULL;
	struct sy_err err;
	struct fix fix;

	(void)state;
	mixed(&fix);
	record(&fix, DAMAGED, fix.n_bytes - SY_BLOCK_BYTES + 130);
	fix_end(&fix);
	assert_int_equal(sy_trace_open(DAMAGED, &trace, &err), 0);
	assert_int_equal(trace->n_threads, 2);
	assert_int_equal(trace->threads[1].n_events, 1);
	assert_int_equal(trace->damage.missing_events, 1);
	assert_int_equal(trace->damage.missing_bytes, SY_BLOCK_BYTES - 130);
	sy_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
