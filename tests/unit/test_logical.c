/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_logical.c - from calls to acts, and whether an act waited
 *
 * Each case is a short program of calls and the acts it must come to.
 */
#include "trace_fixture.h"

#include "analysis/baseline.h"
#include "trace/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGEABLE SY_MEMORY_PAGEABLE
#define PINNED SY_MEMORY_PINNED
#define MANAGED SY_MEMORY_MANAGED
#define DEVICE SY_MEMORY_DEVICE
#define D2H(api_, to, ...)                                                                                             \
	{                                                                                                              \
		.api = api_, .source = DEVICE, .destination = to, .direction = SY_COPY_D2H, .stream = 1, .bytes = 4,   \
		__VA_ARGS__                                                                                            \
	}
#define H2D(api_, from, ...)                                                                                           \
	{                                                                                                              \
		.api = api_, .source = from, .destination = DEVICE, .direction = SY_COPY_H2D, .stream = 1, .bytes = 4, \
		__VA_ARGS__                                                                                            \
	}
#define SYNC(...)                                                                                                      \
	{                                                                                                              \
		.api = FIX_STREAM_SYNC, .stream = 1, __VA_ARGS__                                                       \
	}

#define MAX_CALLS 8

/* What the walk and the baseline say, as text: "readback+drain upload+empty copy". */
struct seen {
	const struct sy_baseline *baseline;
	char text[512];
	uint64_t waited_ns;
};

static void see(void *context, const struct sy_trace_thread *thread, const struct sy_act *act)
{
	struct seen *seen = context;
	struct sy_verdict verdict = sy_baseline_judge(seen->baseline, act);
	size_t used = strlen(seen->text);

	(void)thread;
	snprintf(seen->text + used, sizeof(seen->text) - used, "%s%s", used ? " " : "",
	         sy_act_class_name(verdict.class));
	if (verdict.class < SY_N_SYNC_CLASSES) {
		used = strlen(seen->text);
		snprintf(seen->text + used, sizeof(seen->text) - used, "%s%s", act->second ? "+" : "/",
		         sy_outcome_name(verdict.outcome));
	}
	seen->waited_ns += verdict.waited_ns;
}

static void learn(void *context, const struct sy_trace_thread *thread, const struct sy_act *act)
{
	(void)thread;
	sy_baseline_add(context, act);
}

static struct seen look(const struct fix *fix)
{
	struct sy_arena arena = { NULL };
	struct sy_baseline baseline;
	struct seen seen = { .baseline = &baseline };
	struct sy_trace *trace = NULL;
	struct sy_roles roles;
	struct sy_err err;
	char *path = fix_write_temporary(fix);

	assert_int_equal(sy_trace_open(path, &trace, &err), 0);
	unlink(path);
	free(path);
	roles = sy_roles_make(trace, &arena);
	sy_baseline_init(&baseline, trace->header.clock_kind == SY_CLOCK_VIRTUAL);
	for (uint32_t t = 0; t < trace->n_threads; t++)
		sy_logical_walk(trace, &roles, &trace->threads[t], learn, &baseline);
	for (uint32_t t = 0; t < trace->n_threads; t++)
		sy_logical_walk(trace, &roles, &trace->threads[t], see, &seen);
	sy_baseline_free(&baseline);
	sy_arena_free(&arena);
	sy_trace_close(trace);
	return seen;
}

struct case_ {
	const char *name;
	struct fix_call calls[MAX_CALLS];
	const char *expected;
};

static const struct case_ cases[] = {
	{ "a pinned readback and its wait are one", { D2H(FIX_MEMCPY_ASYNC, PINNED, ), SYNC() }, "readback+empty" },
	{ "a pageable readback and its wait are one", { D2H(FIX_MEMCPY_ASYNC, PAGEABLE, ), SYNC() }, "readback+empty" },
	{ "two readbacks are two",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, ), SYNC(), D2H(FIX_MEMCPY_ASYNC, PINNED, ), SYNC() },
	  "readback+empty readback+empty" },
	{ "an upload and its wait are one", { H2D(FIX_MEMCPY_ASYNC, PAGEABLE, ), SYNC() }, "upload+empty" },
	{ "a pinned upload and its wait are one", { H2D(FIX_MEMCPY_ASYNC, PINNED, ), SYNC() }, "upload+empty" },
	{ "another stream's wait is not the copy's",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, ), { .api = FIX_STREAM_SYNC, .stream = 2 } },
	  "copy explicit/empty" },
	{ "a device wait is not the copy's",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, ), { .api = FIX_DEVICE_SYNC } },
	  "copy explicit/empty" },
	{ "a call in between ends the pair",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, ), { .api = FIX_MEMSET_ASYNC, .destination = DEVICE }, SYNC() },
	  "copy set explicit/empty" },
	{ "a pageable readback alone waits", { D2H(FIX_MEMCPY_ASYNC, PAGEABLE, ) }, "readback/empty" },
	{ "of two copies the wait belongs to the second",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, ), D2H(FIX_MEMCPY_ASYNC, PINNED, ), SYNC() },
	  "copy readback+empty" },
	{ "a pinned readback alone does not", { D2H(FIX_MEMCPY_ASYNC, PINNED, ) }, "copy" },
	{ "a pageable upload alone is staging", { H2D(FIX_MEMCPY_ASYNC, PAGEABLE, ) }, "staging" },
	{ "a pageable upload alone is staging with work pending, too",
	  { H2D(FIX_MEMCPY_ASYNC, PAGEABLE, .is_pending = true, .duration = 900) },
	  "staging" },
	{ "a pinned upload alone is a copy", { H2D(FIX_MEMCPY_ASYNC, PINNED, ) }, "copy" },
	{ "synchronous copies wait",
	  { D2H(FIX_MEMCPY, PINNED, ), D2H(FIX_MEMCPY, PAGEABLE, ), H2D(FIX_MEMCPY, PAGEABLE, ),
	    H2D(FIX_MEMCPY, PINNED, ) },
	  "readback/empty readback/empty upload/empty upload/empty" },
	{ "a synchronous copy takes no wait along",
	  { D2H(FIX_MEMCPY, PAGEABLE, ), SYNC() },
	  "readback/empty explicit/empty" },
	{ "copies on the device do not wait",
	  { { .api = FIX_MEMCPY,
	      .source = DEVICE,
	      .destination = DEVICE,
	      .direction = SY_COPY_D2D,
	      .is_pending = true },
	    { .api = FIX_MEMCPY_ASYNC, .source = DEVICE, .destination = DEVICE, .direction = SY_COPY_D2D },
	    SYNC() },
	  "copy copy explicit/empty" },
	{ "sets do not wait",
	  { { .api = FIX_MEMSET, .destination = DEVICE, .is_pending = true }, { .api = FIX_MEMSET_ASYNC } },
	  "set set" },
	{ "explicit waits",
	  { SYNC(), { .api = FIX_DEVICE_SYNC }, { .api = FIX_EVENT_SYNC }, { .api = FIX_DRV_STREAM_SYNC } },
	  "explicit/empty explicit/empty explicit/empty explicit/empty" },
	{ "the driver's wait completes a copy, too",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, ), { .api = FIX_DRV_STREAM_SYNC, .stream = 1 } },
	  "readback+empty" },
	{ "a free with nothing pending is no sync", { { .api = FIX_FREE, .duration = 400 } }, "free" },
	{ "a free that waits is one",
	  { { .api = FIX_FREE, .duration = 100 }, { .api = FIX_FREE, .duration = 900, .is_pending = true } },
	  "free implicit/drain" },
	{ "a free with work pending that does not wait is none",
	  { { .api = FIX_FREE, .duration = 100 }, { .api = FIX_FREE, .duration = 100, .is_pending = true } },
	  "free free" },
	{ "a set of pinned memory that waits",
	  { { .api = FIX_MEMSET, .destination = PINNED, .duration = 100 },
	    { .api = FIX_MEMSET, .destination = PINNED, .duration = 900, .is_pending = true } },
	  "set implicit/drain" },
	{ "failed calls do not count",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, .status = 700), SYNC(), SYNC(.status = 900) },
	  "failed explicit/empty failed" },
	{ "captured calls do not count",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, .is_capturing = true), SYNC() },
	  "captured explicit/empty" },
	{ "a call in flight", { D2H(FIX_MEMCPY_ASYNC, PINNED, ), SYNC(.is_in_flight = true) }, "copy in_flight" },
	{ "a function that is not defined", { { .api = (enum fix_api)99, .duration = 5 } }, "other" },
	{ "drained, done already, empty",
	  { SYNC(.duration = 100), SYNC(.duration = 5000, .is_pending = true),
	    SYNC(.duration = 100, .is_pending = true) },
	  "explicit/empty explicit/drain explicit/done_already" },
	{ "the copy's entry decides for the pair",
	  { D2H(FIX_MEMCPY_ASYNC, PINNED, .duration = 100), SYNC(.duration = 100, .is_pending = true),
	    D2H(FIX_MEMCPY_ASYNC, PINNED, .is_pending = true, .duration = 4000),
	    SYNC(.duration = 100, .is_pending = true) },
	  "readback+empty readback+drain" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen seen;
		struct fix fix;

		fix_begin(&fix, SY_CLOCK_VIRTUAL);
		for (unsigned c = 0; c < MAX_CALLS && cases[i].calls[c].api; c++)
			fix_call(&fix, cases[i].calls[c]);
		seen = look(&fix);
		if (strcmp(seen.text, cases[i].expected) != 0)
			fail_msg("%s: expected \"%s\", seen \"%s\"", cases[i].name, cases[i].expected, seen.text);
		fix_end(&fix);
	}
}

static void expect(struct fix *fix, const char *expected)
{
	struct seen seen = look(fix);

	assert_string_equal(seen.text, expected);
	fix_end(fix);
}

static void test_launches_between(void **state)
{
	const struct fix_call upload = H2D(FIX_MEMCPY_ASYNC, PAGEABLE, );
	const struct fix_call readback = D2H(FIX_MEMCPY_ASYNC, PINNED, );
	const struct fix_call sync = SYNC(), pending_sync = SYNC(.is_pending = true, .duration = 9000);
	struct fix fix;

	(void)state;
	/* The program waits for the kernel, not for the upload. */
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, upload);
	fix_launch(&fix, 1);
	fix_call(&fix, sync);
	expect(&fix, "staging explicit/empty");
	/* It waits for what it reads back, whatever else. */
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, readback);
	fix_launch(&fix, 1);
	fix_call(&fix, sync);
	expect(&fix, "readback+empty");
	/* The kernel in between is work the host then waits for. */
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, readback);
	fix_call(&fix, sync);
	fix_call(&fix, readback);
	fix_launch(&fix, 1);
	fix_call(&fix, pending_sync);
	expect(&fix, "readback+empty readback+drain");
}

/* A launch of another thread between the two calls of one line does not part them. */
static void test_equal_lines_decide_before_launches(void **state)
{
	static const char *const frames[] = { "a.py:1 f", "a.py:2 f" };
	struct fix_call upload = H2D(FIX_MEMCPY_ASYNC, PAGEABLE, );
	struct fix_call sync = SYNC();
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	upload.stack = sync.stack = fix_stack(&fix, 0, frames, 1);
	fix_call(&fix, upload);
	fix_launch(&fix, 1);
	fix_call(&fix, sync);
	expect(&fix, "upload+empty");
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	upload.stack = fix_stack(&fix, 0, frames, 1);
	sync.stack = fix_stack(&fix, 0, frames + 1, 1);
	fix_call(&fix, upload);
	fix_call(&fix, sync);
	expect(&fix, "staging explicit/empty");
}

static void test_pair_ends_with_steps_and_losses(void **state)
{
	const struct fix_call readback = D2H(FIX_MEMCPY_ASYNC, PINNED, );
	const struct fix_call sync = SYNC();
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, readback);
	fix_step(&fix, 0, SY_STEP_CALL, 0);
	fix_call(&fix, sync);
	expect(&fix, "copy explicit/empty");
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, readback);
	fix_skip(&fix, 0, 1);
	fix_call(&fix, sync);
	expect(&fix, "copy explicit/empty");
}

/* The pair lies in two segments. */
static void test_pair_across_segments(void **state)
{
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	for (unsigned i = 0; i < 1022; i++)
		fix_step(&fix, 0, SY_STEP_CALL, 0);
	fix_call(&fix, (struct fix_call)D2H(FIX_MEMCPY_ASYNC, PINNED, ));
	fix_call(&fix, (struct fix_call)SYNC());
	expect(&fix, "readback+empty");
}

static void test_virtual_waited(void **state)
{
	struct seen seen;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_call(&fix, (struct fix_call)SYNC(.duration = 200));
	fix_call(&fix, (struct fix_call)SYNC(.duration = 220));
	fix_call(&fix, (struct fix_call)SYNC(.duration = 5200, .is_pending = true));
	fix_call(&fix, (struct fix_call)SYNC(.duration = 201, .is_pending = true));
	seen = look(&fix);
	assert_string_equal(seen.text, "explicit/empty explicit/empty explicit/drain explicit/drain");
	assert_int_equal(seen.waited_ns, 5001);
	fix_end(&fix);
}

/* On a real clock a wait must rise above the certified empty calls by more than noise. */
static void test_real_clock(void **state)
{
	struct seen seen;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_MONOTONIC);
	for (unsigned i = 0; i < 5; i++)
		fix_call(&fix, (struct fix_call)SYNC(.duration = 4000));
	fix_call(&fix, (struct fix_call)SYNC(.duration = 4900, .is_pending = true));
	fix_call(&fix, (struct fix_call)SYNC(.duration = 9000, .is_pending = true));
	seen = look(&fix);
	assert_non_null(strstr(seen.text, "explicit/done_already explicit/drain"));
	assert_int_equal(seen.waited_ns, 5000);
	fix_end(&fix);
}

/* Nothing to compare with: only what no call costs is a wait. */
static void test_real_clock_without_baseline(void **state)
{
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_MONOTONIC);
	fix_call(&fix, (struct fix_call)SYNC(.duration = 15000, .is_pending = true));
	fix_call(&fix, (struct fix_call)SYNC(.duration = 90000, .is_pending = true));
	fix_call(&fix, (struct fix_call){ .api = FIX_FREE, .duration = 45000, .is_pending = true });
	fix_call(&fix, (struct fix_call){ .api = FIX_FREE, .duration = 90000, .is_pending = true });
	expect(&fix, "explicit/done_already explicit/drain free implicit/drain");
}

/* A large pageable upload that holds the host far longer than its copying takes. */
static void test_large_staging_that_waits(void **state)
{
	struct fix_call upload = H2D(FIX_MEMCPY_ASYNC, PAGEABLE, .duration = 30000);
	struct fix fix;

	(void)state;
	upload.bytes = 1 << 20;
	fix_begin(&fix, SY_CLOCK_MONOTONIC);
	for (unsigned i = 0; i < 4; i++)
		fix_call(&fix, upload);
	upload.is_pending = true;
	fix_call(&fix, upload);
	upload.duration = 500000;
	fix_call(&fix, upload);
	expect(&fix, "staging staging staging staging staging upload/drain");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_launches_between),
		cmocka_unit_test(test_equal_lines_decide_before_launches),
		cmocka_unit_test(test_pair_ends_with_steps_and_losses),
		cmocka_unit_test(test_pair_across_segments),
		cmocka_unit_test(test_virtual_waited),
		cmocka_unit_test(test_real_clock),
		cmocka_unit_test(test_real_clock_without_baseline),
		cmocka_unit_test(test_large_staging_that_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
