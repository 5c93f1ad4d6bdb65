/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_doctor.c - synctally doctor: how objects come to CUDA, what of that would be seen, and what not
 */
#include "analysis/cli.h"
#include "analysis/doctor.h"
#include "analysis/doctor_render.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool is_strict, is_json, with_all;
};

enum { OPTION_STRICT = 256, OPTION_ALL, OPTION_FORMAT };

static int set_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPTION_STRICT:
		options->is_strict = true;
		return 0;
	case OPTION_ALL:
		options->with_all = true;
		return 0;
	case OPTION_FORMAT:
		options->is_json = strcmp(value, "json") == 0;
		return options->is_json || strcmp(value, "text") == 0
		               ? 0
		               : sy_usage("doctor", "unknown format: name=%s known=text, json", value);
	default:
		return sy_usage("doctor", "unknown option, or its value is missing");
	}
}

/* The words before "--" are ours; *command is what follows it, or NULL. */
static int parse(int argc, char **argv, struct options *options, char ***command)
{
	static const struct option known[] = {
		{ "strict", no_argument, NULL, OPTION_STRICT },
		{ "all", no_argument, NULL, OPTION_ALL },
		{ "format", required_argument, NULL, OPTION_FORMAT },
		{ NULL, 0, NULL, 0 },
	};
	int option, end = 1;

	*command = NULL;
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc)
		*command = argv + end + 1;
	opterr = 0;
	while ((option = getopt_long(end, argv, "", known, NULL)) != -1) {
		int status = set_option(options, option, optarg);

		if (status != 0)
			return status;
	}
	if (*command && !**command)
		return sy_usage("doctor", "a command is missing behind --");
	if (*command && optind < end)
		return sy_usage("doctor", "either objects or a command: %s", argv[optind]);
	if (!*command && optind == argc)
		return sy_usage("doctor", "a file, a directory, a process or a command is missing");
	return 0;
}

static int look_at(struct sy_doctor *doctor, const char *what, struct sy_err *err)
{
	uint32_t pid;

	/* A file that is called like a number is ./1234. */
	if (sy_parse_count(what, &pid))
		return doctor->pid ? sy_err_set(err, "one process at a time: pid=%d and %s", (int)doctor->pid, what)
		                   : sy_doctor_process(doctor, (pid_t)pid, err);
	return sy_doctor_path(doctor, what, err);
}

static int judge(const struct sy_doctor *doctor, const struct options *options)
{
	enum sy_seen least = sy_doctor_seen(doctor);
	bool is_whole = true;

	for (size_t i = 0; i < doctor->n; i++)
		is_whole &= !doctor->patients[i].problem;
	if (!options->is_strict)
		return SY_EXIT_FINE;
	if (least == SY_SEEN_NO)
		return SY_EXIT_DIFFERS;
	return is_whole && !doctor->no_bindings ? SY_EXIT_FINE : SY_EXIT_INCONCLUSIVE;
}

int sy_cmd_doctor(int argc, char **argv)
{
	struct sy_doctor doctor = { 0 };
	struct options options = { 0 };
	char **command;
	struct sy_err err;
	int status = parse(argc, argv, &options, &command), result = 0;

	if (status != 0)
		return status;
	if (command)
		result = sy_doctor_command(&doctor, command, &err);
	for (int i = optind; !command && result == 0 && i < argc; i++)
		result = look_at(&doctor, argv[i], &err);
	if (result != 0) {
		sy_say("%s", err.text);
		status = SY_EXIT_USAGE;
	} else {
		status = (options.is_json ? sy_doctor_json(&doctor, stdout)
		                          : sy_doctor_text(&doctor, options.with_all, stdout)) == 0
		                 ? judge(&doctor, &options)
		                 : SY_EXIT_USAGE;
	}
	sy_doctor_free(&doctor);
	return status;
}
