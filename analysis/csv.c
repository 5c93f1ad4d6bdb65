/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/csv.h"

#include <string.h>

void sy_csv_put(FILE *out, const char *text)
{
	fputc('"', out);
	if (*text && strchr("=+-@\t\r", *text) && strcmp(text, "-") != 0)
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}
