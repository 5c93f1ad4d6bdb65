/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const char *format, va_list args)
{
	fputs("synctally: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void sy_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int sy_usage(const char *verb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, "synctally: `synctally %s%s--help` tells how it is used\n", verb, *verb ? " " : "");
	return SY_EXIT_USAGE;
}

bool sy_parse_count(const char *text, uint32_t *count)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value > UINT32_MAX)
		return false;
	*count = (uint32_t)value;
	return true;
}
