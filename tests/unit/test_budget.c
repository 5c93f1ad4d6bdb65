/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget.c - what a budget may say, and where the reader says that it is wrong
 */
#include "analysis/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int read_text(struct sy_budget *budget, const char *text, struct sy_err *err)
{
	return sy_budget_read(budget, text, strlen(text), "b.yml", err);
}

static const char everything[] =
	"version: 1\n"
	"statistic: median\n"
	"per_step: {syncs: 3, drains: 1.5, blocked: 4.2 ms, waited: 7us, step: 1 s, launches: 400}\n"
	"other_lines: {syncs: 0}\n"
	"lines:\n"
	"  - at: src/train.py:42\n"
	"    function: log\n"
	"    class: readback\n"
	"    code: \"x = y.item()\"\n"
	"    syncs: 2\n"
	"  - {at: \"loss*.py:penalty*\", drains: 1}\n"
	"  - {at: eval.py}\n"
	"threads:\n"
	"  main: {syncs: 3}\n"
	"  \"pt_*\": {syncs: 0}\n"
	"ranks:\n"
	"  0: {copies: 9}\n"
	"accept:\n"
	"  - {at: a.py:1, reason: once per epoch}\n";

static void test_everything(void **state)
{
	struct sy_budget budget;
	struct sy_err err;
	const struct sy_budget_entry *e;

	(void)state;
	assert_int_equal(read_text(&budget, everything, &err), 0);
	assert_int_equal(budget.n, 9);
	assert_int_equal(budget.statistic, SY_STATISTIC_MEDIAN);
	e = budget.entries;
	assert_int_equal(e[0].scope, SY_SCOPE_STEP);
	assert_true(e[0].limits[SY_METRIC_DRAINS].allowed == 1.5);
	assert_true(e[0].limits[SY_METRIC_BLOCKED_NS].allowed == 4.2e6);
	assert_true(e[0].limits[SY_METRIC_WAITED_NS].allowed == 7e3);
	assert_true(e[0].limits[SY_METRIC_STEP_NS].allowed == 1e9);
	assert_false(e[0].limits[SY_METRIC_EMPTY].is_set);
	assert_int_equal(e[2].line, 42);
	assert_string_equal(e[2].file, "src/train.py");
	assert_string_equal(e[2].function, "log");
	assert_int_equal(e[2].class, SY_ACT_READBACK);
	assert_string_equal(e[2].code, "x = y.item()");
	assert_int_equal(e[2].budget_line, 6);
	assert_string_equal(e[3].pattern, "penalty*");
	assert_int_equal(e[3].line, 0);
	assert_string_equal(e[4].file, "eval.py");
	assert_null(e[4].pattern);
	assert_string_equal(e[6].name, "pt_*");
	assert_int_equal(e[7].scope, SY_SCOPE_RANK);
	assert_string_equal(e[8].reason, "once per epoch");
	sy_budget_free(&budget);
}

static const struct {
	const char *text, *wanted;
} mistakes[] = {
	{ "per_step:\n  sincs: 3\n", "b.yml:2:3: unknown key: name=sincs; did you mean syncs?" },
	{ "perstep: {}\n", "b.yml:1:1: unknown key: name=perstep; did you mean per_step?" },
	{ "per_step: {colour: 3}\n", "b.yml:1:12: unknown key: name=colour known=syncs, drains, empty," },
	{ "per_step: {blocked_ns: 3}\n", "b.yml:1:12: unknown key: name=blocked_ns; did you mean blocked?" },
	{ "per_step: {syncs: many}\n", "b.yml:1:19: a number from 0 on is wanted: given=many" },
	{ "per_step: {syncs: -1}\n", "b.yml:1:19: a number from 0 on is wanted: given=-1" },
	{ "per_step: {syncs: 1e999}\n", "b.yml:1:19: a number from 0 on is wanted" },
	{ "per_step: {syncs: nan}\n", "b.yml:1:19: a number from 0 on is wanted" },
	{ "per_step: {syncs: [1]}\n", "b.yml:1:19: a number from 0 on is wanted: given=(no text)" },
	{ "per_step: {blocked: 3}\n", "b.yml:1:21: a time with its unit is wanted, as 4.2 ms: given=3" },
	{ "per_step: {blocked: 3 h}\n", "b.yml:1:21: a time with its unit is wanted" },
	{ "per_step: 3\n", "b.yml:1:11: per_step must be keys with values" },
	{ "per_step: {syncs: 1, syncs: 2}\n", "b.yml:1:22: given twice: name=syncs" },
	{ "per_step: {syncs: 1}\nper_step: {syncs: 2}\n", "b.yml:2:1: given twice: name=per_step" },
	{ "other_lines: {launches: 1}\n", "b.yml:1:15: unknown key: name=launches" },
	{ "lines: {at: x}\n", "b.yml:1:8: lines must be a list" },
	{ "lines:\n  - syncs: 3\n", "b.yml:2:5: at is missing" },
	{ "lines: [{at: \"x.py:\"}]\n", "b.yml:1:14: at must be FILE:LINE, FILE:FUNCTION or FILE" },
	{ "lines: [{at: \":3\"}]\n", "b.yml:1:14: at must be FILE:LINE" },
	{ "lines: [{at: \"x.py:0\"}]\n", "b.yml:1:14: not a line: given=0" },
	{ "lines: [{at: \"x.py:99999999999\"}]\n", "b.yml:1:14: not a line" },
	{ "lines: [{at: \"x.py:f\", function: g}]\n", "b.yml:1:9: function goes with FILE:LINE" },
	{ "lines: [{at: \"x.py:3\", class: reedback}]\n", "b.yml:1:31: unknown class: name=reedback known=readback," },
	{ "accept: [{at: \"x.py:3\"}]\n", "b.yml:1:10: reason is missing: at=x.py:3" },
	{ "accept: [{at: \"x.py:3\", reason: ''}]\n", "b.yml:1:33: reason must be text" },
	{ "accept: [{at: \"x.py:3\", reason: a, syncs: 3}]\n",
	  "b.yml:1:36: unknown key: name=syncs known=at, function," },
	{ "threads: {main: 3}\n", "b.yml:1:17: threads must be keys with values" },
	{ "threads: {'': {syncs: 3}}\n", "b.yml:1:11: a name is missing" },
	{ "statistic: average\n", "b.yml:1:12: unknown statistic: name=average known=max, median, mean" },
	{ "version: 2\n", "b.yml:1:10: a version this program does not know: given=2 known=1" },
	{ "? [a]\n: 3\n", "b.yml:1:3: a key must be a word" },
	{ "- a\n", "b.yml:1:1: a budget must be keys with values" },
	{ "", "b.yml:1:1: the budget is empty" },
	{ "# nothing\n", "b.yml:1:1: the budget is empty" },
	{ "a: [\n", "b.yml:2:1: not YAML: " },
	{ "a:\n\t- b\n", "b.yml:2:1: not YAML: " },
	{ "version: 1\n---\nversion: 1\n", "b.yml:3:1: a second document in the same file" },
	{ "version: 1\n---\na: [\n", "b.yml:4:1: not YAML: " },
	{ "per_step: *x\n", "b.yml:1:11: not YAML: found undefined alias" },
	{ "\xff\xfe", "b.yml:1:1: the budget is empty" },
	{ "version: \x01\n", "b.yml:1:1: not YAML: control characters are not allowed" },
	{ "\"a\\e[31mb\\nc\": 3\n", "b.yml:1:1: unknown key: name=a?[31mb?c known=" },
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct sy_budget budget;
		struct sy_err err = { "" };

		if (read_text(&budget, mistakes[i].text, &err) == 0)
			fail_msg("no mistake is seen in: %s", mistakes[i].text);
		if (strncmp(err.text, mistakes[i].wanted, strlen(mistakes[i].wanted)) != 0)
			fail_msg("%s\nwas wanted, seen was\n%s", mistakes[i].wanted, err.text);
		sy_budget_free(&budget);
	}
}

/* A few bytes that stand for very many must not take very long or all memory. */
static void test_aliases(void **state)
{
	static char text[SY_BUDGET_MAX_BYTES];
	struct sy_budget budget;
	struct sy_err err;
	size_t n = 0;

	(void)state;
	n += (size_t)sprintf(text, "accept:\n- &a {at: \"x.py:1\", reason: \"");
	memset(text + n, 'r', 8000);
	n += 8000;
	n += (size_t)sprintf(text + n, "\"}\n");
	for (unsigned i = 0; i < 100000; i++)
		n += (size_t)sprintf(text + n, "- *a\n");
	assert_int_equal(sy_budget_read(&budget, text, n, "b.yml", &err), -1);
	sy_budget_free(&budget);
	assert_int_equal(read_text(&budget, "lines: &a [*a]\n", &err), -1);
	sy_budget_free(&budget);
	assert_int_equal(read_text(&budget, "per_step: &a {syncs: 1}\nother_lines: *a\n", &err), 0);
	assert_int_equal(budget.n, 2);
	sy_budget_free(&budget);
}

static void test_files(void **state)
{
	struct sy_budget budget;
	struct sy_err err;

	(void)state;
	assert_int_equal(sy_budget_read_file(&budget, "/nonexistent/b.yml", &err), -1);
	assert_string_equal(err.text, "cannot read the budget: path=/nonexistent/b.yml: No such file or directory");
	sy_budget_free(&budget);
	assert_int_equal(sy_budget_read_file(&budget, "/", &err), -1);
	sy_budget_free(&budget);
	assert_int_equal(sy_budget_read_file(&budget, "/dev/zero", &err), -1);
	assert_non_null(strstr(err.text, "the budget is longer than"));
	sy_budget_free(&budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
