/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h - from DIR|TRACE... on a command line to the traces meant
 */
#ifndef SY_ANALYSIS_INPUTS_H
#define SY_ANALYSIS_INPUTS_H

#include "trace/arena.h"
#include "trace/err.h"

#include <stddef.h>

struct sy_inputs {
	struct sy_arena arena;
	const char **paths; /* those of one directory by name */
	size_t n, capacity;
};

/* Adds a trace, or all files named *.trace of a directory. -1: it does not exist, or holds none. */
int sy_inputs_add(struct sy_inputs *inputs, const char *path, struct sy_err *err);

void sy_inputs_free(struct sy_inputs *inputs);

#endif
