/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_check.c - runs against budgets: what breaks, whose fault it is, and what is said
 */
#include "run_fixture.h"

#include "analysis/budget_write.h"
#include "analysis/check_output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A run, a budget, and what comes of both. */
struct trial {
	struct sy_profile profile;
	struct sy_step_counts counts;
	struct sy_budget budget;
	struct sy_check check;
	struct sy_check_output output;
};

static void begin_profile(struct trial *trial, const char *thread)
{
	sy_profile_init(&trial->profile, (struct sy_step_range){ 1, 0 });
	sy_step_counts_attach(&trial->counts, &trial->profile, thread);
}

static void finish_trial(struct trial *trial, const char *budget)
{
	struct sy_err err;

	sy_profile_finish(&trial->profile);
	if (sy_budget_read(&trial->budget, budget, strlen(budget), "b.yml", &err) != 0)
		fail_msg("%s", err.text);
	sy_check_make(&trial->check, &trial->profile, &trial->counts, &trial->budget, trial->budget.statistic);
	trial->output = (struct sy_check_output){ .check = &trial->check, .budget_path = "b.yml" };
}

static void begin_trial(struct trial *trial, const struct run_line *lines, const char *budget)
{
	struct fix fix;

	begin_profile(trial, NULL);
	run_begin(&fix, lines, 4);
	run_add(&trial->profile, &fix);
	finish_trial(trial, budget);
}

static void end_trial(struct trial *trial)
{
	sy_check_free(&trial->check);
	sy_budget_free(&trial->budget);
	sy_step_counts_free(&trial->counts);
	sy_profile_free(&trial->profile);
}

typedef void output_fn(const struct sy_check_output *output, FILE *out);

static char *said(const struct trial *trial, output_fn *tell)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	tell(&trial->output, out);
	fclose(out);
	return text;
}

static void assert_says(const struct trial *trial, output_fn *tell, const char *wanted)
{
	char *text = said(trial, tell);

	if (!strstr(text, wanted))
		fail_msg("%s\nis not in\n%s", wanted, text);
	free(text);
}

/* Everybody's program: 24 readbacks, a wait every step, one in the third step only. */
#define TRAINER                                                                                                        \
	{ .frame = "/home/me/src/train.py:88 log",                                                                     \
	  .count = 24,                                                                                                 \
	  .n_drains = 1,                                                                                               \
	  .waited_ns = 2400000,                                                                                        \
	  .is_readback = true },                                                                                       \
		{ .frame = "/home/me/src/train.py:70 f", .count = 1, .n_drains = 1, .waited_ns = 5000 },               \
	{                                                                                                              \
		.frame = "/home/me/src/save.py:9 save", .count = 2, .only_step = 3                                     \
	}
static const struct run_line trainer[] = { TRAINER, { .frame = NULL } };

static const struct {
	const char *budget;
	size_t n_findings, n_broken, n_stale;
	const char *text;
} limit_cases[] = {
	{ "version: 1\n", 0, 0, 0, "0 limits: 0 kept, 0 broken\n" },
	{ "per_step: {syncs: 27}\n", 1, 0, 0, "1 limit: 1 kept, 0 broken\n" },
	{ "per_step: {syncs: 26}\n", 1, 1, 0,
	  "src/train.py:88: over budget: syncs 27 per step (max of 4 steps), allowed 26 for all lines "
	  "together; look at this line "
	  "(log, readback d2h): 24 per step; to accept it, write \"# sync-ok: REASON\" at the line, or name it "
	  "in b.yml "
	  "under accept: {at: \"src/train.py:88\", reason: ...}\n" },
	{ "statistic: median\nper_step: {syncs: 25}\n", 1, 0, 0, "1 kept" },
	{ "statistic: mean\nper_step: {syncs: 25.5}\n", 1, 0, 0, "1 kept" },
	{ "statistic: mean\nper_step: {syncs: 25.4}\n", 1, 1, 0,
	  "syncs 25.5 per step (mean of 4 steps), allowed 25.4" },
	{ "per_step: {waited: 2405 us, blocked: 3 ms}\n", 2, 0, 0, "" },
	{ "per_step: {waited: 2404 us}\n", 1, 1, 0, "src/train.py:88: over budget: waited 2.40 ms" },
	{ "per_step: {launches: 10}\n", 1, 0, 0, "" },
	{ "per_step: {launches: 9}\n", 1, 1, 0,
	  "b.yml:1: over budget: launches 10 per step (max of 4 steps), allowed 9 for all lines together; to "
	  "accept it, raise the limit in b.yml:1\n" },
	{ "per_step: {drains: 2, empty: 25, done_already: 0, readbacks: 24, uploads: 0, pageable_uploads: 0, "
	  "explicit: 3, implicit: 0}\n",
	  8, 0, 0, "" },
	{ "per_step: {explicit: 2}\n", 1, 1, 0, "src/save.py:9: over budget: explicit 3" },
	{ "other_lines: {syncs: 24}\n", 1, 0, 0, "" },
	{ "other_lines: {syncs: 0}\n", 3, 3, 0,
	  "src/save.py:9: over budget: syncs 2 per step (max of 4 steps), allowed 0 for a line that the budget "
	  "does not list (save, explicit)" },
	{ "other_lines: {syncs: 0}\nlines: [{at: 'train.py:*'}, {at: 'save.py'}]\n", 1, 0, 0, "" },
	{ "lines: [{at: 'train.py:88', syncs: 23}]\n", 1, 1, 0,
	  "src/train.py:88: over budget: syncs 24 per step (max of 4 steps), allowed 23 for this line (log, "
	  "readback d2h)" },
	{ "lines: [{at: 'train.py:*', syncs: 25}]\n", 1, 0, 0, "" },
	{ "lines: [{at: 'train.py:*', syncs: 24}]\n", 1, 1, 0,
	  "src/train.py:88: over budget: syncs 25 per step (max of 4 steps), allowed 24 for train.py:*" },
	{ "lines: [{at: 'train.py:88', class: upload, syncs: 0}]\n", 0, 0, 1,
	  "b.yml:1: warning: the budget names a line at which nothing waits any more: train.py:88" },
	{ "lines: [{at: 'ain.py:88', syncs: 0}]\n", 0, 0, 1, "" },
	{ "lines: [{at: 'me/src/train.py:88', syncs: 0}, {at: '/home/*/src/train.py:88', syncs: 0}]\n", 2, 2, 0, "" },
	{ "lines: [{at: 'you/src/train.py:88', syncs: 0}]\n", 1, 1, 0, "" },
	{ "lines: [{at: 'src/rain.py:88', syncs: 0}]\n", 0, 0, 1, "" },
	{ "lines: [{at: 'train.py:80', function: log, syncs: 24}]\n", 1, 0, 0, "" },
	{ "lines: [{at: 'train.py:80', function: gol, syncs: 24}]\n", 0, 0, 1, "" },
	{ "threads: {main: {syncs: 26}}\n", 1, 1, 0, "allowed 26 for thread main; look at this line" },
	{ "threads: {'*': {syncs: 27}}\n", 1, 0, 0, "" },
	{ "threads: {pt_autograd_0: {syncs: 0}}\n", 0, 0, 0, "" },
	{ "ranks: {unknown: {syncs: 26, launches: 9}}\n", 2, 2, 0, "allowed 26 for rank unknown" },
	{ "per_step: {syncs: 3}\naccept: [{at: 'train.py:log', reason: metrics}]\n", 1, 0, 0,
	  "1 limit: 1 kept, 0 broken, 1 line accepted\n" },
	{ "other_lines: {syncs: 0}\naccept: [{at: 'src/*.py', reason: all}]\n", 1, 0, 0, "3 lines accepted" },
	{ "accept: [{at: 'train.py:1', reason: x}]\n", 0, 0, 1, "b.yml:1: warning:" },
};

static void test_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(limit_cases) / sizeof(limit_cases[0]); i++) {
		struct trial trial;

		begin_trial(&trial, trainer, limit_cases[i].budget);
		if (trial.check.n_findings != limit_cases[i].n_findings ||
		    trial.check.n_broken != limit_cases[i].n_broken || trial.check.n_stale != limit_cases[i].n_stale)
			fail_msg("%sfindings=%zu broken=%zu stale=%zu", limit_cases[i].budget, trial.check.n_findings,
			         trial.check.n_broken, trial.check.n_stale);
		assert_says(&trial, sy_check_text, limit_cases[i].text);
		end_trial(&trial);
	}
}

static char *written(struct trial *trial, double slack)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	assert_int_equal(sy_budget_write(&trial->check, slack, out), 0);
	fclose(out);
	return text;
}

/* What one run wrote, others are held to. */
static const struct {
	struct run_line lines[6];
	size_t n_broken;
	const char *text;
} later_runs[] = {
	{ { TRAINER }, 0, "0 broken" },
	/* an empty line above everything */
	{ { { .frame = "/home/me/src/train.py:89 log",
	      .count = 24,
	      .n_drains = 1,
	      .waited_ns = 9,
	      .is_readback = true },
	    { .frame = "/home/me/src/train.py:71 f", .count = 1, .n_drains = 1, .waited_ns = 5000 } },
	  0,
	  "0 broken" },
	/* another .item() in the same function: syncs, drains and readbacks in all, and of that line */
	{ { TRAINER,
	    { .frame = "/home/me/src/train.py:85 log",
	      .count = 1,
	      .n_drains = 1,
	      .waited_ns = 9,
	      .is_readback = true } },
	  4,
	  "src/train.py:85: over budget: readbacks 25" },
	{ { TRAINER, { .frame = "/home/me/src/train.py:85 log", .count = 1, .is_readback = true } },
	  3,
	  "src/train.py:85: over budget: syncs 1 per step" },
	/* one more on a line that is listed */
	{ { { .frame = "/home/me/src/train.py:88 log",
	      .count = 25,
	      .n_drains = 1,
	      .waited_ns = 9,
	      .is_readback = true },
	    { .frame = "/home/me/src/train.py:70 f", .count = 1, .n_drains = 1, .waited_ns = 5000 } },
	  2,
	  "src/train.py:88: over budget: syncs 25 per step (max of 4 steps), allowed 24 for this line" },
	/* a copy in another folder */
	{ { { .frame = "/tmp/copy/train.py:88 log", .count = 24, .n_drains = 1, .waited_ns = 9, .is_readback = true },
	    { .frame = "/tmp/copy/train.py:85 log", .count = 1, .is_readback = true } },
	  2,

	  "/tmp/copy/train.py:85: over budget: syncs 1 per step" },
	/* in another checkout */
	{ { { .frame = "/ci/co/src/train.py:88 log",
	      .count = 24,
	      .n_drains = 1,
	      .waited_ns = 9,
	      .is_readback = true } },
	  0,
	  "0 broken" },
};

static void test_written(void **state)
{
	struct trial first;
	char *budget = NULL;

	(void)state;
	begin_trial(&first, trainer, "version: 1\n");
	budget = written(&first, 0);
	end_trial(&first);
	assert_non_null(strstr(budget,
	                       "  - at: \"src/train.py:88\"\n    function: \"log\"\n    class: readback\n    syncs: "
	                       "24\n    drains: 1\n"));
	for (size_t i = 0; i < sizeof(later_runs) / sizeof(later_runs[0]); i++) {
		struct trial trial;
		char *text;

		begin_trial(&trial, later_runs[i].lines, budget);
		text = said(&trial, sy_check_text);
		if (trial.check.n_broken != later_runs[i].n_broken || !strstr(text, later_runs[i].text))
			fail_msg("case %zu: %s", i, text);
		free(text);
		end_trial(&trial);
	}
	free(budget);
}

static void test_slack(void **state)
{
	struct trial trial;
	char *text;

	(void)state;
	begin_trial(&trial, trainer, "version: 1\n");
	text = written(&trial, 0.1);
	assert_non_null(strstr(text, "per_step:\n  syncs: 30\n  drains: 3\n  readbacks: 27\n  pageable_uploads: 0\n"));
	assert_non_null(strstr(text, "other_lines:\n  syncs: 0\n"));
	free(text);
	end_trial(&trial);
}

/* What was decided by people outlives a new budget. */
static void test_taken_over(void **state)
{
	static const char old[] =
		"statistic: mean\nthreads: {main: {syncs: 99, blocked: 7 ms}}\nranks: {'*': {launches: 12.5}}\n"
		"accept: [{at: \"save.py:7\", function: save, reason: \"it's \\\"needed\\\": once\"}]\n";
	struct trial trial;
	char *once, *twice;

	(void)state;
	begin_trial(&trial, trainer, old);
	once = written(&trial, 0);
	end_trial(&trial);
	assert_non_null(strstr(once, "statistic: mean\n"));
	assert_non_null(strstr(once, "threads:\n  \"main\":\n    syncs: 99\n    blocked: 7000000 ns\n"));
	assert_non_null(strstr(once, "ranks:\n  \"*\":\n    launches: 12.5\n"));
	assert_non_null(strstr(
		once,
		"accept:\n  - at: \"save.py:7\"\n    function: \"save\"\n    reason: \"it's \\\"needed\\\": once\"\n"));
	assert_null(strstr(once, "save.py:9"));
	begin_trial(&trial, trainer, once);
	assert_int_equal(trial.check.n_broken, 0);
	twice = written(&trial, 0);
	assert_string_equal(once, twice);
	end_trial(&trial);
	free(once);
	free(twice);
}

/* Two ranks, one of which does more: each is judged by its own steps. */
static void test_ranks_and_threads(void **state)
{
	static const struct run_line lines[] = { { .frame = "/home/me/t.py:1 f", .count = 2 },
		                                 { .frame = "/home/me/t.py:2 g", .count = 3, .thread = 1 },
		                                 { .frame = NULL } };
	static const struct run_line more[] = { { .frame = "/home/me/t.py:1 f", .count = 5 }, { .frame = NULL } };
	static const struct {
		const char *thread, *budget;
		size_t n_findings, n_broken;
	} all[] = {
		{ NULL, "ranks: {0: {syncs: 5}, 1: {syncs: 4}}\n", 2, 1 },
		{ NULL, "ranks: {'*': {syncs: 5}}\n", 2, 0 },
		{ NULL, "threads: {main: {syncs: 5}, '*': {syncs: 2}}\n", 3, 2 },
		{ "main", "ranks: {0: {syncs: 2}}\nper_step: {syncs: 5}\n", 2, 0 },
		{ "main", "ranks: {0: {syncs: 1}}\n", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct trial trial;
		struct fix fix;

		begin_profile(&trial, all[i].thread);
		for (int rank = 0; rank < 2; rank++) {
			run_begin(&fix, rank ? more : lines, 4);
			fix_header(&fix)->rank = rank;
			run_add(&trial.profile, &fix);
		}
		finish_trial(&trial, all[i].budget);
		if (trial.check.n_findings != all[i].n_findings || trial.check.n_broken != all[i].n_broken)
			fail_msg("case %zu: findings=%zu broken=%zu", i, trial.check.n_findings, trial.check.n_broken);
		end_trial(&trial);
	}
}

/* Sums over cells are the totals of the profile, for every metric of lines. */
static void test_conserved(void **state)
{
	struct trial trial;

	(void)state;
	begin_trial(&trial, trainer, "statistic: mean\n");
	for (int m = 0; m < SY_N_METRICS; m++) {
		double mean = sy_check_measure_all(&trial.check, (enum sy_metric)m), of_lines = 0;

		assert_true(mean == trial.profile.stat[m].mean);
		for (uint32_t i = 0; sy_metric_is_of_lines((enum sy_metric)m) && i < trial.check.n_places; i++)
			of_lines += sy_check_measure_place(&trial.check, i, (enum sy_metric)m);
		assert_true(!sy_metric_is_of_lines((enum sy_metric)m) || of_lines == mean);
	}
	end_trial(&trial);
}

/* Names that would end a line, begin a command or a tag, if they could. */
static void test_hostile(void **state)
{
	static const struct run_line hostile[] = {
		{ .frame = "::error file=x,line=1::gotcha\n::stop-commands::a%0Ab:3 <b>&\"'\x1b[31m]]>", .count = 1 },
		{ .frame = " ##[error]\xef\xbf\xbf\xc3\x28.py:4 f*[a]?\\\xe2\x80\xa8g", .count = 1 },
		{ .frame = "/home/me/\xef\xbb\xbf\"q\\.py:5 \xf0\x9f\x98\x80", .count = 1 },
		{ .frame = NULL }
	};
	struct trial trial;
	char *text, *at, *budget;

	(void)state;
	begin_trial(&trial, hostile,
	            "other_lines: {syncs: 0}\nlines: [{at: \"\\n::error::x\\e[1m<>&:7\", syncs: 1}]\n");
	assert_int_equal(trial.check.n_broken, 3);
	text = said(&trial, sy_check_text);
	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		assert_false(at[strspn(at, " \t")] == ':');
	assert_null(strstr(text, "##["));
	assert_null(strchr(text, '\033'));
	free(text);
	text = said(&trial, sy_check_github);
	for (at = text; *at; at = strchr(at, '\n') + 1)
		assert_true(strncmp(at, "::error file=", 13) == 0 || strncmp(at, "::warning file=b.yml,", 21) == 0);
	assert_non_null(strstr(
		text,
		"::error file=%3A%3Aerror file=x%2Cline=1%3A%3Agotcha?%3A%3Astop-commands%3A%3Aa%250Ab,line=3,title="));
	free(text);
	text = said(&trial, sy_check_junit);
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "<b>"));
	assert_null(strstr(text, "]]>"));
	assert_null(strstr(text, "\xef\xbf\xbf"));
	assert_non_null(strstr(text, "&lt;b&gt;&amp;&quot;&apos;?[31m]]&gt;"));
	free(text);
	/* and a budget written from them means them, and only them */
	budget = written(&trial, 0);
	end_trial(&trial);
	begin_trial(&trial, hostile, budget);
	assert_int_equal(trial.check.n_broken, 0);
	assert_int_equal(trial.check.n_stale, 0);
	free(budget);
	end_trial(&trial);
}

static void test_native(void **state)
{
	struct trial trial;
	struct fix fix;
	char *budget = NULL;

	(void)state;
	for (int round = 0; round < 2; round++) {
		begin_profile(&trial, NULL);
		fix_begin(&fix, SY_CLOCK_VIRTUAL);
		for (unsigned step = 0; step < 3; step++) {
			uint32_t native = fix_native(&fix, 0, "/usr/lib/libsolve[r].so", 0x1a2b);

			fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = 9, .native = native });
			fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = 9 });
			fix_step(&fix, 0, SY_STEP_CALL, 0);
		}
		run_add(&trial.profile, &fix);
		finish_trial(&trial, round ? budget : "other_lines: {syncs: 0}\n");
		if (round == 0) {
			assert_says(&trial, sy_check_text, "libsolve[r].so+0x1a2b: over budget: syncs 1");
			assert_says(&trial, sy_check_text,
			            "under accept: {at: \"libsolve[r].so:+0x1a2b\", reason: ...}");
			assert_says(&trial, sy_check_github, "::error file=libsolve[r].so+0x1a2b,title=");
			budget = written(&trial, 0);
		} else {
			assert_int_equal(trial.check.n_broken + trial.check.n_stale, 0);
			free(budget);
		}
		end_trial(&trial);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_taken_over),
		cmocka_unit_test(test_ranks_and_threads),
		cmocka_unit_test(test_conserved),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_native),
	};

	unsetenv("GITHUB_WORKSPACE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
