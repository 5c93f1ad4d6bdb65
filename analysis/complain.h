/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.h - fill a caller's message buffer and fail, in one expression
 *
 * For the code that prepares a simulated run. Messages are one line without a
 * final full stop: what failed, colon, why.
 */
#ifndef SY_ANALYSIS_COMPLAIN_H
#define SY_ANALYSIS_COMPLAIN_H

#include <stddef.h>

/* Writes the message into `err` (cut at `err_bytes`) and returns -1. Any thread. */
int sy_complain(char *err, size_t err_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
