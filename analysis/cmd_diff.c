/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - synctally diff: what changed between two runs, and whether it pays
 */
#include "analysis/cli.h"
#include "analysis/diff.h"
#include "analysis/inputs.h"
#include "analysis/load.h"
#include "analysis/render.h"
#include "analysis/site_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *format;
	double tolerance;
	bool fails_on_regression;
	struct sy_range_wish steps;
};

enum { OPTION_FORMAT = 256, OPTION_TOLERANCE, OPTION_FAIL, OPTION_SKIP, OPTION_STEPS };

static bool is_format(const char *name)
{
	return strcmp(name, "text") == 0 || strcmp(name, "json") == 0 || strcmp(name, "md") == 0;
}

static bool parse_percent(const char *text, double *part)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 100))
		return false;
	*part = value / 100;
	return true;
}

static int set_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_FORMAT:
		options->format = value;
		return is_format(value) ? 0 : sy_usage("diff", "unknown format: name=%s known=text, json, md", value);
	case OPTION_TOLERANCE:
		return parse_percent(value, &options->tolerance)
		               ? 0
		               : sy_usage("diff", "not a percentage from 0 to 100: --tolerance %s", value);
	case OPTION_FAIL:
		options->fails_on_regression = true;
		return 0;
	case OPTION_SKIP:
		options->steps.has_skip = sy_parse_count(value, &options->steps.range.skip);
		return options->steps.has_skip ? 0 : sy_usage("diff", "not a number of steps: --skip %s", value);
	case OPTION_STEPS:
		options->steps.has_limit = sy_parse_count(value, &options->steps.range.limit);
		return options->steps.has_limit ? 0 : sy_usage("diff", "not a number of steps: --steps %s", value);
	default:
		return sy_site_option("diff", option, value);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "format", required_argument, NULL, OPTION_FORMAT },
		{ "tolerance", required_argument, NULL, OPTION_TOLERANCE },
		{ "fail-on-regression", no_argument, NULL, OPTION_FAIL },
		{ "skip", required_argument, NULL, OPTION_SKIP },
		{ "steps", required_argument, NULL, OPTION_STEPS },
		{ "site-path", required_argument, NULL, SY_OPTION_SITE_PATH },
		{ "site-depth", required_argument, NULL, SY_OPTION_SITE_DEPTH },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		int status = set_option(options, option, optarg);

		if (status != 0)
			return status;
	}
	return argc - optind == 2 ? 0
	                          : sy_usage("diff", "two directories or traces are wanted: given=%d", argc - optind);
}

/* Returns SY_EXIT_FINE, SY_EXIT_INCONCLUSIVE if a trace is missing or lacks something, or SY_EXIT_USAGE. */
static int load(struct sy_profile *profile, const char *path, const struct sy_range_wish *wish)
{
	struct sy_inputs inputs = { .n = 0 };
	struct sy_err err;
	size_t n_bad;
	bool is_empty;

	if (sy_inputs_add(&inputs, path, &err) != 0) {
		sy_say("%s", err.text);
		sy_inputs_free(&inputs);
		return SY_EXIT_USAGE;
	}
	profile->range = sy_load_range(wish, &inputs);
	n_bad = sy_load_traces(profile, inputs.paths, inputs.n);
	is_empty = n_bad == inputs.n;
	sy_inputs_free(&inputs);
	if (is_empty)
		return SY_EXIT_USAGE;
	sy_profile_finish(profile);
	return n_bad || sy_load_is_inconclusive(profile) ? SY_EXIT_INCONCLUSIVE : SY_EXIT_FINE;
}

static int write_out(struct sy_diff *diff, const char *format)
{
	struct sy_report report;
	int result;

	sy_diff_report(&report, diff);
	errno = 0;
	if (strcmp(format, "json") == 0)
		result = sy_diff_json(diff, stdout);
	else if (strcmp(format, "md") == 0)
		result = sy_render_md(NULL, &report, stdout, false);
	else
		result = sy_render_text(NULL, &report, stdout, isatty(STDOUT_FILENO));
	if (result == 0 && fflush(stdout) != 0)
		result = -1;
	sy_report_free(&report);
	if (result == 0)
		return 0;
	if (errno != EPIPE)
		sy_say("cannot write the result: %s", errno ? strerror(errno) : "the output failed");
	/* It is told; what is still buffered must not fail, and be told, again. */
	__fpurge(stdout);
	clearerr(stdout);
	return -1;
}

static int compare(const struct options *options, const struct sy_profile *a, const struct sy_profile *b)
{
	struct sy_diff diff;
	int status = SY_EXIT_FINE;

	if (a->has_steps != b->has_steps) {
		sy_say("not comparable: only %s has steps", a->has_steps ? "A" : "B");
		return SY_EXIT_INCONCLUSIVE;
	}
	sy_diff_make(&diff, a, b, options->tolerance);
	if (write_out(&diff, options->format) != 0)
		status = SY_EXIT_USAGE;
	else if (options->fails_on_regression && diff.verdict == SY_DIFF_WORSE)
		status = SY_EXIT_DIFFERS;
	sy_diff_free(&diff);
	return status;
}

int sy_cmd_diff(int argc, char **argv)
{
	struct options options = { .format = "text", .tolerance = 0.05 };
	struct sy_profile profiles[2];
	int status = parse(argc, argv, &options), worst = SY_EXIT_FINE;

	sy_profile_init(&profiles[0], options.steps.range);
	sy_profile_init(&profiles[1], options.steps.range);
	for (int i = 0; i < 2 && status != SY_EXIT_USAGE; i++) {
		status = load(&profiles[i], argv[optind + i], &options.steps);
		worst = status == SY_EXIT_INCONCLUSIVE ? status : worst;
	}
	if (status != SY_EXIT_USAGE) {
		status = compare(&options, &profiles[0], &profiles[1]);
		/* A regression is one even where numbers are too small; "none" might be for that reason. */
		status = status == SY_EXIT_FINE ? worst : status;
	}
	sy_profile_free(&profiles[0]);
	sy_profile_free(&profiles[1]);
	return status;
}
