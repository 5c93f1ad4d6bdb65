/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_json.c - a difference for programs, schema synctally-diff/1
 *
 * Members may be added, never renamed; their order is fixed.
 */
#include "analysis/diff.h"
#include "analysis/load.h"
#include "trace/event.h"

#include <jansson.h>

static json_t *number(double value)
{
	if (value < 9e15 && value > -9e15 && value == (double)(json_int_t)value)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *run(const struct sy_profile *profile)
{
	json_t *command = json_array();

	for (uint32_t i = 0; i < profile->n_command; i++)
		json_array_append_new(command, json_string(profile->command[i]));
	return json_pack("{s:o, s:I, s:I, s:I, s:b}", "command", command, "steps", (json_int_t)profile->n_steps,
	                 "skipped", (json_int_t)profile->n_skipped, "discarded_events",
	                 (json_int_t)sy_profile_discarded(profile), "inconclusive", sy_load_is_inconclusive(profile));
}

static json_t *totals(const struct sy_diff *diff)
{
	json_t *object = json_object();

	for (int m = 0; m < SY_N_METRICS; m++)
		if (diff->is_known[m])
			json_object_set_new(
				object, sy_metric_desc[m].key,
				json_pack("{s:o, s:o}", "a", number(diff->total_a[m]), "b", number(diff->total_b[m])));
	return object;
}

static json_t *side(const struct sy_row *row, const struct sy_diff_numbers *of)
{
	if (!row)
		return json_null();
	return json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file", row->site.file, "line",
	                 (json_int_t)row->site.line, "function", row->site.function, "memory",
	                 row->memory ? json_string(sy_memory_name(row->memory)) : json_null(), "count",
	                 number(of->count), "drain", number(of->drain), "empty", number(of->empty), "done_already",
	                 number(of->done), "waited_ns", number(of->waited_ns), "blocked_ns", number(of->blocked_ns));
}

static json_t *site(const struct sy_diff_site *of)
{
	const struct sy_row *row = of->b ? of->b : of->a;
	json_t *direction =
		row->direction < SY_COPY_UNKNOWN ? json_string(sy_direction_name(row->direction)) : json_null();

	return json_pack("{s:s, s:b, s:b, s:s, s:o, s:o, s:o}", "change", sy_change_name(of->change), "moved_away",
	                 of->is_moved_away, "moved_here", of->is_moved_here, "class", sy_act_class_name(row->class),
	                 "direction", direction, "a", side(of->a, &of->of_a), "b", side(of->b, &of->of_b));
}

/* A move names its sites by their place in the list. */
static json_t *move(const struct sy_diff_move *of)
{
	return json_pack("{s:I, s:I, s:o}", "from_site", (json_int_t)of->from, "to_site", (json_int_t)of->to,
	                 "waited_ns", number(of->waited_ns));
}

int sy_diff_json(const struct sy_diff *diff, FILE *out)
{
	json_t *sites = json_array(), *moves = json_array(), *root;
	int result;

	for (uint32_t i = 0; i < diff->n_sites; i++)
		json_array_append_new(sites, site(&diff->sites[i]));
	for (uint32_t i = 0; i < diff->n_moves; i++)
		json_array_append_new(moves, move(&diff->moves[i]));
	root = json_pack("{s:s, s:s, s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:o}", "schema", "synctally-diff/1", "verdict",
	                 sy_diff_verdict_name(diff->verdict), "sentence", diff->sentence, "per",
	                 diff->is_per_step ? "step" : "run", "tolerance", diff->tolerance, "a", run(diff->a), "b",
	                 run(diff->b), "totals", totals(diff), "sites", sites, "moves", moves);
	result = root ? json_dumpf(root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15)) : -1;
	json_decref(root);
	if (result == 0 && fputc('\n', out) == EOF)
		result = -1;
	return result == 0 && !ferror(out) ? 0 : -1;
}
