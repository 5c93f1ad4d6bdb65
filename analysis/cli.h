/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - what all verbs share: exit statuses, messages, the table of verbs
 */
#ifndef SY_ANALYSIS_CLI_H
#define SY_ANALYSIS_CLI_H

#include "trace/err.h"

#include <stdbool.h>
#include <stdint.h>

enum sy_exit {
	SY_EXIT_FINE = 0,
	SY_EXIT_DIFFERS = 1,     /* a regression, a budget exceeded, a difference */
	SY_EXIT_USAGE = 2,       /* or the environment: nothing could be done */
	SY_EXIT_INCONCLUSIVE = 3 /* events discarded, data missing: the result is not the whole truth */
};

/* One verb: argv[0] is its name. Results go to stdout, everything else to stderr. Returns enum sy_exit. */
typedef int sy_command_fn(int argc, char **argv);

#define COMMAND(name, function, arguments, help) sy_command_fn function;
#include "analysis/commands.def"
#undef COMMAND

/* One line on stderr: "synctally: ...". */
void sy_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A mistake in the command line: the message, and where help is. Returns SY_EXIT_USAGE. */
int sy_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A whole number from 0 to 2^32 - 1; false if `text` is anything else. */
bool sy_parse_count(const char *text, uint32_t *count);

#endif
