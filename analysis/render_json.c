/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_json.c - a report for programs, schema synctally-report/1
 *
 * Members may be added, never renamed; their order is fixed. A number that is
 * not known is null.
 */
#include "analysis/render.h"

#include "analysis/render_json.h"
#include "trace/event.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* A whole number without a fraction. */
static json_t *number(double value)
{
	if (value < 9e15 && value == (double)(json_int_t)value)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *strings(const char *const *at, uint32_t n)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(array, json_string(at[i]));
	return array;
}

static json_t *steps(const struct sy_profile *profile)
{
	const char *source = profile->has_steps ? sy_step_source_name(profile->step_source) : "none";

	return json_pack("{s:o, s:o, s:s, s:o}", "count", count(profile->n_steps), "skipped", count(profile->n_skipped),
	                 "source", source, "samples", count(profile->n_samples));
}

static json_t *damage(const struct sy_process *process)
{
	const struct sy_damage *lost = &process->damage;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "missing_bytes", count(lost->missing_bytes),
	                 "missing_events", count(lost->missing_events), "unreadable_bytes",
	                 count(lost->unreadable_bytes), "lost_segments", count(lost->lost_segments),
	                 "unreadable_definitions", count(lost->unreadable_defs), "discarded_definitions",
	                 count(process->discarded_defs), "unknown_events", count(process->census.unknown),
	                 "disordered_events", count(process->census.disordered));
}

static json_t *process(const struct sy_process *of)
{
	static const char *const clocks[] = { "unknown", "tsc", "monotonic", "virtual" };
	json_t *rank = of->rank < 0 ? json_null() : json_integer(of->rank);

	return json_pack("{s:o, s:o, s:s, s:o, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "pid", count(of->pid), "rank",
	                 rank, "host", of->host, "threads", count(of->n_threads), "trace", of->path, "clock",
	                 clocks[of->clock_kind], "ended", !of->is_running, "steps",
	                 count(of->steps.end - of->steps.first), "events", count(of->census.events), "in_flight",
	                 count(of->census.in_flight), "discarded_events", count(of->discarded_events), "damage",
	                 damage(of));
}

static json_t *per_step(const struct sy_profile *profile)
{
	json_t *object = json_object();

	for (int m = 0; m < SY_N_METRICS; m++) {
		const struct sy_stat *stat = &profile->stat[m];
		json_t *value;

		if (stat->n == 0)
			value = json_pack("{s:n, s:n, s:n, s:n}", "median", "min", "max", "mean");
		else
			value = json_pack("{s:o, s:o, s:o, s:o}", "median", number(stat->median), "min",
			                  count(stat->min), "max", count(stat->max), "mean", json_real(stat->mean));
		json_object_set_new(object, sy_metric_desc[m].key, value);
	}
	return object;
}

/* All metrics but the length of a step, which has no meaning for the sum. */
static json_t *totals(const uint64_t *total)
{
	json_t *object = json_object();

	for (int m = 0; m < SY_METRIC_STEP_NS; m++)
		json_object_set_new(object, sy_metric_desc[m].key, count(total[m]));
	return object;
}

static void put_tally(json_t *object, const struct sy_tally *tally, uint64_t n_steps)
{
	double n = (double)tally->count;

	json_object_set_new(object, "count", count(tally->count));
	json_object_set_new(object, "per_step", n_steps ? json_real(n / (double)n_steps) : json_null());
	json_object_set_new(object, "drain", count(tally->outcome[SY_OUTCOME_DRAIN]));
	json_object_set_new(object, "done_already", count(tally->outcome[SY_OUTCOME_DONE_ALREADY]));
	json_object_set_new(object, "empty", count(tally->outcome[SY_OUTCOME_EMPTY]));
	json_object_set_new(object, "bytes", count(tally->bytes));
	json_object_set_new(object, "blocked_ns", count(tally->blocked_ns));
	json_object_set_new(object, "waited_ns", count(tally->waited_ns));
	if (tally->made_up)
		json_object_set_new(object, "made_up", count(tally->made_up));
	json_object_set_new(object, "launches_before",
	                    json_real(tally->count ? (double)tally->launches_before / n : 0));
}

static json_t *site(const struct sy_row *row, enum sy_part part, uint64_t n_steps)
{
	json_t *object = json_pack("{s:s, s:o, s:s, s:o, s:s}", "file", row->site.file, "line", count(row->site.line),
	                           "function", row->site.function, "api", strings(row->api, row->n_api), "class",
	                           sy_act_class_name(row->class));

	json_object_set_new(object, "memory", row->memory ? json_string(sy_memory_name(row->memory)) : json_null());
	json_object_set_new(object, "direction",
	                    row->direction < SY_COPY_UNKNOWN ? json_string(sy_direction_name(row->direction))
	                                                     : json_null());
	put_tally(object, &row->tally[part], n_steps);
	if (row->accepted)
		json_object_set_new(object, "accepted", json_string(row->accepted));
	if (row->other_ways)
		json_object_set_new(object, "other_ways", count(row->other_ways));
	json_object_set_new(object, "thread", json_string(row->thread));
	json_object_set_new(object, "stack", strings(row->stack, row->n_stack));
	return object;
}

static json_t *sites(const struct sy_profile *profile, enum sy_part part, bool is_staging)
{
	uint64_t n_steps = part == SY_PART_STEPS ? profile->n_samples : 0;
	json_t *array = json_array();

	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];

		if ((row->class == SY_ACT_STAGING) == is_staging && row->tally[part].count)
			json_array_append_new(array, site(row, part, n_steps));
	}
	return array;
}

static json_t *groups(const struct sy_profile *profile)
{
	static const enum sy_by by_of[SY_N_GROUPINGS] = { SY_REPORT_BY_API, SY_REPORT_BY_CLASS, SY_REPORT_BY_THREAD,
		                                          SY_REPORT_BY_RANK };
	json_t *object = json_object();

	for (int by = 0; by < SY_N_GROUPINGS; by++) {
		json_t *array = json_array();

		for (uint32_t i = 0; i < profile->groups[by].keys.n; i++) {
			const struct sy_group *group = &profile->groups[by].at[i];
			json_t *entry;

			if (group->tally[SY_PART_STEPS].count == 0)
				continue;
			entry = json_pack("{s:s}", "name", group->name);
			put_tally(entry, &group->tally[SY_PART_STEPS], group->n_steps);
			json_array_append_new(array, entry);
		}
		json_object_set_new(object, sy_by_name(by_of[by]), array);
	}
	return object;
}

static json_t *calls(const struct sy_profile *profile)
{
	json_t *object = json_object();

	for (int class = 0; class < SY_N_ACT_CLASSES; class ++) {
		uint64_t n = 0;

		for (size_t p = 0; p < profile->n_processes; p++)
			n += profile->processes[p].acts[class];
		json_object_set_new(object, sy_act_class_name((enum sy_act_class) class), count(n));
	}
	return object;
}

static json_t *coverage(const struct sy_profile *profile)
{
	bool has_runtime = false, has_driver = false;
	json_t *blind = json_array(), *layers = json_array();

	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_process *of = &profile->processes[p];

		has_runtime |= of->has_runtime;
		has_driver |= of->has_driver;
		for (uint32_t i = 0; i < of->n_blind; i++)
			json_array_append_new(blind, json_string(of->blind[i]));
	}
	if (has_runtime)
		json_array_append_new(layers, json_string("runtime"));
	if (has_driver)
		json_array_append_new(layers, json_string("driver"));
	return json_pack("{s:o, s:o}", "blind", blind, "layers", layers);
}

static json_t *document(const struct sy_profile *profile)
{
	json_t *root = json_object(), *processes = json_array(), *outside;

	for (size_t p = 0; p < profile->n_processes; p++)
		json_array_append_new(processes, process(&profile->processes[p]));
	json_object_set_new(root, "schema", json_string("synctally-report/1"));
	json_object_set_new(root, "command", strings(profile->command, profile->n_command));
	json_object_set_new(root, "steps", steps(profile));
	json_object_set_new(root, "discarded_events", count(sy_profile_discarded(profile)));
	json_object_set_new(root, "incomplete", json_boolean(sy_profile_is_incomplete(profile)));
	json_object_set_new(root, "processes", processes);
	json_object_set_new(root, "per_step", per_step(profile));
	json_object_set_new(root, "totals", totals(profile->total[SY_PART_STEPS]));
	json_object_set_new(root, "sites", sites(profile, SY_PART_STEPS, false));
	json_object_set_new(root, "staging", sites(profile, SY_PART_STEPS, true));
	json_object_set_new(root, "who_pays", sy_json_who_pays(profile));
	if (profile->order)
		json_object_set_new(root, "order", sy_json_order(profile));
	outside = json_pack("{s:o, s:o, s:o}", "totals", totals(profile->total[SY_PART_OUTSIDE]), "sites",
	                    sites(profile, SY_PART_OUTSIDE, false), "staging", sites(profile, SY_PART_OUTSIDE, true));
	json_object_set_new(root, "outside_steps", outside);
	json_object_set_new(root, "by", groups(profile));
	json_object_set_new(root, "calls", calls(profile));
	json_object_set_new(root, "coverage", coverage(profile));
	json_object_set_new(root, "overhead_ns_per_step", json_null());
	return root;
}

int sy_render_json(const struct sy_profile *profile, const struct sy_report *report, FILE *out, bool is_terminal)
{
	json_t *root = document(profile);
	int result;

	(void)report;
	(void)is_terminal;
	result = json_dumpf(root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
	json_decref(root);
	if (result == 0 && fputc('\n', out) == EOF)
		result = -1;
	return result == 0 && !ferror(out) ? 0 : -1;
}
