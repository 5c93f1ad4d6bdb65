/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reader.c - the reader of traces: whole ones, damaged ones, foreign ones
 *
 * What is made of the events is tested in test_logical.c and its neighbours;
 * that other programs can read the format, in tests/test_read_trace.py.
 */
#include "trace_fixture.h"

#include "trace/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct sy_err err;

/* Opens what the fixture holds; the file is gone afterwards. */
static struct sy_trace *open_fixture(const struct fix *fix)
{
	struct sy_trace *trace = NULL;
	char *path = fix_write_temporary(fix);

	assert_int_equal(sy_trace_open(path, &trace, &err), 0);
	unlink(path);
	free(path);
	return trace;
}

static int open_cut(const struct fix *fix, size_t n_bytes, struct sy_trace **trace)
{
	char *path = fix_write_temporary(fix);
	int result;

	assert_int_equal(truncate(path, (off_t)n_bytes), 0);
	result = sy_trace_open(path, trace, &err);
	unlink(path);
	free(path);
	return result;
}

/* Two threads, some definitions, a step. */
static void small(struct fix *fix, enum sy_clock_kind clock)
{
	static const char *const frames[] = { "train.py:42 train", "train.py:90 <module>" };
	uint32_t stack;

	fix_begin(fix, clock);
	stack = fix_stack(fix, 0, frames, 2);
	fix_launch(fix, 3);
	fix_call(fix, (struct fix_call){ .api = FIX_MEMCPY_ASYNC,
	                                 .duration = 100,
	                                 .bytes = 4,
	                                 .source = SY_MEMORY_DEVICE,
	                                 .destination = SY_MEMORY_PINNED,
	                                 .direction = 2,
	                                 .stream = 2,
	                                 .stack = stack,
	                                 .is_pending = true,
	                                 .gap = 50 });
	fix_call(fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .duration = 200, .stream = 2, .stack = stack });
	fix_step(fix, 0, SY_STEP_CALL, 0);
	fix_call(fix, (struct fix_call){ .api = FIX_DEVICE_SYNC,
	                                 .thread = 1,
	                                 .duration = 7,
	                                 .native = fix_native(fix, 1, "/usr/bin/app", 0x1234) });
}

static void test_whole(void **state)
{
	struct sy_trace_stream stream;
	struct sy_trace_frame frame;
	struct sy_trace_native native;
	const struct sy_trace_api *api;
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 2);
	assert_int_equal(trace->threads[0].n_events, 3);
	assert_int_equal(trace->threads[1].n_events, 1);
	assert_string_equal(trace->threads[0].name, "python");
	assert_int_equal(trace->threads[1].tid, 4243);
	assert_string_equal(trace->header.host, "testhost");
	api = sy_trace_api(trace, trace->threads[0].chunks[0].events[0].api);
	assert_true(api->is_defined);
	assert_string_equal(api->name, "cudaMemcpyAsync");
	assert_string_equal(api->class_name, "COPY_ASYNC");
	assert_string_equal(api->class_label, "copy");
	assert_false(sy_trace_api(trace, 60000)->is_defined);
	assert_true(sy_trace_stream(trace, 2, &stream));
	assert_int_equal(stream.handle, 0x5500aa00);
	assert_false(sy_trace_stream(trace, 3, &stream));
	assert_int_equal(sy_thread_stack_depth(&trace->threads[0], 1), 2);
	frame = sy_thread_frame(&trace->threads[0], 1, 1);
	assert_string_equal(frame.file, "train.py");
	assert_string_equal(frame.function, "<module>");
	assert_int_equal(frame.line, 90);
	assert_string_equal(sy_thread_frame(&trace->threads[0], 9, 0).file, "?");
	assert_int_equal(sy_thread_stack_depth(&trace->threads[1], 1), 0);
	native = sy_thread_native(&trace->threads[1], 1, 0);
	assert_string_equal(native.module, "/usr/bin/app");
	assert_int_equal(native.offset, 0x1234);
	assert_string_equal(sy_trace_meta(trace, "argv.1"), "train.py");
	assert_null(sy_trace_meta(trace, "argv.2"));
	assert_int_equal(trace->damage.missing_bytes, 0);
	assert_int_equal(trace->damage.unreadable_bytes, 0);
	assert_int_equal(sy_trace_census(trace).gaps, 0);
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_last_meta_holds(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	fix_meta(&fix, "key", "first");
	fix_meta(&fix, "key", "second");
	trace = open_fixture(&fix);
	assert_string_equal(sy_trace_meta(trace, "key"), "second");
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_many_segments_in_any_order(void **state)
{
	const unsigned n = 5000; /* more than four segments of 1023 events */
	struct sy_trace *trace;
	struct fix fix;
	uint32_t expected = 1;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < n; i++)
		for (unsigned t = 0; t < 2; t++)
			fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .thread = t, .duration = 1 });
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 2);
	assert_int_equal(trace->threads[1].n_events, n);
	assert_int_equal(trace->threads[1].n_chunks, 5);
	for (uint32_t c = 0; c < 5; c++)
		for (uint32_t i = 0; i < trace->threads[1].chunks[c].n_events; i++)
			assert_int_equal(trace->threads[1].chunks[c].events[i].sequence, expected++);
	assert_int_equal(trace->damage.lost_segments, 0);
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_clocks(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_TSC);
	/* The fixture's clock makes two ticks per nanosecond. */
	fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .gap = 4000000 });
	trace = open_fixture(&fix);
	assert_false(trace->clock.is_rough);
	assert_int_equal(sy_clock_span_ns(&trace->clock, 1000), 500);
	assert_int_equal(sy_clock_at_ns(&trace->clock, 3000), 1000);
	assert_int_equal(sy_clock_at_ns(&trace->clock, 10), 0);
	assert_int_equal(sy_clock_span_ns(&trace->clock, UINT64_MAX), 1ull << 62);
	sy_trace_close(trace);
	fix_end(&fix);

	small(&fix, SY_CLOCK_TSC);
	fix_segment(&fix, 0, SY_SEG_EVENTS)->last_ticks = 0;
	fix_segment(&fix, 1, SY_SEG_EVENTS)->last_ticks = 0;
	trace = open_fixture(&fix);
	assert_true(trace->clock.is_rough);
	sy_trace_close(trace);
	fix_end(&fix);

	small(&fix, SY_CLOCK_MONOTONIC);
	trace = open_fixture(&fix);
	assert_int_equal(sy_clock_span_ns(&trace->clock, 1000), 1000);
	sy_trace_close(trace);
	fix_end(&fix);
}

static void expect_error(const struct fix *fix, size_t n_bytes, const char *words)
{
	struct sy_trace *trace = NULL;

	err.text[0] = '\0';
	assert_int_equal(open_cut(fix, n_bytes, &trace), -1);
	assert_null(trace);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, err.text);
	assert_non_null(strstr(err.text, "path="));
	assert_null(strchr(err.text, '\n'));
}

static void test_not_readable(void **state)
{
	struct sy_trace *trace = NULL;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	expect_error(&fix, 0, "empty");
	expect_error(&fix, 191, "too short");
	fix_header(&fix)->major = 2;
	expect_error(&fix, fix.n_bytes, "version 2.0 is not known");
	fix_header(&fix)->major = 0;
	expect_error(&fix, fix.n_bytes, "version");
	fix_header(&fix)->major = 1;
	fix_header(&fix)->minor = 9;
	assert_int_equal(open_cut(&fix, fix.n_bytes, &trace), 0);
	sy_trace_close(trace);
	fix_header(&fix)->header_bytes = 8;
	expect_error(&fix, fix.n_bytes, "header_bytes=8");
	fix_header(&fix)->header_bytes = sizeof(struct sy_file_header);
	fix_header(&fix)->clock_kind = 77;
	expect_error(&fix, fix.n_bytes, "clock_kind=77");
	fix_header(&fix)->magic = 0;
	expect_error(&fix, fix.n_bytes, "not a synctally trace");
	assert_int_equal(sy_trace_open("/nonexistent/x.trace", &trace, &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(sy_trace_open("/", &trace, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	fix_end(&fix);
}

static void test_fifo_does_not_hold(void **state)
{
	char directory[] = "/tmp/synctally-test-XXXXXX";
	struct sy_trace *trace = NULL;
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/x.trace", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(sy_trace_open(path, &trace, &err), -1);
	unlink(path);
	rmdir(directory);
}

/* The file is cut shorter and shorter; what is read shrinks with it and nothing else happens. */
static void test_cut_at_every_97th_byte(void **state)
{
	uint64_t events_before = UINT64_MAX;
	struct fix fix;
	char *path;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 1500; i++)
		fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .thread = i % 2, .duration = 1 });
	path = fix_write_temporary(&fix);
	for (size_t n = fix.n_bytes; n > 97; n -= 97) {
		struct sy_trace *trace = NULL;
		struct sy_census census;
		int result;

		assert_int_equal(truncate(path, (off_t)n), 0);
		result = sy_trace_open(path, &trace, &err);
		assert_int_equal(result, n < sizeof(struct sy_file_header) ? -1 : 0);
		if (result != 0)
			continue;
		assert_int_equal(trace->damage.missing_bytes, fix.n_bytes - n);
		assert_int_equal(trace->damage.unreadable_bytes, 0);
		census = sy_trace_census(trace);
		assert_true(census.events <= events_before);
		assert_int_equal(census.unknown + census.blank + census.disordered, 0);
		events_before = census.events;
		sy_trace_close(trace);
	}
	assert_int_equal(events_before, 0);
	unlink(path);
	free(path);
	fix_end(&fix);
}

static void test_lengths_are_not_trusted(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	fix_segment(&fix, 0, SY_SEG_EVENTS)->used = UINT32_MAX;
	trace = open_fixture(&fix);
	assert_int_equal(trace->threads[0].n_events, 1023);
	assert_int_equal(trace->damage.missing_events, UINT32_MAX - 1023u);
	assert_int_equal(sy_trace_census(trace).blank, 1020);
	sy_trace_close(trace);

	fix_segment(&fix, 0, SY_SEG_EVENTS)->used = 3;
	fix_segment(&fix, 0, SY_SEG_EVENTS)->bytes = 12345;
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 1);
	assert_int_equal(trace->damage.unreadable_bytes, SY_BLOCK_BYTES);
	sy_trace_close(trace);

	fix_segment(&fix, 0, SY_SEG_EVENTS)->bytes = SY_BLOCK_BYTES;
	fix_segment(&fix, 0, SY_SEG_DEFS)->used = UINT32_MAX;
	trace = open_fixture(&fix);
	assert_int_equal(sy_thread_stack_depth(&trace->threads[0], 1), 2);
	assert_int_equal(trace->damage.unreadable_defs, 1);
	sy_trace_close(trace);
	fix_end(&fix);
}

/* A segment whose writer claimed it and had no time to describe it. */
static void test_segment_not_ready(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	memset(fix_segment(&fix, 0, SY_SEG_EVENTS), 0, SY_BLOCK_BYTES);
	trace = open_fixture(&fix);
	assert_int_equal(trace->n_threads, 1);
	assert_int_equal(trace->threads[0].index, 1);
	assert_int_equal(trace->damage.unreadable_bytes, 0);
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_damaged_definitions(void **state)
{
	static const char *const frame[] = { "a.py:1 f" };
	struct sy_def_header *def;
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_stack(&fix, 0, frame, 1);
	fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .stack = 1 });
	def = (struct sy_def_header *)(fix_segment(&fix, 0, SY_SEG_DEFS) + 1);
	def->bytes = 7;
	trace = open_fixture(&fix);
	assert_int_equal(trace->damage.unreadable_defs, 1);
	assert_int_equal(sy_thread_stack_depth(&trace->threads[0], 1), 0);
	sy_trace_close(trace);

	def->bytes = 24;
	def->kind = 4000;
	trace = open_fixture(&fix);
	assert_int_equal(trace->damage.unknown_defs, 1);
	assert_string_equal(sy_thread_frame(&trace->threads[0], 1, 0).file, "?");
	assert_string_equal(sy_thread_frame(&trace->threads[0], 1, 0).function, "f");
	sy_trace_close(trace);

	def->kind = SY_DEF_STRING;
	def->pad = 60000;
	trace = open_fixture(&fix);
	assert_int_equal(trace->damage.unreadable_defs, 1);
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_text_is_made_safe(void **state)
{
	static const char *const frame[] = { "caf\xc3\xa9\x1b[31m\xff\xc3.py:1 f\xc2\x9b" };
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_stack(&fix, 0, frame, 1);
	fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .stack = 1 });
	trace = open_fixture(&fix);
	assert_string_equal(sy_thread_frame(&trace->threads[0], 1, 0).file, "caf\xc3\xa9?[31m??.py");
	assert_string_equal(sy_thread_frame(&trace->threads[0], 1, 0).function, "f??");
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_census(void **state)
{
	struct sy_census census;
	struct sy_event *event;
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_VIRTUAL);
	fix_skip(&fix, 0, 5);
	fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC });
	event = fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC });
	event->kind = 9;
	event = fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC });
	event->kind = 0;
	event->sequence = 0;
	fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .is_in_flight = true });
	fix_segment(&fix, 0, SY_SEG_EVENTS)->discarded = 5;
	trace = open_fixture(&fix);
	census = sy_trace_census(trace);
	assert_int_equal(census.events, 8);
	assert_int_equal(census.gaps, 5 + 1);
	assert_int_equal(census.unknown, 1);
	assert_int_equal(census.blank, 1);
	assert_int_equal(census.in_flight, 1);
	assert_int_equal(census.disordered, 0);
	assert_int_equal(trace->lanes[0].discarded, 5);
	sy_trace_close(trace);
	fix_end(&fix);
}

static void test_lost_segment(void **state)
{
	struct sy_trace *trace;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 3000; i++)
		fix_call(&fix, (struct fix_call){ .api = FIX_STREAM_SYNC });
	/* The second segment of events lies in the third block of the file. */
	memset(fix.bytes + 2 * SY_BLOCK_BYTES, 0xee, SY_BLOCK_BYTES);
	trace = open_fixture(&fix);
	assert_int_equal(trace->damage.lost_segments, 1);
	assert_int_equal(trace->damage.unreadable_bytes, SY_BLOCK_BYTES);
	assert_int_equal(sy_trace_census(trace).gaps, 1023);
	sy_trace_close(trace);
	fix_end(&fix);
}

/* No crash and no endless loop whatever a few bytes say; the sanitizers see what a crash would not show. */
static void test_changed_bytes(void **state)
{
	uint32_t random = 12345;
	struct fix fix;

	(void)state;
	small(&fix, SY_CLOCK_TSC);
	for (unsigned round = 0; round < 400; round++) {
		struct sy_trace *trace = NULL;
		struct fix changed = fix;

		changed.bytes = malloc(fix.n_bytes);
		assert_non_null(changed.bytes);
		memcpy(changed.bytes, fix.bytes, fix.n_bytes);
		for (unsigned i = 0; i < 6; i++) {
			size_t block;

			random = random * 1664525u + 1013904223u;
			block = (random >> 8) % (fix.n_bytes / SY_BLOCK_BYTES) * SY_BLOCK_BYTES;
			random = random * 1664525u + 1013904223u;
			if (random >> 31 && block == 0)
				block = SY_PROCESS_DEFS_OFFSET;
			changed.bytes[block + (random >> 8) % 320] = (unsigned char)(random >> 24);
		}
		if (open_cut(&changed, changed.n_bytes, &trace) == 0) {
			for (uint32_t t = 0; t < trace->n_threads; t++)
				for (uint32_t id = 0; id < 4; id++)
					(void)sy_thread_frame(&trace->threads[t], id, id);
			(void)sy_trace_census(trace);
			sy_trace_close(trace);
		}
		free(changed.bytes);
	}
	fix_end(&fix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_last_meta_holds),
		cmocka_unit_test(test_many_segments_in_any_order),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_not_readable),
		cmocka_unit_test(test_fifo_does_not_hold),
		cmocka_unit_test(test_cut_at_every_97th_byte),
		cmocka_unit_test(test_lengths_are_not_trusted),
		cmocka_unit_test(test_segment_not_ready),
		cmocka_unit_test(test_damaged_definitions),
		cmocka_unit_test(test_text_is_made_safe),
		cmocka_unit_test(test_census),
		cmocka_unit_test(test_lost_segment),
		cmocka_unit_test(test_changed_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
