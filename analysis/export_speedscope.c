/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_speedscope.c - the file format of speedscope.app: one sampled profile, a sample per stack
 */
#include "analysis/stacks.h"

#include <jansson.h>
#include <string.h>

/* The frames of one folded stack as numbers into `frames`, new ones added. */
static json_t *sample_of(struct sy_index *known, json_t *frames, const char *text)
{
	json_t *sample = json_array();

	while (*text) {
		size_t n = strcspn(text, ";");
		uint32_t before = known->n, number = sy_index_add(known, text, n);

		if (number == before)
			json_array_append_new(frames, json_pack("{s:s%}", "name", text, n));
		json_array_append_new(sample, json_integer(number));
		text += n + (text[n] == ';');
	}
	return sample;
}

static json_t *document(const struct sy_stacks *stacks)
{
	json_t *frames = json_array(), *samples = json_array(), *weights = json_array();
	struct sy_index known = { .n = 0 };
	json_int_t total = 0;

	for (uint32_t i = 0; i < stacks->keys.n; i++) {
		if (!stacks->sum[i])
			continue;
		json_array_append_new(samples, sample_of(&known, frames, stacks->text[i]));
		json_array_append_new(weights, json_integer((json_int_t)stacks->sum[i]));
		total += (json_int_t)stacks->sum[i];
	}
	sy_index_free(&known);
	return json_pack("{s:s, s:{s:o}, s:[{s:s, s:s, s:s, s:i, s:I, s:o, s:o}], s:s}", "$schema",
	                 "https://www.speedscope.app/file-format-schema.json", "shared", "frames", frames, "profiles",
	                 "type", "sampled", "name", "waits of the host", "unit",
	                 stacks->weight == SY_WEIGHT_COUNT ? "none" : "nanoseconds", "startValue", 0, "endValue", total,
	                 "samples", samples, "weights", weights, "exporter", "synctally");
}

static int end(void *self, bool is_good, struct sy_err *err)
{
	struct sy_stacks *stacks = self;
	int result = 0;

	if (is_good) {
		json_t *root = document(stacks);

		if (!root || json_dumpf(root, stacks->out, JSON_COMPACT) != 0 || fputc('\n', stacks->out) == EOF ||
		    fflush(stacks->out) != 0)
			result = sy_err_set(err, "cannot write the export");
		json_decref(root);
	}
	sy_stacks_free(stacks);
	return result;
}

const struct sy_sink sy_sink_speedscope = {
	.name = "speedscope", .begin = sy_stacks_begin, .act = sy_stacks_act, .end = end
};
