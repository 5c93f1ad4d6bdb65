/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_text.c - a report for people: two sentences, tables, notes
 *
 * Full width into files and pipes; on a terminal cut to its width, the
 * headings bold and the time waited in colour.
 */
#include "analysis/render.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <string.h>

static const char *cell_words(char *to, const struct sy_cell *cell)
{
	switch (cell->kind) {
	case SY_CELL_TEXT:
		return cell->text;
	case SY_CELL_COUNT:
		return sy_format_count(to, cell->number);
	case SY_CELL_NS:
		return cell->number > 0 ? sy_format_ns(to, cell->number) : "0";
	default:
		return "-";
	}
}

static int add_columns(struct libscols_table *out, const struct sy_table *table)
{
	for (unsigned c = 0; c < table->n_columns; c++) {
		const struct sy_column *column = &table->columns[c];
		int flags = (column->is_number ? SCOLS_FL_RIGHT : 0) | (column->may_shrink ? SCOLS_FL_TRUNC : 0);

		if (!scols_table_new_column(out, column->heading, 0, flags))
			return -ENOMEM;
	}
	return 0;
}

static int add_rows(struct libscols_table *out, const struct sy_table *table, bool is_terminal)
{
	for (size_t r = 0; r < table->n_rows; r++) {
		struct libscols_line *line = scols_table_new_line(out, NULL);

		if (!line)
			return -ENOMEM;
		for (unsigned c = 0; c < table->n_columns; c++) {
			const struct sy_cell *cell = &table->cells[r * table->n_columns + c];
			char words[SY_FORMAT_BYTES];
			bool is_waiting = strcmp(table->columns[c].heading, "WAITED") == 0 && cell->number > 0;

			if (scols_line_set_data(line, c, cell_words(words, cell)) != 0)
				return -ENOMEM;
			if (is_terminal && is_waiting)
				scols_cell_set_color(scols_line_get_cell(line, c), "red");
		}
	}
	return 0;
}

static int print_table(const struct sy_table *table, FILE *out, bool is_terminal)
{
	struct libscols_table *shown = scols_new_table();
	int result = shown ? 0 : -ENOMEM;

	if (result == 0)
		result = add_columns(shown, table);
	if (result == 0)
		result = add_rows(shown, table, is_terminal);
	if (result == 0) {
		scols_table_set_stream(shown, out);
		scols_table_enable_colors(shown, is_terminal);
		scols_table_set_termforce(shown, is_terminal ? SCOLS_TERMFORCE_AUTO : SCOLS_TERMFORCE_NEVER);
		if (!is_terminal)
			scols_table_enable_nowrap(shown, 1);
		if (table->title)
			fprintf(out, "%s\n", table->title);
		result = scols_print_table(shown);
	}
	scols_unref_table(shown);
	if (result < 0) {
		errno = -result;
		return -1;
	}
	return 0;
}

int sy_render_text(const struct sy_profile *profile, const struct sy_report *report, FILE *out, bool is_terminal)
{
	(void)profile;
	fprintf(out, "%s%s%s\n%s\n", is_terminal ? "\033[1m" : "", report->verdict, is_terminal ? "\033[0m" : "",
	        report->basis);
	for (unsigned i = 0; i < report->n_tables; i++) {
		fputc('\n', out);
		if (print_table(&report->tables[i], out, is_terminal) != 0)
			return -1;
	}
	if (report->n_notes)
		fputc('\n', out);
	for (size_t i = 0; i < report->n_notes; i++)
		fprintf(out, "%s\n", report->notes[i]);
	return ferror(out) ? -1 : 0;
}
