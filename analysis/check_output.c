/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_output.h"

#include "analysis/mem.h"

#include <string.h>

/* ---- text ----------------------------------------------------------------------------------- */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* A path that would begin a line as a command of a CI runner gets "./", which changes nothing for a path. */
static void put_where(const struct sy_check_words *words, FILE *out)
{
	if (words->file[strspn(words->file, " ")] == ':' || words->file[strspn(words->file, " ")] == '#')
		fputs("./", out);
	fputs(words->file, out);
	if (words->line)
		fprintf(out, ":%u", words->line);
}

static void put_accepted(const struct sy_check *check, FILE *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < check->n_places; i++)
		n += check->places[i].accepted != NULL;
	if (n)
		fprintf(out, ", %zu line%s accepted", n, plural(n));
}

void sy_check_text(const struct sy_check_output *output, FILE *out)
{
	const struct sy_check *check = output->check;

	for (size_t i = 0; i < check->n_findings; i++) {
		struct sy_check_words words;

		if (!check->findings[i].is_broken)
			continue;
		words = sy_check_words_of(output, &check->findings[i]);
		put_where(&words, out);
		fprintf(out, ": over budget: %s\n", words.message);
	}
	for (size_t i = 0; i < check->n_stale; i++) {
		struct sy_check_words words = sy_check_words_stale(output, check->stale[i]);

		put_where(&words, out);
		fprintf(out, ": %s: %s\n", output->is_strict ? "over budget" : "warning", words.message);
	}
	if (output->inconclusive)
		fprintf(out, "inconclusive: %s\n", output->inconclusive);
	fprintf(out, "%zu limit%s: %zu kept, %zu broken", check->n_findings, plural(check->n_findings),
	        check->n_findings - check->n_broken, check->n_broken);
	put_accepted(check, out);
	fputc('\n', out);
}

/* ---- GitHub --------------------------------------------------------------------------------- */

/* As actions/toolkit escapes; a property also may not hold what ends it. */
static void put_github(const char *text, bool is_property, FILE *out)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ',')))
			fprintf(out, "%%%02X", c);
		else
			fputc(c, out);
	}
}

static void put_annotation(const struct sy_check_words *words, const char *level, const char *title, FILE *out)
{
	fprintf(out, "::%s file=", level);
	put_github(words->file, true, out);
	if (words->line)
		fprintf(out, ",line=%u", words->line);
	fprintf(out, ",title=synctally%%3A %s::", title);
	put_github(words->message, false, out);
	fputc('\n', out);
}

void sy_check_github(const struct sy_check_output *output, FILE *out)
{
	const struct sy_check *check = output->check;

	for (size_t i = 0; i < check->n_findings; i++) {
		struct sy_check_words words;

		if (!check->findings[i].is_broken)
			continue;
		words = sy_check_words_of(output, &check->findings[i]);
		put_annotation(&words, "error", "over budget", out);
	}
	for (size_t i = 0; i < check->n_stale; i++) {
		struct sy_check_words words = sy_check_words_stale(output, check->stale[i]);

		put_annotation(&words, output->is_strict ? "error" : "warning", "budget out of date", out);
	}
	if (output->inconclusive) {
		fputs("::warning title=synctally%3A inconclusive::", out);
		put_github(output->inconclusive, false, out);
		fputc('\n', out);
	}
}

/* ---- JUnit ---------------------------------------------------------------------------------- */

/* The text is UTF-8 without control characters; U+FFFE and U+FFFF are no characters of XML either. */
static void put_xml(const char *text, FILE *out)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&apos;", out);
			break;
		default:
			if (strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0) {
				fputc('?', out);
				text += 2;
			} else {
				fputc(*text, out);
			}
		}
	}
}

static void begin_case(const struct sy_check_words *words, FILE *out)
{
	fprintf(out, "  <testcase classname=\"synctally.%s\" name=\"", words->group);
	put_xml(words->name, out);
	fputs("\" file=\"", out);
	put_xml(words->file, out);
	fputc('"', out);
	if (words->line)
		fprintf(out, " line=\"%u\"", words->line);
	fputc('>', out);
}

static void put_failure(const struct sy_check_words *words, const char *element, const char *type, FILE *out)
{
	fprintf(out, "<%s%s%s%s message=\"", element, *type ? " type=\"" : "", type, *type ? "\"" : "");
	put_xml(words->message, out);
	fputs("\">", out);
	put_xml(words->file, out);
	if (words->line)
		fprintf(out, ":%u", words->line);
	fputs(": ", out);
	put_xml(words->message, out);
	fprintf(out, "</%s>", element);
}

static void put_recording(const struct sy_check_output *output, FILE *out)
{
	fputs("  <testcase classname=\"synctally\" name=\"the recording is complete\">", out);
	if (output->inconclusive) {
		fputs("<error message=\"", out);
		put_xml(output->inconclusive, out);
		fputs("\"/>", out);
	}
	fputs("</testcase>\n", out);
}

void sy_check_junit(const struct sy_check_output *output, FILE *out)
{
	const struct sy_check *check = output->check;
	size_t n_failed = check->n_broken + (output->is_strict ? check->n_stale : 0);
	size_t n_skipped = output->is_strict ? 0 : check->n_stale;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	fprintf(out,
	        " <testsuite name=\"synctally check\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\">\n",
	        check->n_findings + check->n_stale + 1, n_failed, output->inconclusive != NULL, n_skipped);
	for (size_t i = 0; i < check->n_findings; i++) {
		struct sy_check_words words = sy_check_words_of(output, &check->findings[i]);

		begin_case(&words, out);
		if (check->findings[i].is_broken)
			put_failure(&words, "failure", "over budget", out);
		fputs("</testcase>\n", out);
	}
	for (size_t i = 0; i < check->n_stale; i++) {
		struct sy_check_words words = sy_check_words_stale(output, check->stale[i]);

		begin_case(&words, out);
		put_failure(&words, output->is_strict ? "failure" : "skipped",
		            output->is_strict ? "budget out of date" : "", out);
		fputs("</testcase>\n", out);
	}
	put_recording(output, out);
	fputs(" </testsuite>\n</testsuites>\n", out);
}
