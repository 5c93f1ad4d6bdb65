/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - synctally export: the recorded acts for other programs
 */
#include "analysis/cli.h"
#include "analysis/export.h"
#include "analysis/inputs.h"
#include "analysis/load.h"
#include "analysis/output.h"
#include "analysis/site_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio_ext.h>
#include <string.h>

struct options {
	const struct sy_sink *sink;
	const char *output; /* NULL: stdout */
	bool may_replace;
	struct sy_export job;
	struct sy_range_wish steps;
};

enum { OPTION_TO = 256, OPTION_SKIP, OPTION_STEPS, OPTION_WEIGHT, OPTION_SLICE, OPTION_FORCE };

static int set_option(struct options *options, int option, const char *value)
{
	int weight;

	switch (option) {
	case OPTION_TO:
		options->sink = sy_export_find(value);
		return options->sink ? 0
		                     : sy_usage("export", "unknown format: name=%s known=%s", value, sy_export_names());
	case 'O':
		options->output = value;
		return 0;
	case OPTION_FORCE:
		options->may_replace = true;
		return 0;
	case OPTION_WEIGHT:
		weight = sy_export_weight_find(value);
		options->job.weight = (enum sy_export_weight)weight;
		return weight >= 0 ? 0
		                   : sy_usage("export", "unknown weight: name=%s known=blocked, waited, count", value);
	case OPTION_SLICE:
		return sy_parse_count(value, &options->job.slice_s)
		               ? 0
		               : sy_usage("export", "not a number of seconds: --slice %s", value);
	case OPTION_SKIP:
		options->steps.has_skip = sy_parse_count(value, &options->steps.range.skip);
		return options->steps.has_skip ? 0 : sy_usage("export", "not a number of steps: --skip %s", value);
	case OPTION_STEPS:
		options->steps.has_limit = sy_parse_count(value, &options->steps.range.limit);
		return options->steps.has_limit ? 0 : sy_usage("export", "not a number of steps: --steps %s", value);
	default:
		return sy_site_option("export", option, value);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "to", required_argument, NULL, OPTION_TO },
		{ "output", required_argument, NULL, 'O' },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "weight", required_argument, NULL, OPTION_WEIGHT },
		{ "slice", required_argument, NULL, OPTION_SLICE },
		{ "skip", required_argument, NULL, OPTION_SKIP },
		{ "steps", required_argument, NULL, OPTION_STEPS },
		{ "site-path", required_argument, NULL, SY_OPTION_SITE_PATH },
		{ "site-depth", required_argument, NULL, SY_OPTION_SITE_DEPTH },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "O:", known, NULL)) != -1) {
		int status = set_option(options, option, optarg);

		if (status != 0)
			return status;
	}
	if (!options->sink)
		return sy_usage("export", "the format is missing: --to one of %s", sy_export_names());
	if (options->sink->opens_itself && !options->output)
		return sy_usage("export", "%s needs a place: -O %s", options->sink->name,
		                options->sink->is_folder ? "FOLDER" : "FILE");
	return optind < argc ? 0 : sy_usage("export", "a directory or a trace is missing");
}

static int to_stdout(struct options *options)
{
	int status;

	options->job.out = stdout;
	errno = 0;
	status = sy_export_run(&options->job, options->sink);
	if (status == SY_EXIT_USAGE) {
		/* It is told; what is still buffered must not fail, and be told, again. */
		__fpurge(stdout);
		clearerr(stdout);
	}
	return status;
}

static int to_file(struct options *options)
{
	bool with_stream = !options->sink->opens_itself;
	struct sy_output output;
	struct sy_err err;
	int status;

	if (sy_output_open(&output, options->output, options->may_replace, with_stream, &err) != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	options->job.out = output.file;
	options->job.output = output.beside;
	status = sy_export_run(&options->job, options->sink);
	if (status == SY_EXIT_USAGE) {
		sy_output_drop(&output);
	} else if (sy_output_keep(&output, &err) != 0) {
		sy_say("%s", err.text);
		status = SY_EXIT_USAGE;
	}
	return status;
}

static int export(struct options *options, const struct sy_inputs *inputs)
{
	options->job.paths = inputs->paths;
	options->job.n_paths = inputs->n;
	options->job.range = sy_load_range(&options->steps, inputs);
	if (!options->output)
		return to_stdout(options);
	if (!options->sink->is_folder)
		return to_file(options);
	options->job.output = options->output;
	return sy_export_run(&options->job, options->sink);
}

int sy_cmd_export(int argc, char **argv)
{
	struct options options = { .sink = NULL };
	struct sy_inputs inputs = { .n = 0 };
	struct sy_err err;
	int status = parse(argc, argv, &options);

	for (int i = optind; status == 0 && i < argc; i++) {
		if (sy_inputs_add(&inputs, argv[i], &err) != 0) {
			sy_say("%s", err.text);
			status = SY_EXIT_USAGE;
		}
	}
	if (status == 0)
		status = export(&options, &inputs);
	sy_inputs_free(&inputs);
	return status;
}
