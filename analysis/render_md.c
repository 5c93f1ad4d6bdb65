/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_md.c - a report, or a difference, for a comment on a pull request
 *
 * Whatever came from a trace is shown as code or with every character that
 * could mean something escaped, so that it can neither make links nor tags.
 */
#include "analysis/render.h"

#include <string.h>

static void put_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '@')
			fputs("&#64;", out); /* nobody is to be notified */
		else if (strchr("\\`*_{}[]()#+!|~", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void put_cell(const struct sy_cell *cell, FILE *out)
{
	char words[SY_FORMAT_BYTES];

	switch (cell->kind) {
	case SY_CELL_TEXT:
		put_escaped(cell->text, out);
		break;
	case SY_CELL_COUNT:
		fputs(sy_format_count(words, cell->number), out);
		break;
	case SY_CELL_NS:
		fputs(cell->number > 0 ? sy_format_ns(words, cell->number) : "0", out);
		break;
	default:
		fputs("-", out);
	}
}

static void put_table(const struct sy_table *table, FILE *out)
{
	if (table->title) {
		fputs("\n**", out);
		put_escaped(table->title, out);
		fputs("**\n", out);
	}
	fputs("\n|", out);
	for (unsigned c = 0; c < table->n_columns; c++)
		fprintf(out, " %s |", table->columns[c].heading);
	fputs("\n|", out);
	for (unsigned c = 0; c < table->n_columns; c++)
		fputs(table->columns[c].is_number ? " ---: |" : " --- |", out);
	for (size_t r = 0; r < table->n_rows; r++) {
		fputs("\n|", out);
		for (unsigned c = 0; c < table->n_columns; c++) {
			fputc(' ', out);
			put_cell(&table->cells[r * table->n_columns + c], out);
			fputs(" |", out);
		}
	}
	fputc('\n', out);
}

int sy_render_md(const struct sy_profile *profile, const struct sy_report *report, FILE *out, bool is_terminal)
{
	(void)profile;
	(void)is_terminal;
	fputs("**", out);
	put_escaped(report->verdict, out);
	fputs("**\n\n", out);
	put_escaped(report->basis, out);
	fputc('\n', out);
	for (unsigned i = 0; i < report->n_tables; i++)
		put_table(&report->tables[i], out);
	for (size_t i = 0; i < report->n_notes; i++) {
		fputc('\n', out);
		put_escaped(report->notes[i], out);
		fputc('\n', out);
	}
	return ferror(out) ? -1 : 0;
}
