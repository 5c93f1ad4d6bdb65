/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_html_data.c - what the charts of the HTML report are drawn from
 *
 * Times are nanoseconds, of a step where there are steps. At most MAX_LINES
 * lines have a name of their own; the rest is one.
 */
#include "analysis/order.h"
#include "analysis/render_html.h"
#include "analysis/report_internal.h"
#include "analysis/series.h"
#include "analysis/source_lines.h"

#include <jansson.h>

#define MAX_LINES 24u
#define MAX_SERIES 8u
#define SOURCE_AROUND 2u

static json_t *count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* "train.py:88 readback", as a label. */
static json_t *label(const struct sy_profile *profile, const struct sy_site *site, enum sy_act_class class)
{
	struct sy_report scratch = { .n_tables = 0 };
	json_t *text = json_sprintf("%s %s", sy_report_place(&scratch, profile, site), sy_act_class_name(class));

	sy_report_free(&scratch);
	return text;
}

/* Waits only, most blocked time first; how many there are is the result. */
static uint32_t shown_rows(const struct sy_profile *profile, const struct sy_row **rows, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n_rows && n < max; i++) {
		const struct sy_row *row = profile->sorted[i];

		if (row->class != SY_ACT_STAGING && row->tally[SY_PART_STEPS].count)
			rows[n++] = row;
	}
	return n;
}

static json_t *source_of(struct sy_sources *sources, const struct sy_site *site)
{
	json_t *lines = json_array();
	uint32_t first = site->line > SOURCE_AROUND ? site->line - SOURCE_AROUND : 1;

	for (uint32_t line = first; site->line && !site->is_native && line <= site->line + SOURCE_AROUND; line++) {
		const char *text = sy_source_line(sources, site->file, line);

		if (text)
			json_array_append_new(lines, json_pack("[I, s]", (json_int_t)line, text));
	}
	return lines;
}

static json_t *lines_of(const struct sy_profile *profile)
{
	double per = profile->n_samples ? (double)profile->n_samples : 1;
	struct sy_sources sources = { .capacity = 0 };
	const struct sy_row *rows[MAX_LINES];
	uint32_t n = shown_rows(profile, rows, MAX_LINES);
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++) {
		const struct sy_tally *tally = &rows[i]->tally[SY_PART_STEPS];

		json_array_append_new(array, json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:I, s:o}", "name",
		                                       label(profile, &rows[i]->site, rows[i]->class), "waited",
		                                       (double)tally->waited_ns / per, "calls",
		                                       (double)(tally->blocked_ns - tally->waited_ns) / per, "drain",
		                                       (double)tally->outcome[SY_OUTCOME_DRAIN] / per, "empty",
		                                       (double)tally->outcome[SY_OUTCOME_EMPTY] / per, "done",
		                                       (double)tally->outcome[SY_OUTCOME_DONE_ALREADY] / per, "line",
		                                       (json_int_t)rows[i]->site.line, "source",
		                                       source_of(&sources, &rows[i]->site)));
	}
	sy_sources_free(&sources);
	return array;
}

static json_t *values_of(const uint64_t *bins, uint32_t first, uint32_t end)
{
	json_t *array = json_array();

	for (uint32_t b = first; b < end; b++)
		json_array_append_new(array, count(bins[b]));
	return array;
}

/* Everything that has no series of its own. */
static json_t *others(const struct sy_profile *profile, const struct sy_row **own, uint32_t n_own, uint32_t first,
                      uint32_t end)
{
	const struct sy_series *series = profile->series;
	uint64_t sum[SY_SERIES_BINS] = { 0 };
	uint32_t n_rows = profile->row_keys.n < SY_SERIES_ROWS ? profile->row_keys.n : SY_SERIES_ROWS + 1;

	for (uint32_t r = 0; r < n_rows; r++) {
		const uint64_t *bins = sy_series_row(series, r);
		bool is_own = false;

		for (uint32_t i = 0; i < n_own; i++)
			is_own |= own[i] == &profile->rows[r];
		for (uint32_t b = first; b < end && !is_own; b++)
			sum[b] += bins[b];
	}
	return values_of(sum, first, end);
}

static json_t *series_of(const struct sy_profile *profile)
{
	const struct sy_series *series = profile->series;
	const struct sy_row *rows[MAX_SERIES];
	uint32_t n = shown_rows(profile, rows, MAX_SERIES), first;
	json_t *array = json_array();

	if (!series || series->n_bins == 0) {
		json_decref(array);
		return json_null();
	}
	first = profile->processes[0].steps.first / series->width;
	if (first >= series->n_bins)
		first = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = (uint32_t)(rows[i] - profile->rows);

		if (number < SY_SERIES_ROWS)
			json_array_append_new(
				array,
				json_pack("{s:o, s:o}", "name", label(profile, &rows[i]->site, rows[i]->class),
			                  "values", values_of(sy_series_row(series, number), first, series->n_bins)));
	}
	json_array_append_new(array, json_pack("{s:s, s:o}", "name", "others", "values",
	                                       others(profile, rows, n, first, series->n_bins)));
	return json_pack("{s:I, s:I, s:o}", "first", (json_int_t)first * series->width, "width",
	                 (json_int_t)series->width, "lines", array);
}

static json_t *histogram_of(const struct sy_profile *profile)
{
	json_t *object = json_object();

	if (!profile->series) {
		json_decref(object);
		return json_null();
	}
	for (int o = 0; o < SY_N_OUTCOMES; o++)
		json_object_set_new(object, sy_outcome_name((enum sy_outcome)o),
		                    values_of(profile->series->n_by_blocked[o], 0, SY_SERIES_BUCKETS));
	return object;
}

static json_t *order_of(const struct sy_profile *profile)
{
	const struct sy_order *order = profile->order;
	json_t *array = json_array();

	if (!order) {
		json_decref(array);
		return json_null();
	}
	for (size_t i = 0; i < order->n; i++) {
		const struct sy_order_entry *entry = &order->entries[i];

		json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "name",
		                                       label(profile, &entry->site, entry->class), "thread",
		                                       entry->thread, "outcome", sy_outcome_name(entry->outcome),
		                                       "times", (json_int_t)entry->times, "launches",
		                                       (json_int_t)entry->launches_before, "waited",
		                                       count(entry->waited_ns), "blocked", count(entry->blocked_ns),
		                                       "at", count(entry->at_ns), "end", count(entry->end_ns)));
	}
	return json_pack("{s:I, s:o}", "step", (json_int_t)order->step, "syncs", array);
}

/* An element <script> ends at "</", whatever stands around it. */
static int put_harmless(const char *buffer, size_t size, void *out)
{
	for (size_t i = 0; i < size; i++)
		if ((buffer[i] == '<' ? fputs("\\u003c", out) : fputc(buffer[i], out)) == EOF)
			return -1;
	return 0;
}

void sy_html_data(const struct sy_profile *profile, const struct sy_report *report, FILE *out)
{
	json_t *root = json_pack("{s:b, s:o, s:o, s:o, s:o}", "has_steps", (int)(profile->n_samples > 0), "lines",
	                         lines_of(profile), "series", series_of(profile), "histogram", histogram_of(profile),
	                         "order", order_of(profile));

	(void)report;
	(void)json_dump_callback(root, put_harmless, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(root);
}
