/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - results as lines, as TAP and as JSON */
#ifndef CONFORMANCE_OUTPUT_H
#define CONFORMANCE_OUTPUT_H

#include "tests/conformance/conformance.h"

struct conf_result {
	const struct conf_rule *rule;
	struct conf_seen seen;
	enum conf_verdict verdict;
};

/* On stdout. */
void conf_print_device(const struct conf *c);
void conf_print_line(const struct conf *c, const struct conf_result *result);
void conf_print_totals(const struct conf_result *results, size_t n);
void conf_print_tap(const struct conf *c, const struct conf_result *result, size_t number);

/* Schema "synctally-conformance/1". Returns false if the file could not be written completely. */
bool conf_write_json(const char *path, const struct conf *c, const struct conf_result *results, size_t n);

#endif
