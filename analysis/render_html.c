/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_html.c - a report as one file for a browser: charts, tables, source lines
 *
 * page.html is the page; a line "@@NAME@@" in it is replaced by what the part
 * of that name writes. Nothing is fetched: charts are drawn by Chart.js, which
 * is in the file. Whatever came from a trace is escaped where it is written.
 */
#include "analysis/embedded.h"
#include "analysis/render.h"
#include "analysis/render_html.h"

#include <string.h>

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

/* ---- parts ------------------------------------------------------------------------- */

static void put_verdict(const struct sy_profile *profile, const struct sy_report *report, FILE *out)
{
	(void)profile;
	put_escaped(out, report->verdict);
}

static void put_basis(const struct sy_profile *profile, const struct sy_report *report, FILE *out)
{
	(void)profile;
	put_escaped(out, report->basis);
}

/* What a click on a heading sorts by stands beside the words. */
static void put_cell(FILE *out, const struct sy_cell *cell, bool is_number)
{
	char words[SY_FORMAT_BYTES];

	fputs(is_number ? "<td class=n" : "<td", out);
	switch (cell->kind) {
	case SY_CELL_TEXT:
		fputc('>', out);
		put_escaped(out, cell->text);
		break;
	case SY_CELL_COUNT:
		fprintf(out, " data-v=%.15g>%s", cell->number, sy_format_count(words, cell->number));
		break;
	case SY_CELL_NS:
		fprintf(out, " data-v=%.15g>%s", cell->number,
		        cell->number > 0 ? sy_format_ns(words, cell->number) : "0");
		break;
	default:
		fputs(">-", out);
	}
	fputs("</td>", out);
}

static void put_table(FILE *out, const struct sy_table *table)
{
	if (table->title) {
		fputs("<h2>", out);
		put_escaped(out, table->title);
		fputs("</h2>\n", out);
	}
	fputs("<div class=scroll><table><thead><tr>", out);
	for (unsigned c = 0; c < table->n_columns; c++) {
		fputs(table->columns[c].is_number ? "<th class=n>" : "<th>", out);
		put_escaped(out, table->columns[c].heading);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t r = 0; r < table->n_rows; r++) {
		fputs("<tr>", out);
		for (unsigned c = 0; c < table->n_columns; c++)
			put_cell(out, &table->cells[r * table->n_columns + c], table->columns[c].is_number);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_tables(const struct sy_profile *profile, const struct sy_report *report, FILE *out)
{
	(void)profile;
	for (unsigned i = 0; i < report->n_tables; i++)
		put_table(out, &report->tables[i]);
}

static void put_notes(const struct sy_profile *profile, const struct sy_report *report, FILE *out)
{
	(void)profile;
	for (size_t i = 0; i < report->n_notes; i++) {
		fputs("<li>", out);
		put_escaped(out, report->notes[i]);
		fputs("</li>\n", out);
	}
}

static void put_chart(const struct sy_profile *profile, const struct sy_report *report, FILE *out)
{
	(void)profile;
	(void)report;
	fputs(sy_embedded_chart, out);
}

/* ---- the page -------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*put)(const struct sy_profile *profile, const struct sy_report *report, FILE *out);
} parts[] = {
	{ "VERDICT", put_verdict }, { "BASIS", put_basis }, { "TABLES", put_tables },
	{ "NOTES", put_notes },     { "CHART", put_chart }, { "DATA", sy_html_data },
};

int sy_render_html(const struct sy_profile *profile, const struct sy_report *report, FILE *out, bool is_terminal)
{
	const char *at = sy_embedded_page;

	(void)is_terminal;
	for (const char *mark; (mark = strstr(at, "@@"));) {
		size_t n = strcspn(mark + 2, "@");

		fwrite(at, 1, (size_t)(mark - at), out);
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			if (strlen(parts[i].name) == n && memcmp(parts[i].name, mark + 2, n) == 0)
				parts[i].put(profile, report, out);
		at = mark + n + 4;
	}
	fputs(at, out);
	return ferror(out) ? -1 : 0;
}
