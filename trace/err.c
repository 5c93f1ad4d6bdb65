/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sy_err_set(struct sy_err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int sy_err_wrap(struct sy_err *err, const char *format, ...)
{
	struct sy_err cause = *err;
	va_list args;
	size_t used;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", cause.text);
	return -1;
}
