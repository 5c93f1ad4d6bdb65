/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_notes.c - what a report must say besides its numbers: discarded, not seen, uncertain
 */
#include "analysis/report_internal.h"

#include "analysis/mem.h"

static uint64_t acts(const struct sy_profile *profile, enum sy_act_class class)
{
	uint64_t n = 0;

	for (size_t p = 0; p < profile->n_processes; p++)
		n += profile->processes[p].acts[class];
	return n;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void note_outside(struct sy_report *report, const struct sy_profile *profile)
{
	const uint64_t *outside = profile->total[SY_PART_OUTSIDE];
	char blocked[SY_FORMAT_BYTES];

	if (!profile->has_steps || (outside[SY_METRIC_SYNCS] == 0 && outside[SY_METRIC_STAGING] == 0))
		return;
	sy_report_note(report, "Outside the counted steps: %llu sync%s, %llu of them drain%s, %s inside them.",
	               (unsigned long long)outside[SY_METRIC_SYNCS], plural(outside[SY_METRIC_SYNCS]),
	               (unsigned long long)outside[SY_METRIC_DRAINS],
	               outside[SY_METRIC_DRAINS] == 1 ? "s the device" : " the device",
	               sy_format_ns(blocked, (double)outside[SY_METRIC_BLOCKED_NS]));
}

static void note_calls(struct sy_report *report, const struct sy_profile *profile)
{
	uint64_t failed = acts(profile, SY_ACT_FAILED), captured = acts(profile, SY_ACT_CAPTURED);
	uint64_t other = acts(profile, SY_ACT_OTHER), in_flight = acts(profile, SY_ACT_IN_FLIGHT);

	if (failed)
		sy_report_note(report, "%llu call%s returned an error and %s not counted.", (unsigned long long)failed,
		               plural(failed), failed == 1 ? "is" : "are");
	if (captured)
		sy_report_note(report, "%llu call%s went into a graph and %s not counted.",
		               (unsigned long long)captured, plural(captured), captured == 1 ? "is" : "are");
	if (other)
		sy_report_note(report, "%llu call%s of a class this program does not know, not counted.",
		               (unsigned long long)other, plural(other));
	if (in_flight)
		sy_report_note(report, "%llu call%s had not returned when the recording ended, not counted.",
		               (unsigned long long)in_flight, plural(in_flight));
}

static void note_damage(struct sy_report *report, const struct sy_process *process)
{
	const struct sy_damage *damage = &process->damage;
	const struct sy_census *census = &process->census;
	const struct {
		uint64_t n;
		const char *what;
	} losses[] = {
		{ damage->missing_bytes, "bytes missing at the end: the file was cut, or the disk was full" },
		{ damage->missing_events, "events begun beyond the end of their segment" },
		{ damage->unreadable_bytes, "bytes cannot be read" },
		{ damage->lost_segments, "segments of events missing" },
		{ damage->unreadable_defs, "definitions cannot be read" },
		{ process->discarded_defs, "definitions discarded while recording" },
		{ damage->unknown_defs, "definitions of a kind this program does not know" },
		{ census->unknown, "events of a kind this program does not know" },
		{ census->disordered, "events out of order" },
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (losses[i].n)
			sy_report_note(report, "Incomplete: %llu %s (%s).", (unsigned long long)losses[i].n,
			               losses[i].what, process->path);
}

static void note_process(struct sy_report *report, const struct sy_process *process)
{
	note_damage(report, process);
	if (process->is_rough)
		sy_report_note(report, "Times are rough: the recording was too short to measure the clock (%s).",
		               process->path);
	for (uint32_t i = 0; i < process->n_blind; i++)
		sy_report_note(report, "Not seen: CUDA calls made by %s.", process->blind[i]);
	if (process->blind_unchecked)
		sy_report_note(report, "Not checked whether CUDA calls of other libraries go past: %s (%s).",
		               process->blind_unchecked, process->path);
}

/* The lines of the rows that the question is true of, as a list; NULL: none. */
static const char *lines_that(struct sy_report *report, const struct sy_profile *profile,
                              bool (*question)(const struct sy_row *row))
{
	enum { MAX_LINES = 6 };
	const char *lines = NULL;
	unsigned n_lines = 0;

	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];
		const char *place;

		if (!question(row) || n_lines++ >= MAX_LINES)
			continue;
		place = sy_report_place(report, profile, &row->site);
		lines = lines ? sy_mem_printf(&report->arena, "%s, %s", lines, place) : place;
	}
	if (n_lines > MAX_LINES)
		lines = sy_mem_printf(&report->arena, "%s and %u more", lines, n_lines - MAX_LINES);
	return lines;
}

static bool is_made_up(const struct sy_row *row)
{
	return row->tally[SY_PART_STEPS].made_up + row->tally[SY_PART_OUTSIDE].made_up > 0;
}

static bool went_other_ways(const struct sy_row *row)
{
	return row->other_ways > 0;
}

/*
 * On a device that does not compute, the lines at which the program read what
 * only a kernel could have written, and those behind which it did not do the
 * same in each step.
 */
static void note_made_up(struct sy_report *report, const struct sy_profile *profile)
{
	const char *read = lines_that(report, profile, is_made_up);
	const char *steering = lines_that(report, profile, went_other_ways);

	if (read)
		sy_report_note(report,
		               "The simulated device does not compute: what was read at %s is made up. If it decides a "
		               "size or a branch, a GPU would go another way from there.",
		               read);
	if (steering)
		sy_report_note(
			report,
			"Right behind %s other calls came than in the step before: if the value that was read there, "
			"which is made up, decided that, these counts are not a GPU's.",
			steering);
}

static void note_accepted(struct sy_report *report, const struct sy_profile *profile)
{
	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];

		if (row->accepted && row->tally[SY_PART_STEPS].count)
			sy_report_note(report, "Accepted: %s (%s): %s.", sy_report_place(report, profile, &row->site),
			               sy_act_class_name(row->class), row->accepted);
	}
}

void sy_report_notes(struct sy_report *report, const struct sy_profile *profile)
{
	uint64_t discarded = sy_profile_discarded(profile);
	bool is_virtual = false;

	note_accepted(report, profile);
	note_outside(report, profile);
	note_calls(report, profile);
	for (size_t p = 0; p < profile->n_processes; p++) {
		note_process(report, &profile->processes[p]);
		is_virtual |= profile->processes[p].clock_kind == SY_CLOCK_VIRTUAL;
	}
	note_made_up(report, profile);
	if (is_virtual)
		sy_report_note(report, "Times are those of the simulated device's clock.");
	if (discarded)
		sy_report_note(report, "%llu event%s discarded: the numbers above are too small.",
		               (unsigned long long)discarded, plural(discarded));
	else
		sy_report_note(report, "No event was discarded.");
}
