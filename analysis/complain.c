/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.c - fill a caller's message buffer and fail, in one expression
 */
#include "analysis/complain.h"

#include <stdarg.h>
#include <stdio.h>

int sy_complain(char *err, size_t err_bytes, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (err_bytes)
		vsnprintf(err, err_bytes, format, args);
	va_end(args);
	return -1;
}
