/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - the few lines synctally writes from inside somebody's program
 *
 * Silent unless something keeps it from its work. No stdio, no allocation;
 * errno is kept; safe in a signal handler and before main.
 */
#ifndef SY_INTERPOSER_LOG_H
#define SY_INTERPOSER_LOG_H

/* Notes where standard error leads, so that what the program puts in its place is not written to. Before main. */
void sy_log_init(void);

/* Writes "synctally: " and the parts up to a NULL one, and a newline, to standard error. At most 16 lines a process. */
void sy_log_parts(const char *const *parts);
#define sy_log(...) sy_log_parts((const char *const[]){ __VA_ARGS__, (const char *)0 })

/* Text of a number or of an errno value, in the caller's buffer. */
#define SY_LOG_NUMBER_BYTES 24
const char *sy_log_number(char buffer[SY_LOG_NUMBER_BYTES], long value);
const char *sy_log_reason(int error);

#endif
