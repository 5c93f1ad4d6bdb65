/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - run a program and take what it prints, line by line
 */
#ifndef SY_ANALYSIS_ASK_H
#define SY_ANALYSIS_ASK_H

#include <stdbool.h>

/* One line without its end; may be changed. */
typedef void sy_line_fn(void *context, char *line);

/*
 * Its input and its errors are connected to nothing, its exit status is not
 * looked at. Lines longer than PATH_MAX come in pieces. False: it could not be started.
 */
bool sy_ask(const char *path, char *const argv[], sy_line_fn *fn, void *context);

#endif
