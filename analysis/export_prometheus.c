/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_prometheus.c - the text format, for the node exporter's textfile collector
 *
 * Totals of the counted steps by process, and of the lines with most waiting.
 * The number of series is bounded.
 */
#include "analysis/export.h"

#include "trace/event.h"

#include <inttypes.h>
#include <string.h>

/* A series per line is dear to a monitoring system. */
#define MAX_LINES 50

static void put_label(FILE *out, const char *name, const char *text)
{
	fprintf(out, "%s=\"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_process(FILE *out, const struct sy_process *process)
{
	put_label(out, "host", process->host);
	fprintf(out, ",pid=\"%" PRIu32 "\"", process->pid);
	if (process->rank >= 0)
		fprintf(out, ",rank=\"%" PRId32 "\"", process->rank);
}

static uint64_t sum_of(const struct sy_process *process, enum sy_metric metric)
{
	uint64_t sum = process->steps.n ? 0 : process->outside[metric];

	for (uint32_t i = process->steps.first; i < process->steps.end; i++)
		sum += process->step[i].is_known[metric] ? process->step[i].value[metric] : 0;
	return sum;
}

static void put_metric(FILE *out, const struct sy_profile *profile, enum sy_metric metric)
{
	const struct sy_metric_desc *desc = &sy_metric_desc[metric];
	bool is_ns = desc->unit == SY_UNIT_NS;
	/* Prometheus wants base units, and the suffix that tells them. */
	int stem = is_ns ? (int)(strlen(desc->key) - 3) : (int)strlen(desc->key);

	fprintf(out, "# TYPE synctally_%.*s%s_total counter\n", stem, desc->key, is_ns ? "_seconds" : "");
	for (size_t i = 0; i < profile->n_processes; i++) {
		const struct sy_process *process = &profile->processes[i];
		uint64_t sum = sum_of(process, metric);

		fprintf(out, "synctally_%.*s%s_total{", stem, desc->key, is_ns ? "_seconds" : "");
		put_process(out, process);
		if (is_ns)
			fprintf(out, "} %.9f\n", (double)sum / 1e9);
		else
			fprintf(out, "} %" PRIu64 "\n", sum);
	}
}

static void put_lines(FILE *out, const struct sy_profile *profile)
{
	enum sy_part part = profile->has_steps ? SY_PART_STEPS : SY_PART_OUTSIDE;
	uint32_t n = profile->n_rows < MAX_LINES ? profile->n_rows : MAX_LINES;

	fputs("# TYPE synctally_line_waited_seconds_total counter\n", out);
	for (uint32_t i = 0; i < n; i++) {
		const struct sy_row *row = profile->sorted[i];

		fputs("synctally_line_waited_seconds_total{", out);
		put_label(out, "file", row->site.file);
		fprintf(out, ",line=\"%" PRIu32 "\",", row->site.line);
		put_label(out, "function", row->site.function);
		fputc(',', out);
		put_label(out, "class", sy_act_class_name(row->class));
		fprintf(out, ",direction=\"%s\",memory=\"%s\"} %.9f\n", sy_direction_name(row->direction),
		        sy_memory_name(row->memory), (double)row->tally[part].waited_ns / 1e9);
	}
}

static int totals(const struct sy_export *job, const struct sy_profile *profile, struct sy_err *err)
{
	FILE *out = job->out;

	fputs("# TYPE synctally_steps_total counter\n", out);
	for (size_t i = 0; i < profile->n_processes; i++) {
		const struct sy_process *process = &profile->processes[i];

		fputs("synctally_steps_total{", out);
		put_process(out, process);
		fprintf(out, "} %" PRIu32 "\n", process->steps.end - process->steps.first);
	}
	fputs("# TYPE synctally_discarded_events_total counter\n", out);
	for (size_t i = 0; i < profile->n_processes; i++) {
		fputs("synctally_discarded_events_total{", out);
		put_process(out, &profile->processes[i]);
		fprintf(out, "} %" PRIu64 "\n", profile->processes[i].discarded_events);
	}
	for (int metric = 0; metric < SY_N_METRICS; metric++)
		put_metric(out, profile, (enum sy_metric)metric);
	put_lines(out, profile);
	return fflush(out) == 0 && !ferror(out) ? 0 : sy_err_set(err, "cannot write the export");
}

const struct sy_sink sy_sink_prometheus = { .name = "prometheus", .totals = totals };
