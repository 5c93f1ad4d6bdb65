/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include "analysis/mem.h"
#include "analysis/report_internal.h"
#include "trace/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words and numbers ----------------------------------------------------------- */

static const char *const by_names[SY_N_BY] = { "site", "api", "class", "thread", "rank", "step", "order" };

const char *sy_by_name(enum sy_by by)
{
	return by_names[by];
}

int sy_by_find(const char *name)
{
	for (int i = 0; i < SY_N_BY; i++)
		if (strcmp(by_names[i], name) == 0)
			return i;
	return -1;
}

const char *sy_step_source_words(int32_t source)
{
	switch (source) {
	case SY_STEP_CALL:
		return "synctally_step()";
	case SY_STEP_TORCH:
		return "PyTorch's optimizer hook";
	case SY_STEP_NVTX:
		return "NVTX ranges";
	default:
		return "an unknown source";
	}
}

const char *sy_format_ns(char *to, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double value = ns / units[i].ns;

		if (value < 1)
			continue;
		snprintf(to, SY_FORMAT_BYTES, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[i].unit);
		return to;
	}
	snprintf(to, SY_FORMAT_BYTES, "%.0f ns", ns);
	return to;
}

const char *sy_format_count(char *to, double count)
{
	if (count < 1e15 && count == (double)(long long)count)
		snprintf(to, SY_FORMAT_BYTES, "%.0f", count);
	else
		snprintf(to, SY_FORMAT_BYTES, "%.*f", count < 1 ? 2 : 1, count);
	return to;
}

const char *sy_report_place(struct sy_report *report, const struct sy_profile *profile, const struct sy_site *site)
{
	const char *file = site->file;
	size_t n = profile->cwd ? strlen(profile->cwd) : 0;

	if (n > 1 && strncmp(file, profile->cwd, n) == 0 && file[n] == '/')
		file += n + 1;
	if (!site->is_native)
		return sy_mem_printf(&report->arena, "%s:%u", file, site->line);
	if (strcmp(file, "?") == 0)
		return "(not known)";
	return sy_mem_printf(&report->arena, "%s%s", strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
	                     site->function);
}

/* ---- the two sentences ------------------------------------------------------------- */

struct numbers {
	double syncs, drains, empty, done, waited_ns, blocked_ns, step_ns;
};

static struct numbers numbers_of(const struct sy_profile *profile)
{
	const struct sy_stat *stat = profile->stat;
	const uint64_t *total = profile->total[SY_PART_STEPS];

	if (!profile->n_samples)
		return (struct numbers){ (double)total[SY_METRIC_SYNCS],
			                 (double)total[SY_METRIC_DRAINS],
			                 (double)total[SY_METRIC_EMPTY],
			                 (double)total[SY_METRIC_DONE_ALREADY],
			                 (double)total[SY_METRIC_WAITED_NS],
			                 (double)total[SY_METRIC_BLOCKED_NS],
			                 0 };
	return (struct numbers){ stat[SY_METRIC_SYNCS].median,     stat[SY_METRIC_DRAINS].median,
		                 stat[SY_METRIC_EMPTY].median,     stat[SY_METRIC_DONE_ALREADY].median,
		                 stat[SY_METRIC_WAITED_NS].median, stat[SY_METRIC_BLOCKED_NS].median,
		                 stat[SY_METRIC_STEP_NS].median };
}

static const char *first_sentence(struct sy_report *report, const struct sy_profile *profile)
{
	struct numbers n = numbers_of(profile);
	const char *what = profile->n_samples ? "per step" : "in all";
	char syncs[SY_FORMAT_BYTES], drains[SY_FORMAT_BYTES], empty[SY_FORMAT_BYTES], done[SY_FORMAT_BYTES];

	if (n.syncs == 0)
		return profile->n_samples ? "No sync in a typical step." : "No sync.";
	return sy_mem_printf(&report->arena, "%s sync%s %s: %s drain%s the device, %s %s empty, %s %s done already.",
	                     sy_format_count(syncs, n.syncs), n.syncs == 1 ? "" : "s", what,
	                     sy_format_count(drains, n.drains), n.drains == 1 ? "s" : "",
	                     sy_format_count(empty, n.empty), n.empty == 1 ? "is" : "are",
	                     sy_format_count(done, n.done), n.done == 1 ? "was" : "were");
}

/* The line with most waiting, or NULL if none waited. */
static const struct sy_row *worst_row(const struct sy_profile *profile)
{
	const struct sy_row *worst = NULL;
	uint64_t most = 0;

	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];

		if (row->class < SY_N_SYNC_CLASSES && row->tally[SY_PART_STEPS].waited_ns > most) {
			worst = row;
			most = row->tally[SY_PART_STEPS].waited_ns;
		}
	}
	return worst;
}

static const char *second_sentence(struct sy_report *report, const struct sy_profile *profile)
{
	struct numbers n = numbers_of(profile);
	const struct sy_row *worst = worst_row(profile);
	char spent[SY_FORMAT_BYTES], step[SY_FORMAT_BYTES];
	const char *of = "", *waits;

	if (profile->n_samples && n.step_ns > 0)
		of = sy_mem_printf(&report->arena, " of a step of %s (%.0f %%)", sy_format_ns(step, n.step_ns),
		                   100 * (worst ? n.waited_ns : n.blocked_ns) / n.step_ns);
	if (n.syncs == 0 && !worst)
		return "";
	if (!worst)
		return sy_mem_printf(&report->arena, " The host never waits for work; the calls take %s%s.",
		                     sy_format_ns(spent, n.blocked_ns), of);
	if (n.waited_ns == 0) /* the median of the steps; a few of them waited */
		waits = sy_mem_printf(&report->arena,
		                      " In a typical step the host does not wait, in all steps together %s",
		                      sy_format_ns(spent, (double)profile->total[SY_PART_STEPS][SY_METRIC_WAITED_NS]));
	else
		waits = sy_mem_printf(&report->arena, " The host waits %s%s", sy_format_ns(spent, n.waited_ns), of);
	return sy_mem_printf(&report->arena, "%s, most of it at %s%s%s%s.", waits,
	                     sy_report_place(report, profile, &worst->site), worst->site.is_native ? "" : " (",
	                     worst->site.is_native ? "" : worst->site.function, worst->site.is_native ? "" : ")");
}

static const char *verdict_of(struct sy_report *report, const struct sy_profile *profile)
{
	if (profile->n_calls == 0)
		return "No CUDA call that could wait was seen.";
	if (profile->has_steps && profile->n_samples == 0)
		return "No step is left to count: fewer steps than were to be skipped.";
	return sy_mem_printf(&report->arena, "%s%s", first_sentence(report, profile), second_sentence(report, profile));
}

static const char *processes_of(struct sy_report *report, const struct sy_profile *profile)
{
	const struct sy_process *first = &profile->processes[0];

	if (profile->n_processes != 1)
		return sy_mem_printf(&report->arena, "%zu processes", profile->n_processes);
	return sy_mem_printf(&report->arena, "process %u on %s, %u thread%s with CUDA calls", first->pid, first->host,
	                     first->n_threads, first->n_threads == 1 ? "" : "s");
}

static const char *basis_of(struct sy_report *report, const struct sy_profile *profile)
{
	const char *processes = processes_of(report, profile);
	char *skipped = "";

	if (!profile->has_steps)
		return sy_mem_printf(&report->arena, "No steps found: totals of the whole run; %s.", processes);
	if (profile->n_skipped)
		skipped = sy_mem_printf(&report->arena, " after %u skipped", profile->n_skipped);
	return sy_mem_printf(&report->arena, "%u step%s%s, found by %s; %s.", profile->n_steps,
	                     profile->n_steps == 1 ? "" : "s", skipped, sy_step_source_words(profile->step_source),
	                     processes);
}

/* ---- all of it ----------------------------------------------------------------------- */

void sy_report_note(struct sy_report *report, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	report->notes = sy_mem_grow(report->notes, &report->notes_capacity, report->n_notes, sizeof(*report->notes));
	report->notes[report->n_notes++] = sy_mem_copy(&report->arena, text);
}

void sy_report_build(struct sy_report *report, const struct sy_profile *profile, enum sy_by by)
{
	memset(report, 0, sizeof(*report));
	report->verdict = verdict_of(report, profile);
	report->basis = basis_of(report, profile);
	sy_report_tables(report, profile, by);
	sy_report_notes(report, profile);
}

void sy_report_free(struct sy_report *report)
{
	for (unsigned i = 0; i < report->n_tables; i++)
		free(report->tables[i].cells);
	free(report->notes);
	sy_arena_free(&report->arena);
	memset(report, 0, sizeof(*report));
}
