/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_json_payers.c - members of the JSON report: who pays, one step in order
 */
#include "analysis/order.h"
#include "analysis/render_json.h"
#include "analysis/report_internal.h"

static json_t *place(const struct sy_row *row)
{
	return json_pack("{s:s, s:I, s:s, s:s}", "file", row->site.file, "line", (json_int_t)row->site.line, "function",
	                 row->site.function, "class", sy_act_class_name(row->class));
}

static json_t *pair(const struct sy_profile *profile, const struct sy_payer_pair *of)
{
	json_t *object = place(&profile->rows[of->row]), *before = json_array();
	double n = (double)of->n_empty;

	for (int i = 1; i < SY_PAYERS_BEFORE && of->payer[i] != SY_PAYER_NONE; i++)
		json_array_append_new(before, place(&profile->rows[of->payer[i]]));
	json_object_set_new(object, "empty", json_integer((json_int_t)of->n_empty));
	json_object_set_new(object, "per_step",
	                    profile->n_samples ? json_real(n / (double)profile->n_samples) : json_null());
	json_object_set_new(object, "bursts", json_integer((json_int_t)of->n_bursts));
	json_object_set_new(object, "blocked_ns", json_integer((json_int_t)of->empty_blocked_ns));
	json_object_set_new(object, "payer",
	                    of->payer[0] == SY_PAYER_NONE ? json_null() : place(&profile->rows[of->payer[0]]));
	json_object_set_new(object, "share", json_real(sy_payers_share(&profile->payers, of)));
	json_object_set_new(object, "payer_waited_ns", json_integer((json_int_t)of->payer_waited_ns));
	json_object_set_new(object, "payer_done_already", json_integer((json_int_t)of->n_done));
	json_object_set_new(object, "before", before);
	return object;
}

json_t *sy_json_who_pays(const struct sy_profile *profile)
{
	struct sy_arena arena = { 0 };
	const struct sy_payer_pair **sorted = sy_report_sort_payers(&arena, profile);
	json_t *array = json_array();

	for (uint32_t i = 0; i < profile->payers.keys.n; i++)
		json_array_append_new(array, pair(profile, sorted[i]));
	sy_arena_free(&arena);
	return array;
}

json_t *sy_json_order(const struct sy_profile *profile)
{
	const struct sy_order *order = profile->order;
	json_t *entries = json_array();

	for (size_t i = 0; i < order->n; i++) {
		const struct sy_order_entry *of = &order->entries[i];

		json_array_append_new(
			entries, json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s}", "file",
		                           of->site.file, "line", (json_int_t)of->site.line, "function",
		                           of->site.function, "class", sy_act_class_name(of->class), "copy", of->copy,
		                           "outcome", sy_outcome_name(of->outcome), "times", (json_int_t)of->times,
		                           "launches_before", (json_int_t)of->launches_before, "bytes",
		                           (json_int_t)of->bytes, "waited_ns", (json_int_t)of->waited_ns, "blocked_ns",
		                           (json_int_t)of->blocked_ns, "thread", of->thread));
	}
	return json_pack("{s:I, s:I, s:o}", "pid", (json_int_t)order->pid, "step", (json_int_t)order->step, "syncs",
	                 entries);
}
