/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - does the device that is there keep the rules of docs/SYNC-RULES.md?
 *
 *	conformance [--tap] [--json FILE] [--busy-ms N] [RULE...]
 *
 * One line per row of rules.def: rule, question, expected, seen, verdict. Exit
 * status 0 if all is as expected, 1 if something differs or stayed unclear, 77
 * if there is no device, 2 if it cannot be used or the command line is wrong.
 *
 * The program asks the loader for libcudart.so.13 and libcuda.so.1 and names no
 * place for them: the same file runs on the simulated device when that comes
 * first in LD_LIBRARY_PATH, and else on the GPU of the machine.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/output.h"

enum { FINE = 0, NOT_AS_EXPECTED = 1, UNUSABLE = 2, NO_DEVICE = 77, BUSY_MS = 50, MAX_BUSY_MS = 10000 };

struct options {
	bool tap;
	const char *json;
	unsigned long busy_ms;
	char **rules; /* NULL-terminated; empty: all */
};

static int usage(void)
{
	fprintf(stderr, "usage: conformance [--tap] [--json FILE] [--busy-ms N] [RULE...]\n");
	return UNUSABLE;
}

static bool parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = { { "tap", no_argument, NULL, 't' },
		                               { "json", required_argument, NULL, 'j' },
		                               { "busy-ms", required_argument, NULL, 'b' },
		                               { NULL, 0, NULL, 0 } };
	int option;

	*options = (struct options){ .busy_ms = BUSY_MS };
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 't':
			options->tap = true;
			break;
		case 'j':
			options->json = optarg;
			break;
		case 'b':
			options->busy_ms = strtoul(optarg, NULL, 10);
			break;
		default:
			return false;
		}
	}
	options->rules = argv + optind;
	return options->busy_ms > 0 && options->busy_ms <= MAX_BUSY_MS;
}

static bool is_wanted(const struct options *options, const char *rule)
{
	bool is_named = !options->rules[0];

	for (char **name = options->rules; *name; name++)
		is_named = is_named || strcmp(*name, rule) == 0;
	return is_named;
}

/* Every name on the command line is a rule: a misspelt one must not pass as "nothing differs". */
static bool all_known(const struct options *options)
{
	for (char **name = options->rules; *name; name++) {
		size_t i = 0;
		while (i < conf_n_rules && strcmp(conf_rules[i].rule, *name) != 0)
			i++;
		if (i == conf_n_rules) {
			fprintf(stderr, "conformance: no such rule: name=%s\n", *name);
			return false;
		}
	}
	return true;
}

static int run(struct conf *c, const struct options *options)
{
	struct conf_result *results = calloc(conf_n_rules, sizeof *results);
	size_t n = 0;
	int status = FINE;

	if (!results)
		return UNUSABLE;
	if (!options->tap)
		conf_print_device(c);
	for (size_t i = 0; i < conf_n_rules; i++) {
		struct conf_result *result = &results[n];
		if (!is_wanted(options, conf_rules[i].rule))
			continue;
		result->rule = &conf_rules[i];
		conf_ask(c, result->rule, &result->seen);
		result->verdict = conf_judge(c, result->rule, &result->seen);
		if (result->verdict == CONF_DIFFERS || result->verdict == CONF_IS_UNCLEAR)
			status = NOT_AS_EXPECTED;
		n++;
		if (options->tap)
			conf_print_tap(c, result, n);
		else
			conf_print_line(c, result);
		fflush(stdout);
	}
	if (options->tap)
		printf("1..%zu\n", n);
	else
		conf_print_totals(results, n);
	if (options->json && !conf_write_json(options->json, c, results, n)) {
		fprintf(stderr, "conformance: cannot write: file=%s\n", options->json);
		status = UNUSABLE;
	}
	free(results);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct conf c;
	char text[256];

	if (!parse(argc, argv, &options))
		return usage();
	if (!all_known(&options))
		return UNUSABLE;
	switch (conf_open(&c, options.busy_ms * 1000000u, text, sizeof text)) {
	case CONF_NO_DEVICE:
		printf("skipped: no CUDA device: %s\n", text);
		return NO_DEVICE;
	case CONF_UNUSABLE:
		fprintf(stderr, "conformance: %s\n", text);
		return UNUSABLE;
	case CONF_OPENED:
		break;
	}
	int status = run(&c, &options);
	conf_close(&c);
	if (fflush(stdout) != 0 || ferror(stdout))
		return UNUSABLE;
	return status;
}
