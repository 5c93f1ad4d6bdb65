/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_csv.c - the table that --by asks for, for spreadsheets and scripts
 *
 * One table, one heading line, RFC 4180. Numbers are not rounded and times are
 * nanoseconds; the other tables and the notes of a report are in the other formats.
 */
#include "analysis/csv.h"
#include "analysis/render.h"

#include <ctype.h>

/* "IN CALLS" becomes in_calls_ns, if it holds times. */
static void put_heading(FILE *out, const struct sy_table *table, unsigned column)
{
	for (const char *at = table->columns[column].heading; *at; at++)
		fputc(*at == ' ' ? '_' : tolower((unsigned char)*at), out);
	for (size_t r = 0; r < table->n_rows; r++) {
		if (table->cells[r * table->n_columns + column].kind != SY_CELL_NS)
			continue;
		fputs("_ns", out);
		return;
	}
}

static void put_cell(FILE *out, const struct sy_cell *cell)
{
	if (cell->kind == SY_CELL_TEXT)
		sy_csv_put(out, cell->text);
	else if (cell->kind == SY_CELL_NS)
		fprintf(out, "%.0f", cell->number);
	else if (cell->kind == SY_CELL_COUNT)
		fprintf(out, "%.15g", cell->number);
}

int sy_render_csv(const struct sy_profile *profile, const struct sy_report *report, FILE *out, bool is_terminal)
{
	const struct sy_table *table = report->main;

	(void)profile;
	(void)is_terminal;
	if (!table)
		return 0;
	for (unsigned c = 0; c < table->n_columns; c++) {
		put_heading(out, table, c);
		fputs(c + 1 < table->n_columns ? "," : "\r\n", out);
	}
	for (size_t r = 0; r < table->n_rows; r++) {
		for (unsigned c = 0; c < table->n_columns; c++) {
			put_cell(out, &table->cells[r * table->n_columns + c]);
			fputs(c + 1 < table->n_columns ? "," : "\r\n", out);
		}
	}
	return ferror(out) ? -1 : 0;
}
