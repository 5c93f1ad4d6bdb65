/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/conformance/output.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORD = 64, LINE = 256 };

static const char *clock_name(const struct conf *c)
{
	return c->virtual_clock && c->virtual_clock() ? "virtual" : "real";
}

void conf_print_device(const struct conf *c)
{
	printf("device %s%s, compute capability %d.%d, driver %d, runtime %d\n", c->name,
	       c->is_simulated ? " (simulated)" : "", c->capability / 10, c->capability % 10, c->driver_version,
	       c->runtime_version);
	printf("busy for %.3f ms at a time, %s clock\n\n", (double)c->busy_ns / 1e6, clock_name(c));
	printf("%-4s %-63s %-20s %-37s %s\n", "rule", "what", "expected", "seen", "verdict");
}

void conf_print_line(const struct conf *c, const struct conf_result *result)
{
	char expected[WORD], seen[LINE];

	conf_expected_text(c, result->rule, expected, sizeof expected);
	conf_seen_text(c, result->rule, &result->seen, seen, sizeof seen);
	printf("%-4s %-63s %-20s %-37s %s\n", result->rule->rule, result->rule->what, expected, seen,
	       conf_verdict_word(result->verdict));
}

static size_t count(const struct conf_result *results, size_t n, enum conf_verdict verdict)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += results[i].verdict == verdict;
	return found;
}

void conf_print_totals(const struct conf_result *results, size_t n)
{
	printf("\n%zu as expected, %zu differ, %zu unclear, %zu skipped\n", count(results, n, CONF_OK),
	       count(results, n, CONF_DIFFERS), count(results, n, CONF_IS_UNCLEAR), count(results, n, CONF_SKIPPED));
}

void conf_print_tap(const struct conf *c, const struct conf_result *result, size_t number)
{
	bool is_fine = result->verdict == CONF_OK || result->verdict == CONF_SKIPPED;
	char expected[WORD], seen[LINE];

	conf_expected_text(c, result->rule, expected, sizeof expected);
	conf_seen_text(c, result->rule, &result->seen, seen, sizeof seen);
	if (result->verdict == CONF_SKIPPED) {
		printf("ok %zu - %s %s # SKIP %s\n", number, result->rule->rule, result->rule->what, seen);
		return;
	}
	printf("%sok %zu - %s %s: expected %s, seen %s\n", is_fine ? "" : "not ", number, result->rule->rule,
	       result->rule->what, expected, seen);
}

static void put_string(FILE *file, const char *key, const char *value, const char *after)
{
	fprintf(file, "\"%s\": \"", key);
	for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(file, "\\%c", *at);
		else if (*at < ' ')
			fprintf(file, "\\u%04x", *at);
		else
			fputc(*at, file);
	}
	fprintf(file, "\"%s", after);
}

static void put_result(FILE *file, const struct conf *c, const struct conf_result *result, const char *after)
{
	const struct conf_rule *rule = result->rule;
	char expected[WORD], seen[LINE];

	conf_expected_text(c, rule, expected, sizeof expected);
	conf_seen_text(c, rule, &result->seen, seen, sizeof seen);
	fprintf(file, "    {");
	put_string(file, "rule", rule->rule, ", ");
	put_string(file, "what", rule->what, ", ");
	put_string(file, "documented", conf_answer_word(rule->question, rule->documented), ", ");
	put_string(file, "expected", expected, ", ");
	put_string(file, "seen", seen, ", ");
	if (result->seen.has_ns)
		fprintf(file, "\"ns\": %" PRIu64 ", ", result->seen.ns);
	put_string(file, "verdict", conf_verdict_word(result->verdict), "");
	fprintf(file, "}%s\n", after);
}

bool conf_write_json(const char *path, const struct conf *c, const struct conf_result *results, size_t n)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fprintf(file, "{\n  ");
	put_string(file, "schema", "synctally-conformance/1", ",\n  ");
	put_string(file, "device", c->name, ",\n  ");
	fprintf(file, "\"simulated\": %s,\n  ", c->is_simulated ? "true" : "false");
	put_string(file, "clock", clock_name(c), ",\n  ");
	fprintf(file, "\"compute_capability\": %d,\n  \"driver_version\": %d,\n  \"runtime_version\": %d,\n  ",
	        c->capability, c->driver_version, c->runtime_version);
	fprintf(file, "\"busy_ns\": %" PRIu64 ",\n  \"rows\": [\n", c->busy_ns);
	for (size_t i = 0; i < n; i++)
		put_result(file, c, &results[i], i + 1 < n ? "," : "");
	fprintf(file, "  ],\n  \"as_expected\": %zu, \"differ\": %zu, \"unclear\": %zu, \"skipped\": %zu\n}\n",
	        count(results, n, CONF_OK), count(results, n, CONF_DIFFERS), count(results, n, CONF_IS_UNCLEAR),
	        count(results, n, CONF_SKIPPED));
	bool is_written = !ferror(file);
	return fclose(file) == 0 && is_written;
}
