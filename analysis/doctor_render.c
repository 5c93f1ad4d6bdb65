/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/doctor_render.h"

#include "analysis/mem.h"

#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum sy_seen sy_doctor_seen(const struct sy_doctor *doctor)
{
	enum sy_seen least = SY_SEEN_YES;

	for (size_t i = 0; i < doctor->n; i++) {
		enum sy_seen seen = sy_reach_seen(doctor->patients[i].reaches);

		least = seen > least ? seen : least;
	}
	return least;
}

/* ---- text -------------------------------------------------------------------------- */

static const char *words_of(struct sy_arena *arena, uint32_t reaches)
{
	const char *words = "";

	for (int i = 0; i < SY_N_REACHES; i++)
		if (reaches >> i & 1)
			words = sy_mem_printf(arena, "%s%s%s", words, *words ? "; " : "", sy_reach_desc[i].words);
	return *words ? words : "not at all";
}

static void add_line(struct libscols_table *table, const char *path, const char *words, const char *seen)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	scols_line_set_data(line, 0, seen);
	scols_line_set_data(line, 1, words);
	scols_line_set_data(line, 2, path);
}

static bool is_listed(const struct sy_doctor *doctor, const struct sy_patient *patient, bool with_all)
{
	return with_all || doctor->n == 1 || (!patient->problem && sy_reach_seen(patient->reaches) != SY_SEEN_YES);
}

static int print_table(const struct sy_doctor *doctor, struct sy_arena *arena, bool with_all, FILE *out)
{
	struct libscols_table *table = scols_new_table();
	bool has_any = false;

	if (!table || !scols_table_new_column(table, "SEEN", 0, 0) ||
	    !scols_table_new_column(table, "HOW IT COMES TO CUDA", 0, 0) ||
	    !scols_table_new_column(table, "OBJECT", 0, 0)) {
		scols_unref_table(table);
		return -1;
	}
	for (size_t i = 0; i < doctor->n; i++) {
		const struct sy_patient *patient = &doctor->patients[i];

		if (patient->problem || !is_listed(doctor, patient, with_all))
			continue;
		has_any = true;
		add_line(table, patient->path, words_of(arena, patient->reaches),
		         patient->reaches ? sy_seen_word(sy_reach_seen(patient->reaches)) : "-");
	}
	scols_table_set_stream(table, out);
	if (has_any) {
		scols_print_table(table);
		fputc('\n', out);
	}
	scols_unref_table(table);
	return 0;
}

static void print_reasons(const struct sy_doctor *doctor, FILE *out)
{
	uint32_t all = 0;

	for (size_t i = 0; i < doctor->n; i++)
		all |= doctor->patients[i].reaches;
	for (int i = 0; i < SY_N_REACHES; i++)
		if (all >> i & 1 && *sy_reach_desc[i].why)
			fprintf(out, "%s: %s.\n", sy_reach_desc[i].words, sy_reach_desc[i].why);
	for (size_t i = 0; i < doctor->n; i++)
		if (doctor->patients[i].problem)
			fprintf(out, "Not examined: %s.\n", doctor->patients[i].problem);
	if (doctor->no_bindings)
		fprintf(out, "Not told what the calls of process %d are bound to: %s.\n", (int)doctor->pid,
		        doctor->no_bindings);
	if (doctor->pid && !doctor->is_preloaded)
		fprintf(out, "Process %d was started without the preload library: nothing of it is recorded.\n",
		        (int)doctor->pid);
}

static void print_totals(const struct sy_doctor *doctor, FILE *out)
{
	size_t n[3] = { 0 }, n_problems = 0;

	for (size_t i = 0; i < doctor->n; i++) {
		n_problems += doctor->patients[i].problem != NULL;
		if (!doctor->patients[i].problem && doctor->patients[i].reaches)
			n[sy_reach_seen(doctor->patients[i].reaches)]++;
	}
	fprintf(out, "%zu of %zu objects come to CUDA: %zu seen, %zu partly, %zu not", n[0] + n[1] + n[2],
	        doctor->n_examined, n[SY_SEEN_YES], n[SY_SEEN_PARTLY], n[SY_SEEN_NO]);
	fprintf(out, n_problems ? "; %zu could not be examined.\n" : ".\n", n_problems);
}

int sy_doctor_text(const struct sy_doctor *doctor, bool with_all, FILE *out)
{
	struct sy_arena arena = { 0 };
	int result = print_table(doctor, &arena, with_all, out);

	print_reasons(doctor, out);
	print_totals(doctor, out);
	sy_arena_free(&arena);
	return result;
}

/* ---- JSON -------------------------------------------------------------------------- */

static json_t *patient_json(const struct sy_patient *patient)
{
	json_t *reaches = json_array(), *why = json_array();

	for (int i = 0; i < SY_N_REACHES; i++) {
		if (!(patient->reaches >> i & 1))
			continue;
		json_array_append_new(reaches, json_string(sy_reach_desc[i].words));
		if (*sy_reach_desc[i].why)
			json_array_append_new(why, json_string(sy_reach_desc[i].why));
	}
	return json_pack("{s:s, s:o, s:s*, s:o, s:s*}", "path", patient->path, "reaches", reaches, "seen",
	                 patient->problem || !patient->reaches ? NULL : sy_seen_word(sy_reach_seen(patient->reaches)),
	                 "why", why, "problem", patient->problem);
}

int sy_doctor_json(const struct sy_doctor *doctor, FILE *out)
{
	json_t *objects = json_array(), *root;
	int result;

	for (size_t i = 0; i < doctor->n; i++)
		json_array_append_new(objects, patient_json(&doctor->patients[i]));
	root = json_pack("{s:s, s:I, s:o}", "schema", "synctally-doctor/1", "examined", (json_int_t)doctor->n_examined,
	                 "objects", objects);
	if (doctor->pid)
		json_object_set_new(root, "process",
		                    json_pack("{s:i, s:b, s:s*}", "pid", (int)doctor->pid, "preloaded",
		                              doctor->is_preloaded, "bindings_unknown", doctor->no_bindings));
	if (doctor->program)
		json_object_set_new(root, "program", json_string(doctor->program));
	result = json_dumpf(root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', out);
	json_decref(root);
	return result;
}
