/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_report.c - synctally report: how often, where and how long the host waited
 */
#include "analysis/cli.h"
#include "analysis/inputs.h"
#include "analysis/load.h"
#include "analysis/output.h"
#include "analysis/produce.h"
#include "analysis/site_options.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *format;
	const char *output; /* NULL: stdout */
	bool may_replace;
	int by;
	bool has_step;
	uint32_t step; /* to show in order */
	struct sy_range_wish steps;
};

enum { OPTION_FORMAT = 256, OPTION_FORCE, OPTION_BY, OPTION_STEP, OPTION_SKIP, OPTION_STEPS };

static int set_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_FORMAT:
		options->format = value;
		if (!sy_render_find(value))
			return sy_usage("report", "unknown format: name=%s known=%s", value, sy_render_names());
		return 0;
	case 'O':
		options->output = value;
		return 0;
	case OPTION_FORCE:
		options->may_replace = true;
		return 0;
	case OPTION_BY:
		options->by = sy_by_find(value);
		if (options->by < 0)
			return sy_usage("report",
			                "unknown group: name=%s known=site, api, class, thread, rank, step, order",
			                value);
		return 0;
	case OPTION_STEP:
		options->has_step = sy_parse_count(value, &options->step);
		return options->has_step ? 0 : sy_usage("report", "not the number of a step: --step %s", value);
	case OPTION_SKIP:
		options->steps.has_skip = sy_parse_count(value, &options->steps.range.skip);
		return options->steps.has_skip ? 0 : sy_usage("report", "not a number of steps: --skip %s", value);
	case OPTION_STEPS:
		options->steps.has_limit = sy_parse_count(value, &options->steps.range.limit);
		return options->steps.has_limit ? 0 : sy_usage("report", "not a number of steps: --steps %s", value);
	default:
		return sy_site_option("report", option, value);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "format", required_argument, NULL, OPTION_FORMAT },
		{ "by", required_argument, NULL, OPTION_BY },
		{ "step", required_argument, NULL, OPTION_STEP },
		{ "skip", required_argument, NULL, OPTION_SKIP },
		{ "steps", required_argument, NULL, OPTION_STEPS },
		{ "site-path", required_argument, NULL, SY_OPTION_SITE_PATH },
		{ "site-depth", required_argument, NULL, SY_OPTION_SITE_DEPTH },
		{ "output", required_argument, NULL, 'O' },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "O:", known, NULL)) != -1) {
		int status = set_option(options, option, optarg);

		if (status != 0)
			return status;
	}
	return optind < argc ? 0 : sy_usage("report", "a directory or a trace is missing");
}

static int report(const struct options *options, const struct sy_inputs *inputs, FILE *out)
{
	struct sy_request request = { .paths = inputs->paths, .n_paths = inputs->n, .by = (enum sy_by)options->by };

	if (options->has_step)
		request.by = SY_REPORT_BY_ORDER;
	request.step = options->has_step ? options->step : SY_ORDER_TYPICAL;
	request.range = sy_load_range(&options->steps, inputs);
	request.render = sy_render_find(options->format);
	request.out = out;
	request.is_terminal = isatty(fileno(out));
	return sy_produce(&request);
}

static int report_to_file(const struct options *options, const struct sy_inputs *inputs)
{
	struct sy_output output;
	struct sy_err err;
	int status;

	if (sy_output_open(&output, options->output, options->may_replace, true, &err) != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	status = report(options, inputs, output.file);
	if (status == SY_EXIT_USAGE) {
		sy_output_drop(&output);
	} else if (sy_output_keep(&output, &err) != 0) {
		sy_say("%s", err.text);
		status = SY_EXIT_USAGE;
	}
	return status;
}

int sy_cmd_report(int argc, char **argv)
{
	struct options options = { .format = "text", .by = SY_REPORT_BY_SITE };
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
		status = options.output ? report_to_file(&options, &inputs) : report(&options, &inputs, stdout);
	sy_inputs_free(&inputs);
	return status;
}
