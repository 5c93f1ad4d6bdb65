/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run.c - synctally run: run a program, record it, and report
 *
 * The program's standard output stays its own: the report goes to standard
 * error, or, if --report names a format, to standard output after the
 * program's. The exit status is the program's.
 */
#include "analysis/cli.h"
#include "analysis/inputs.h"
#include "analysis/launch.h"
#include "analysis/mem.h"
#include "analysis/preload.h"
#include "analysis/produce.h"
#include "analysis/run_directory.h"
#include "analysis/run_note.h"
#include "analysis/site_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NVTX_VARIABLE "NVTX_INJECTION64_PATH"

struct options {
	const char *directory; /* NULL: the next free one */
	const char *sim;       /* NULL: a real device; "": the simulated one as it is by default */
	const char *values;    /* FILE:LINE=N,...: what readbacks show on the simulated device; NULL: nothing given */
	const char *step;
	const char *format; /* NULL: text, to standard error */
	struct sy_step_range range;
	char **command;
};

enum { OPTION_SIM = 256, OPTION_SIM_VALUE, OPTION_STEP, OPTION_SKIP, OPTION_STEPS, OPTION_REPORT };

/* FILE:LINE=N; several are handed on as one list. */
static int add_value(struct options *options, const char *value, struct sy_arena *arena)
{
	const char *colon = strrchr(value, ':'), *equals = strrchr(value, '=');

	if (!colon || !equals || equals < colon + 2 || colon == value || !equals[1] || strchr(value, ','))
		return sy_usage("run", "not FILE:LINE=INTEGER: --sim-value %s", value);
	options->values = options->values ? sy_mem_printf(arena, "%s,%s", options->values, value) : value;
	return 0;
}

static int set_option(struct options *options, int option, const char *value, struct sy_arena *arena)
{
	switch (option) {
	case OPTION_SIM_VALUE:
		return add_value(options, value, arena);
	case 'o':
		options->directory = value;
		return 0;
	case OPTION_SIM:
		options->sim = value ? value : "";
		return 0;
	case OPTION_STEP:
		options->step = value;
		return 0;
	case OPTION_SKIP:
		return sy_parse_count(value, &options->range.skip)
		               ? 0
		               : sy_usage("run", "not a number of steps: --skip %s", value);
	case OPTION_STEPS:
		return sy_parse_count(value, &options->range.limit)
		               ? 0
		               : sy_usage("run", "not a number of steps: --steps %s", value);
	case OPTION_REPORT:
		options->format = value;
		if (!sy_render_find(value))
			return sy_usage("run", "unknown format: name=%s known=%s", value, sy_render_names());
		return 0;
	default:
		return sy_site_option("run", option, value);
	}
}

static int parse(int argc, char **argv, struct options *options, struct sy_arena *arena)
{
	static const struct option known[] = {
		{ "sim", optional_argument, NULL, OPTION_SIM },
		{ "sim-value", required_argument, NULL, OPTION_SIM_VALUE },
		{ "step", required_argument, NULL, OPTION_STEP },
		{ "skip", required_argument, NULL, OPTION_SKIP },
		{ "steps", required_argument, NULL, OPTION_STEPS },
		{ "site-path", required_argument, NULL, SY_OPTION_SITE_PATH },
		{ "site-depth", required_argument, NULL, SY_OPTION_SITE_DEPTH },
		{ "report", required_argument, NULL, OPTION_REPORT },
		{ "output", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	opterr = 0;
	/* "+": the first word that is no option begins the program's own. */
	while ((option = getopt_long(argc, argv, "+o:", known, NULL)) != -1) {
		int status = set_option(options, option, optarg, arena);

		if (status != 0)
			return status;
	}
	options->command = argv + optind;
	if (options->values && !options->sim)
		return sy_usage("run", "--sim-value is for the simulated device: --sim is missing");
	return optind < argc ? 0 : sy_usage("run", "the program to run is missing");
}

/* A file of settings goes by its absolute path: the program may change its directory before it is read. */
static const char *sim_settings(const char *sim, struct sy_arena *arena)
{
	size_t length = strcspn(sim, ",");
	char *path = sy_mem_printf(arena, "%.*s", (int)length, sim);
	char absolute[PATH_MAX];
	struct stat status;

	if (strchr(path, '=') || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || !realpath(path, absolute))
		return sim;
	return sy_mem_printf(arena, "file=%s%s", absolute, sim + length);
}

/* NVTX hands ranges to the one library that this variable names: ours, if steps are to end with them. */
static const char *nvtx_injection(const struct options *options, struct sy_arena *arena)
{
	const char *step = options->step ? options->step : getenv("SYNCTALLY_STEP");
	const char *other = getenv(NVTX_VARIABLE);

	if (!step || strncmp(step, "nvtx:", strlen("nvtx:")) != 0)
		return NULL;
	if (other && *other) {
		sy_say("another tool gets the NVTX ranges, so no step can be found by them: " NVTX_VARIABLE "=%s",
		       other);
		return NULL;
	}
	return sy_preload_library(arena);
}

static int run_program(const struct options *options, const char *directory, struct sy_arena *arena, int *was_started)
{
	const char *preload;
	const char *injection = nvtx_injection(options, arena);
	struct sy_setting settings[8] = { { NULL, NULL } };
	struct sy_err err;
	unsigned n = 0;
	int status;

	*was_started = 0;
	preload = sy_preload_make(options->command, options->sim != NULL, arena, &err);
	if (!preload || sy_run_note_write(directory, options->command, options->range, &err) != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	settings[n++] = (struct sy_setting){ "LD_PRELOAD", preload };
	settings[n++] =
		(struct sy_setting){ "SYNCTALLY_OUT", sy_run_directory_pattern(directory, options->command, arena) };
	if (options->step)
		settings[n++] = (struct sy_setting){ "SYNCTALLY_STEP", options->step };
	if (injection)
		settings[n++] = (struct sy_setting){ NVTX_VARIABLE, injection };
	if (options->sim && *options->sim)
		settings[n++] = (struct sy_setting){ "SYNCTALLY_SIM", sim_settings(options->sim, arena) };
	if (options->values)
		settings[n++] = (struct sy_setting){ "SYNCTALLY_SIM_VALUES", options->values };
	/* Triton, which torch.compile compiles with, looks for a file, not for a loaded library. */
	if (options->sim && !getenv("TRITON_LIBCUDA_PATH"))
		settings[n++] = (struct sy_setting){ "TRITON_LIBCUDA_PATH", sy_preload_device_directory(arena) };
	settings[n] = (struct sy_setting){ NULL, NULL };
	status = sy_launch(options->command, settings, was_started, &err);
	if (!*was_started)
		sy_say("%s", err.text);
	return status;
}

/* Nothing ran, so nothing is left behind. */
static void tidy_up(const struct options *options, const char *directory, struct sy_arena *arena)
{
	char *parent = sy_mem_copy(arena, directory);

	(void)unlink(sy_mem_printf(arena, "%s/" SY_RUN_NOTE_NAME, directory));
	if (options->directory)
		return;
	(void)rmdir(directory);
	*strrchr(parent, '/') = '\0';
	(void)rmdir(parent);
}

/* Whatever becomes of the report, the exit status is the program's. */
static void report(const struct options *options, const char *directory)
{
	struct sy_inputs inputs = { .n = 0 };
	struct sy_request request = { .range = options->range, .by = SY_REPORT_BY_SITE };
	struct sy_err err;

	if (sy_inputs_add(&inputs, directory, &err) != 0) {
		sy_say("no CUDA call was seen: nothing was recorded");
		sy_inputs_free(&inputs);
		return;
	}
	request.paths = inputs.paths;
	request.n_paths = inputs.n;
	request.render = sy_render_find(options->format ? options->format : "text");
	request.out = options->format ? stdout : stderr;
	request.is_terminal = isatty(fileno(request.out));
	(void)sy_produce(&request);
	sy_say("the trace lies in %s", directory);
	sy_inputs_free(&inputs);
}

int sy_cmd_run(int argc, char **argv)
{
	struct options options = { .directory = NULL };
	struct sy_arena arena = { NULL };
	const char *directory = NULL;
	struct sy_err err;
	int was_started = 0;
	int status = parse(argc, argv, &options, &arena);

	if (status == 0) {
		directory = sy_run_directory_make(options.directory, &arena, &err);
		if (!directory) {
			sy_say("%s", err.text);
			status = SY_EXIT_USAGE;
		}
	}
	if (directory)
		status = run_program(&options, directory, &arena, &was_started);
	if (was_started)
		report(&options, directory);
	else if (directory)
		tidy_up(&options, directory, &arena);
	sy_arena_free(&arena);
	return status;
}
