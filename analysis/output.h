/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - a result file that is there whole or not at all
 *
 * It is written beside its place and moved there at the end. A file that
 * exists is not overwritten unless that is asked for, and then stays as it was
 * until the new one is complete. What is no plain file (/dev/stdout, a pipe)
 * is written to as it is.
 */
#ifndef SY_ANALYSIS_OUTPUT_H
#define SY_ANALYSIS_OUTPUT_H

#include "trace/err.h"

#include <stdbool.h>
#include <stdio.h>

struct sy_output {
	const char *path; /* of the caller, must outlive it */
	char *beside;     /* where it is written meanwhile; the same text as `path` for what is no plain file */
	FILE *file;       /* NULL if opened without a stream */
	bool may_replace;
	bool is_plain;
};

/* `with_stream` false: only the name `beside` is made, for a library that opens files by name. */
int sy_output_open(struct sy_output *output, const char *path, bool may_replace, bool with_stream, struct sy_err *err);

/* Moves it into place; -1 if it could not be written to the end, and then nothing is left behind. */
int sy_output_keep(struct sy_output *output, struct sy_err *err);

/* Removes what was written. */
void sy_output_drop(struct sy_output *output);

#endif
