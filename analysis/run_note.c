/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_note.h"

#include "analysis/mem.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "synctally-run/1"

int sy_run_note_write(const char *directory, char *const command[], struct sy_step_range range, struct sy_err *err)
{
	struct sy_arena arena = { NULL };
	const char *path = sy_mem_printf(&arena, "%s/" SY_RUN_NOTE_NAME, directory);
	json_t *words = json_array(), *root;
	FILE *file = fopen(path, "we");
	int result = file ? 0 : -1;

	for (; *command; command++) {
		json_t *word = json_string(*command);

		/* Arguments may be any bytes; JSON is text. */
		json_array_append_new(words, word ? word : json_string("?"));
	}
	root = json_pack("{s:s, s:o, s:I, s:I}", "schema", SCHEMA, "command", words, "skip", (json_int_t)range.skip,
	                 "steps", (json_int_t)range.limit);
	if (file && (json_dumpf(root, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0 || fputc('\n', file) == EOF))
		result = -1;
	if (file && fclose(file) != 0)
		result = -1;
	if (result != 0)
		sy_err_set(err, "cannot write: path=%s: %s", path, strerror(errno));
	json_decref(root);
	sy_arena_free(&arena);
	return result;
}

static uint32_t number(const json_t *root, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(root, key));

	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

struct sy_step_range sy_run_note_read(const char *trace_path)
{
	const char *slash = strrchr(trace_path, '/');
	int length = slash ? (int)(slash - trace_path) + 1 : 0;
	struct sy_step_range range = { 0, 0 };
	struct sy_arena arena = { NULL };
	json_t *root = json_load_file(sy_mem_printf(&arena, "%.*s" SY_RUN_NOTE_NAME, length, trace_path), 0, NULL);
	const char *schema = json_string_value(json_object_get(root, "schema"));

	if (schema && strcmp(schema, SCHEMA) == 0)
		range = (struct sy_step_range){ number(root, "skip"), number(root, "steps") };
	json_decref(root);
	sy_arena_free(&arena);
	return range;
}
