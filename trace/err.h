/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - an error as one line: what failed, and because of what
 *
 * For trace/ and analysis/, where a function returns 0, or -1 with this filled
 * in. Not for the trainer's process.
 */
#ifndef SY_TRACE_ERR_H
#define SY_TRACE_ERR_H

#define SY_ERR_BYTES 1024

struct sy_err {
	char text[SY_ERR_BYTES]; /* without a line end */
};

/* Both return -1, so that a failure can be told and returned in one statement. */
int sy_err_set(struct sy_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "what failed: " before the cause that is already there. */
int sy_err_wrap(struct sy_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
