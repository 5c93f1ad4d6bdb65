/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff.c - verdicts on pairs of runs, and that nothing is left out of a difference
 */
#include "run_fixture.h"

#include "analysis/diff.h"
#include "analysis/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_LINES 6

struct example {
	const char *name;
	struct run_line a[MAX_LINES], b[MAX_LINES];
	enum sy_diff_verdict verdict;
	unsigned n_moves;
	const char *sentence; /* part of it */
};

#define ITEM(line)                                                                                                     \
	{                                                                                                              \
		.frame = "/home/me/train.py:" line, .count = 24, .n_drains = 1, .waited_ns = 2400000,                  \
		.is_readback = true                                                                                    \
	}
#define ONE(line, ns)                                                                                                  \
	{                                                                                                              \
		.frame = "/home/me/train.py:" line, .count = 1, .n_drains = 1, .waited_ns = ns, .is_readback = true    \
	}

static const struct example examples[] = {
	{ "nothing changed",
	  { ITEM("88 log"), ONE("90 log", 5000) },
	  { ITEM("88 log"), ONE("90 log", 5000) },
	  SY_DIFF_SAME,
	  0,
	  "No difference: as many syncs as before (25 per step), at the same lines" },
	{ "only line numbers changed",
	  { ITEM("88 log"), ONE("90 log", 5000) },
	  { ITEM("98 log"), ONE("100 log", 5000) },
	  SY_DIFF_SAME,
	  0,
	  "" },
	{ "the founding case: readbacks stacked into one",
	  { ITEM("88 log") },
	  { ONE("91 log", 2410000) },
	  SY_DIFF_NO_GAIN,
	  1,
	  "No gain: 23 syncs per step fewer (1, before 24); the host waits as long as before (2.41 ms per step, before "
	  "2.40 ms). The wait "
	  "moved: 2.40 ms per step left train.py:88 and came back at train.py:91." },
	{ "fewer, on the same line",
	  { ITEM("88 log") },
	  { ONE("88 log", 2400000) },
	  SY_DIFF_NO_GAIN,
	  0,
	  "No gain: 23 syncs per step fewer" },
	{ "a wait is gone",
	  { ITEM("88 log"), ONE("70 f", 900000) },
	  { ITEM("88 log") },
	  SY_DIFF_BETTER,
	  0,
	  "Better: 1 sync per step fewer (24, before 25); the host waits 900 us per step less (2.40 ms, before 3.30 "
	  "ms)" },
	{ "one came, and the wait is shared",
	  { ITEM("88 log") },
	  { { .frame = "/home/me/train.py:80 f", .count = 1, .n_drains = 1, .waited_ns = 1500000 },
	    { .frame = "/home/me/train.py:88 log",
	      .count = 24,
	      .n_drains = 1,
	      .waited_ns = 900000,
	      .is_readback = true } },
	  SY_DIFF_WORSE,
	  1,
	  "Worse: 1 sync per step more (25, before 24)" },
	{ "more waiting",
	  { ITEM("88 log") },
	  { ITEM("88 log"), ONE("70 f", 900000) },
	  SY_DIFF_WORSE,
	  0,
	  "Worse: 1 sync per step more" },
	{ "nothing at all",
	  { { .frame = NULL } },
	  { { .frame = NULL } },
	  SY_DIFF_SAME,
	  0,
	  "No difference: as many syncs as before (0 per step)" },
	{ "the first sync",
	  { { .frame = NULL } },
	  { ONE("7 f", 50000) },
	  SY_DIFF_WORSE,
	  0,
	  "Worse: 1 sync per step more (1, before 0)" },
};

/* Sums over the lines are the totals, on both sides. */
static void assert_conserved(const struct sy_diff *diff, const char *name)
{
	double count[2] = { 0, 0 }, waited[2] = { 0, 0 };

	for (uint32_t i = 0; i < diff->n_sites; i++) {
		count[0] += diff->sites[i].of_a.count;
		count[1] += diff->sites[i].of_b.count;
		waited[0] += diff->sites[i].of_a.waited_ns;
		waited[1] += diff->sites[i].of_b.waited_ns;
	}
	if (count[0] != diff->total_a[SY_METRIC_SYNCS] || count[1] != diff->total_b[SY_METRIC_SYNCS] ||
	    waited[0] != diff->total_a[SY_METRIC_WAITED_NS] || waited[1] != diff->total_b[SY_METRIC_WAITED_NS])
		fail_msg("%s: lines and totals differ", name);
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *example = &examples[i];
		struct sy_profile a, b;
		struct sy_diff diff;
		struct sy_report report;

		run_profile(&a, example->a, 4);
		run_profile(&b, example->b, 7);
		sy_diff_make(&diff, &a, &b, 0.05);
		sy_diff_report(&report, &diff);
		assert_conserved(&diff, example->name);
		if (diff.verdict != example->verdict || diff.n_moves != example->n_moves ||
		    !strstr(diff.sentence, example->sentence))
			fail_msg("%s: seen: %u moves; %s", example->name, diff.n_moves, diff.sentence);
		sy_report_free(&report);
		sy_diff_free(&diff);
		sy_profile_free(&a);
		sy_profile_free(&b);
	}
}

static char *rendered(const char *format, struct sy_diff *diff)
{
	struct sy_report report;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	sy_diff_report(&report, diff);
	if (strcmp(format, "json") == 0)
		assert_int_equal(sy_diff_json(diff, out), 0);
	else if (strcmp(format, "md") == 0)
		assert_int_equal(sy_render_md(NULL, &report, out, false), 0);
	else
		assert_int_equal(sy_render_text(NULL, &report, out, false), 0);
	fclose(out);
	sy_report_free(&report);
	return text;
}

static void compare_with_kept(const char *format, const char *seen)
{
	char path[64], *kept = NULL;
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "tests/data/diff/stacked.%s", format);
	if (getenv("RECORD")) {
		file = fopen(path, "w");
		assert_non_null(file);
		assert_true(fputs(seen, file) >= 0);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(getdelim(&kept, &n, -1, file) > 0);
	fclose(file);
	if (strcmp(kept, seen) != 0)
		fail_msg("%s is not as kept; seen:\n%s", path, seen);
	free(kept);
}

/* Everything that can happen to a line, in each format. */
static void test_formats(void **state)
{
	static const struct run_line before[] = {
		ITEM("88 log"), ONE("70 f", 5000), ONE("60 g", 700000), ONE("20 main", 3000), { .frame = NULL }
	};
	static const struct run_line after[] = { ONE("91 log", 2410000),
		                                 ONE("71 f", 5000),
		                                 { .frame = "/home/me/train.py:60 g",
		                                   .count = 3,
		                                   .n_drains = 3,
		                                   .waited_ns = 100000,
		                                   .is_readback = true },
		                                 { .frame = "/home/me/x/loss.py:3 h", .count = 2 },
		                                 { .frame = NULL } };
	static const char *const formats[] = { "text", "json", "md" };
	struct sy_profile a, b;
	struct sy_diff diff;

	(void)state;
	run_profile(&a, before, 4);
	run_profile(&b, after, 4);
	for (size_t i = 0; i < 3; i++) {
		char *seen;

		sy_diff_make(&diff, &a, &b, 0.05);
		seen = rendered(formats[i], &diff);
		compare_with_kept(formats[i], seen);
		free(seen);
		sy_diff_free(&diff);
	}
	sy_profile_free(&a);
	sy_profile_free(&b);
}

/* A name from a trace is text in a comment on a pull request: no tag, link, mention, cell or heading. */
static void test_hostile_markdown(void **state)
{
	static const struct run_line none[] = { { .frame = NULL } };
	static const struct run_line hostile[] = {
		{ .frame = "/home/me/a|b<script>![x](http://y)@me`#*_~.py:3 <img>&amp;\\|", .count = 1 },
		{ .frame = NULL }
	};
	struct sy_profile a, b;
	struct sy_diff diff;
	char *seen;

	(void)state;
	run_profile(&a, none, 2);
	run_profile(&b, hostile, 2);
	sy_diff_make(&diff, &a, &b, 0.05);
	seen = rendered("md", &diff);
	assert_non_null(strstr(seen, " a\\|b&lt;script&gt;\\!\\[x\\]\\(http://y\\)&#64;me\\`\\#\\*\\_\\~.py:3 |"));
	assert_non_null(strstr(seen, " &lt;img&gt;&amp;amp;\\\\\\| |"));
	free(seen);
	sy_diff_free(&diff);
	sy_profile_free(&a);
	sy_profile_free(&b);
}

/* Runs without steps are compared as a whole. */
static void test_without_steps(void **state)
{
	struct sy_profile profiles[2];
	struct sy_report report;
	struct sy_diff diff;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fix fix;

		fix_begin(&fix, SY_CLOCK_VIRTUAL);
		for (unsigned k = 0; k < 5 + i; k++)
			fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = 100 });
		sy_profile_init(&profiles[i], (struct sy_step_range){ 0, 0 });
		run_add(&profiles[i], &fix);
		sy_profile_finish(&profiles[i]);
	}
	sy_diff_make(&diff, &profiles[0], &profiles[1], 0.05);
	sy_diff_report(&report, &diff);
	assert_non_null(strstr(diff.sentence, "Worse: 1 sync in all more (6, before 5)"));
	assert_conserved(&diff, "without steps");
	sy_report_free(&report);
	sy_diff_free(&diff);
	sy_profile_free(&profiles[0]);
	sy_profile_free(&profiles[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_hostile_markdown),
		cmocka_unit_test(test_without_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
