/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_check.c - synctally check: a run against a budget, for a CI job; and the budget from a run
 */
#include "analysis/budget_write.h"
#include "analysis/check_output.h"
#include "analysis/cli.h"
#include "analysis/load.h"
#include "analysis/site_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
	const char *budget, *junit, *thread;
	bool is_github, is_strict, has_statistic;
	bool writes, may_replace, may_raise;
	enum sy_statistic statistic;
	double slack; /* as a part of 1 */
	struct sy_range_wish steps;
};

enum {
	OPTION_BUDGET = 256,
	OPTION_JUNIT,
	OPTION_GITHUB,
	OPTION_STRICT,
	OPTION_THREAD,
	OPTION_STAT,
	OPTION_WRITE,
	OPTION_FORCE,
	OPTION_RAISE,
	OPTION_SLACK,
	OPTION_SKIP,
	OPTION_STEPS
};

static int set_number(struct options *options, int option, const char *value)
{
	char *end;

	switch (option) {
	case OPTION_STAT:
		options->has_statistic = sy_statistic_find(value) >= 0;
		if (!options->has_statistic)
			return sy_usage("check", "unknown statistic: name=%s known=max, median, mean", value);
		options->statistic = (enum sy_statistic)sy_statistic_find(value);
		return 0;
	case OPTION_SLACK:
		options->slack = strtod(value, &end) / 100;
		if (end == value || *end || !(options->slack >= 0 && options->slack <= 10))
			return sy_usage("check", "not a percentage from 0 to 1000: --slack %s", value);
		return 0;
	case OPTION_SKIP:
		options->steps.has_skip = sy_parse_count(value, &options->steps.range.skip);
		return options->steps.has_skip ? 0 : sy_usage("check", "not a number of steps: --skip %s", value);
	case OPTION_STEPS:
		options->steps.has_limit = sy_parse_count(value, &options->steps.range.limit);
		return options->steps.has_limit ? 0 : sy_usage("check", "not a number of steps: --steps %s", value);
	default:
		return sy_site_option("check", option, value);
	}
}

static int set_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_BUDGET:
		options->budget = value;
		return 0;
	case OPTION_JUNIT:
		options->junit = value;
		return 0;
	case OPTION_THREAD:
		options->thread = value;
		return 0;
	case OPTION_GITHUB:
		options->is_github = true;
		return 0;
	case OPTION_STRICT:
		options->is_strict = true;
		return 0;
	case OPTION_WRITE:
		options->writes = true;
		return 0;
	case OPTION_FORCE:
		options->may_replace = true;
		return 0;
	case OPTION_RAISE:
		options->may_raise = true;
		return 0;
	default:
		return set_number(options, option, value);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "budget", required_argument, NULL, OPTION_BUDGET },
		{ "junit", required_argument, NULL, OPTION_JUNIT },
		{ "github", no_argument, NULL, OPTION_GITHUB },
		{ "strict", no_argument, NULL, OPTION_STRICT },
		{ "thread", required_argument, NULL, OPTION_THREAD },
		{ "stat", required_argument, NULL, OPTION_STAT },
		{ "write", no_argument, NULL, OPTION_WRITE },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "raise", no_argument, NULL, OPTION_RAISE },
		{ "slack", required_argument, NULL, OPTION_SLACK },
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
	if (!options->budget)
		return sy_usage("check", "--budget FILE is missing");
	if ((options->may_replace || options->may_raise || options->slack > 0) && !options->writes)
		return sy_usage("check", "--force, --raise and --slack go with --write");
	if (options->may_raise && !options->may_replace)
		return sy_usage("check", "--raise goes with --force");
	return optind < argc ? 0 : sy_usage("check", "a directory or a trace is missing");
}

/* ---- results -------------------------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int write_junit(const struct options *options, const struct sy_check_output *output)
{
	FILE *out;

	if (is_same_file(options->junit, options->budget)) {
		sy_say("--junit would overwrite the budget: path=%s", options->junit);
		return -1;
	}
	out = fopen(options->junit, "we");
	if (out) {
		sy_check_junit(output, out);
		if (!ferror(out) && fclose(out) == 0)
			return 0;
	}
	sy_say("cannot write the result: path=%s: %s", options->junit, strerror(errno));
	return -1;
}

static int tell(const struct options *options, const struct sy_check_output *output)
{
	const struct sy_check *check = output->check;

	sy_check_text(output, stdout);
	if (options->is_github)
		sy_check_github(output, stdout);
	if (options->junit && write_junit(options, output) != 0)
		return SY_EXIT_USAGE;
	/* Numbers that are too small and yet over budget are over budget. */
	if (check->n_broken || (options->is_strict && check->n_stale))
		return SY_EXIT_DIFFERS;
	return output->inconclusive ? SY_EXIT_INCONCLUSIVE : SY_EXIT_FINE;
}

/* ---- --write ---------------------------------------------------------------------------------------- */

/* Limits only go down, unless it is asked for: a budget that follows the program up is none. */
static int write_budget(const struct options *options, const struct sy_check_output *output)
{
	struct sy_check *check = output->check;
	struct sy_err err;

	if (output->inconclusive) {
		sy_say("no budget is written: %s", output->inconclusive);
		return SY_EXIT_INCONCLUSIVE;
	}
	if (check->n_broken && !options->may_raise) {
		sy_check_text(output, stdout);
		sy_say("no budget is written, since it would be a higher one: --raise allows that");
		return SY_EXIT_DIFFERS;
	}
	if (sy_budget_write_file(check, options->slack, options->budget, options->may_replace, &err) != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	printf("wrote %s from %llu steps\n", options->budget, (unsigned long long)check->profile->n_samples);
	return SY_EXIT_FINE;
}

/* An empty budget where a new one is to be written. */
static int read_budget(const struct options *options, struct sy_budget *budget)
{
	struct stat status;
	struct sy_err err;
	bool is_there = lstat(options->budget, &status) == 0;

	memset(budget, 0, sizeof(*budget));
	if (options->writes && !is_there)
		return 0;
	if (options->writes && !options->may_replace) {
		sy_say("the budget exists already, --force replaces it: path=%s", options->budget);
		return SY_EXIT_USAGE;
	}
	if (sy_budget_read_file(budget, options->budget, &err) == 0)
		return 0;
	sy_say("%s", err.text);
	return SY_EXIT_USAGE;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static const char *why_inconclusive(const struct sy_profile *profile, size_t n_bad)
{
	if (n_bad)
		return "a trace could not be read";
	if (sy_profile_discarded(profile))
		return "events were discarded, so the numbers are too small";
	return sy_load_is_inconclusive(profile) ? "the recording is incomplete" : NULL;
}

static int check_profile(const struct options *options, const struct sy_budget *budget,
                         const struct sy_profile *profile, const struct sy_step_counts *counts, size_t n_bad)
{
	struct sy_check check;
	struct sy_check_output output = { .check = &check,
		                          .budget_path = options->budget,
		                          .is_strict = options->is_strict,
		                          .inconclusive = why_inconclusive(profile, n_bad) };
	enum sy_statistic statistic = options->has_statistic ? options->statistic : budget->statistic;
	int status;

	if (profile->n_samples == 0) {
		sy_say("nothing can be said per step: %s",
		       profile->has_steps ? "fewer steps than were to be skipped"
		                          : "no steps were found, synctally_step() marks them");
		return SY_EXIT_INCONCLUSIVE;
	}
	sy_check_make(&check, profile, counts, budget, statistic);
	status = options->writes ? write_budget(options, &output) : tell(options, &output);
	sy_check_free(&check);
	return status;
}

static int check_traces(const struct options *options, const struct sy_budget *budget, const struct sy_inputs *inputs)
{
	struct sy_step_counts counts;
	struct sy_profile profile;
	int status = SY_EXIT_USAGE;
	size_t n_bad;

	sy_profile_init(&profile, sy_load_range(&options->steps, inputs));
	sy_step_counts_attach(&counts, &profile, options->thread);
	n_bad = sy_load_traces(&profile, inputs->paths, inputs->n);
	if (n_bad < inputs->n) {
		sy_profile_finish(&profile);
		status = check_profile(options, budget, &profile, &counts, n_bad);
	}
	sy_step_counts_free(&counts);
	sy_profile_free(&profile);
	return status;
}

int sy_cmd_check(int argc, char **argv)
{
	struct options options = { .budget = NULL };
	struct sy_budget budget = { .n = 0 };
	struct sy_inputs inputs = { .n = 0 };
	struct sy_err err;
	int status = parse(argc, argv, &options);

	if (status == 0)
		status = read_budget(&options, &budget);
	for (int i = optind; status == 0 && i < argc; i++) {
		if (sy_inputs_add(&inputs, argv[i], &err) != 0) {
			sy_say("%s", err.text);
			status = SY_EXIT_USAGE;
		}
	}
	if (status == 0)
		status = check_traces(&options, &budget, &inputs);
	sy_inputs_free(&inputs);
	sy_budget_free(&budget);
	return status;
}
