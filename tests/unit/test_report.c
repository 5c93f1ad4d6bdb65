/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report.c - every renderer over the same few profiles, against kept outputs
 *
 * The outputs are in tests/data/report, NAME.FORMAT; the tests run in the root
 * of the tree. RECORD=1 writes what is seen: look at the difference before
 * keeping it.
 */
#include "trace_fixture.h"

#include "analysis/embedded.h"
#include "analysis/render.h"
#include "trace/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DIRECTORY "tests/data/report/"

static void add(struct sy_profile *profile, const struct fix *fix, const char *name)
{
	struct sy_trace *trace = NULL;
	struct sy_err err;
	char *path = fix_write_temporary(fix);

	assert_int_equal(sy_trace_open(path, &trace, &err), 0);
	unlink(path);
	free(path);
	/* The name of a temporary file has no place in a kept output. */
	trace->path = name;
	sy_profile_add(profile, trace);
	sy_trace_close(trace);
}

static void compare_with_kept(const char *name, const char *format, const char *seen, size_t n)
{
	char path[256], *kept = NULL;
	bool is_empty;
	size_t n_kept = 0;
	FILE *file;

	snprintf(path, sizeof(path), DIRECTORY "%s.%s", name, format);
	if (getenv("RECORD")) {
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(seen, 1, n, file), n);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "r");
	assert_non_null(file);
	/* Nothing is read of a file that is kept empty. */
	is_empty = getdelim(&kept, &n_kept, -1, file) <= 0;
	fclose(file);
	if (strcmp(is_empty ? "" : kept, seen) != 0)
		fail_msg("%s is not as kept; seen:\n%s", path, seen);
	free(kept);
}

/* The page without the library that it carries, of whatever version that is. Returns its length. */
static size_t without_chart(char *page)
{
	char *chart = strstr(page, sy_embedded_chart);

	assert_non_null(chart);
	memmove(chart, chart + strlen(sy_embedded_chart), strlen(chart + strlen(sy_embedded_chart)) + 1);
	return strlen(page);
}

static void render(const char *name, const struct sy_profile *profile, enum sy_by by)
{
	static const char *const formats[] = {
#define RENDERER(name) #name,
#include "analysis/renderers.def"
#undef RENDERER
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct sy_report report;
		char *seen = NULL;
		size_t n = 0;
		FILE *out = open_memstream(&seen, &n);

		assert_non_null(out);
		sy_report_build(&report, profile, by);
		assert_int_equal(sy_render_find(formats[i])(profile, &report, out, false), 0);
		assert_int_equal(fclose(out), 0);
		if (strcmp(formats[i], "html") == 0)
			n = without_chart(seen);
		if (strcmp(formats[i], "html") != 0 || strcmp(name, "training") == 0)
			compare_with_kept(name, formats[i], seen, n);
		sy_report_free(&report);
		free(seen);
	}
}

/* What one step of the founding case does: metrics by .item(), a scalar made on the host, a mask. */
static void training_step(struct fix *fix, const uint32_t stacks[3])
{
	struct fix_call copy = { .api = FIX_MEMCPY_ASYNC, .duration = 100, .stream = 1, .gap = 300 };
	struct fix_call sync = { .api = FIX_STREAM_SYNC, .duration = 200, .stream = 1 };

	fix_launch(fix, 120);
	for (unsigned i = 0; i < 24; i++) {
		copy.bytes = 4;
		copy.source = SY_MEMORY_DEVICE;
		copy.destination = SY_MEMORY_PINNED;
		copy.direction = SY_COPY_D2H;
		copy.stack = sync.stack = stacks[0];
		copy.is_pending = i == 0;
		fix_call(fix, copy);
		sync.duration = i ? 200 : 2400200;
		fix_call(fix, sync);
	}
	copy.is_pending = false;
	copy.source = SY_MEMORY_PAGEABLE;
	copy.destination = SY_MEMORY_DEVICE;
	copy.direction = SY_COPY_H2D;
	copy.stack = sync.stack = stacks[1];
	fix_call(fix, copy);
	fix_call(fix, sync);
	fix_launch(fix, 3);
	copy.bytes = 1 << 12;
	copy.stack = stacks[2];
	fix_call(fix, copy);
	fix_step(fix, 0, SY_STEP_TORCH, 1);
}

static void training(struct fix *fix)
{
	static const char *const item[] = { "/venv/lib/python3.11/site-packages/torch/_tensor.py:9 item",
		                            "/home/me/train.py:88 log_metrics", "/home/me/train.py:120 <module>" };
	static const char *const scalar[] = { "/home/me/model/loss.py:31 penalty", "/home/me/train.py:81 step",
		                              "/home/me/train.py:120 <module>" };
	static const char *const batch[] = { "/home/me/train.py:75 to_device", "/home/me/train.py:120 <module>" };
	uint32_t stacks[3];

	fix_begin(fix, SY_CLOCK_VIRTUAL);
	fix_meta(fix, "cwd", "/home/me");
	stacks[0] = fix_stack(fix, 0, item, 3);
	stacks[1] = fix_stack(fix, 0, scalar, 3);
	stacks[2] = fix_stack(fix, 0, batch, 2);
	fix_call(fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = 100, .stack = stacks[2] });
	for (unsigned i = 0; i < 8; i++)
		training_step(fix, stacks);
	fix_call(fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .stream = 1, .status = 700 });
	fix_header(fix)->state = SY_STATE_ENDED;
}

static void test_training(void **state)
{
	static const struct {
		const char *name;
		enum sy_by by;
	} all[] = { { "training", SY_REPORT_BY_SITE },
		    { "training-by-api", SY_REPORT_BY_API },
		    { "training-by-step", SY_REPORT_BY_STEP } };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct sy_profile profile;
		struct fix fix;

		training(&fix);
		sy_profile_init(&profile, (struct sy_step_range){ 2, 0 });
		add(&profile, &fix, "train.trace");
		sy_profile_finish(&profile);
		render(all[i].name, &profile, all[i].by);
		sy_profile_free(&profile);
		fix_end(&fix);
	}
}

/* Two ranks, one of them with losses; more is skipped than one of them has. */
static void test_ranks(void **state)
{
	struct sy_profile profile;
	struct fix fix;

	(void)state;
	sy_profile_init(&profile, (struct sy_step_range){ 3, 2 });
	for (int rank = 0; rank < 2; rank++) {
		training(&fix);
		fix_header(&fix)->rank = rank;
		if (rank == 1) {
			fix_skip(&fix, 0, 5);
			fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .is_in_flight = true });
			fix_header(&fix)->discarded_events = 5;
			fix_header(&fix)->end_bytes += SY_BLOCK_BYTES;
			fix_meta(&fix, "blind.0", "/opt/libplugin.so");
			fix_meta(&fix, "blind.1", "/opt/libother.so");
			fix_meta(&fix, "blind_unchecked", "the process may not read its own mappings");
		}
		add(&profile, &fix, rank ? "rank1.trace" : "rank0.trace");
		fix_end(&fix);
	}
	sy_profile_finish(&profile);
	render("ranks", &profile, SY_REPORT_BY_RANK);
	sy_profile_free(&profile);
}

/* A C program: no steps, no Python. */
static void test_native(void **state)
{
	struct sy_profile profile;
	struct fix fix;
	uint32_t native;

	(void)state;
	fix_begin(&fix, SY_CLOCK_MONOTONIC);
	native = fix_native(&fix, 0, "/usr/bin/solver", 0x1a2b);
	for (unsigned i = 0; i < 3; i++)
		fix_call(&fix, (struct fix_call){ .api = FIX_FREE, .duration = 30000, .native = native });
	fix_call(&fix, (struct fix_call){ .api = FIX_FREE, .duration = 900000, .native = native, .is_pending = true });
	fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .thread = 1, .duration = 7000 });
	sy_profile_init(&profile, (struct sy_step_range){ 10, 0 });
	add(&profile, &fix, "solver.trace");
	sy_profile_finish(&profile);
	render("native", &profile, SY_REPORT_BY_SITE);
	sy_profile_free(&profile);
	fix_end(&fix);
}

/* One step of five waits: the median of the steps is nothing, and the waiting must be named all the same. */
static void test_seldom(void **state)
{
	static const char *const line[] = { "/home/me/train.py:7 validate" };
	struct sy_profile profile;
	struct fix fix;
	uint32_t stack;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_meta(&fix, "cwd", "/home/me");
	stack = fix_stack(&fix, 0, line, 1);
	for (unsigned i = 0; i < 5; i++) {
		fix_launch(&fix, 3);
		fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC,
		                                  .duration = i == 3 ? 900000 : 200,
		                                  .stack = stack,
		                                  .is_pending = i == 3 });
		fix_step(&fix, 0, SY_STEP_TORCH, 1);
	}
	sy_profile_init(&profile, (struct sy_step_range){ 0, 0 });
	add(&profile, &fix, "seldom.trace");
	sy_profile_finish(&profile);
	render("seldom", &profile, SY_REPORT_BY_SITE);
	sy_profile_free(&profile);
	fix_end(&fix);
}

static void test_nothing(void **state)
{
	struct sy_profile profile;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_TSC);
	sy_profile_init(&profile, (struct sy_step_range){ 0, 0 });
	add(&profile, &fix, "nothing.trace");
	sy_profile_finish(&profile);
	render("nothing", &profile, SY_REPORT_BY_SITE);
	sy_profile_free(&profile);
	fix_end(&fix);
}

static void test_numbers_for_people(void **state)
{
	static const struct {
		double value;
		const char *ns, *count;
	} all[] = {
		{ 0, "0 ns", "0" },
		{ 0.25, "0 ns", "0.25" },
		{ 1.5, "2 ns", "1.5" },
		{ 999, "999 ns", "999" },
		{ 1000, "1.00 us", "1000" },
		{ 12345, "12.3 us", "12345" },
		{ 123456, "123 us", "123456" },
		{ 4.2e6, "4.20 ms", "4200000" },
		{ 3.6e12, "3600 s", "3600000000000" },
	};
	char text[SY_FORMAT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_string_equal(sy_format_ns(text, all[i].value), all[i].ns);
		assert_string_equal(sy_format_count(text, all[i].value), all[i].count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_training), cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_native),   cmocka_unit_test(test_seldom),
		cmocka_unit_test(test_nothing),  cmocka_unit_test(test_numbers_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
