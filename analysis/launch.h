/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - run a command as if it had been started directly
 *
 * Its standard streams and process group are ours. Signals that are sent to us
 * are passed on to it; those from the terminal reach it anyway.
 */
#ifndef SY_ANALYSIS_LAUNCH_H
#define SY_ANALYSIS_LAUNCH_H

#include "trace/err.h"

/* A name and a value that the command, and only it, gets in its environment. */
struct sy_setting {
	const char *name;
	const char *value;
};

/*
 * Runs the command and waits for its end. Returns its exit status, 128 + n if
 * signal n ended it, 127 if it was not found, 126 if it cannot be executed;
 * for these two `err` tells why and *was_started is 0.
 */
int sy_launch(char *const command[], const struct sy_setting *settings, int *was_started, struct sy_err *err);

#endif
