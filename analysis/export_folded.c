/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_folded.c - "frame;frame;frame weight" per stack, for flame graphs
 */
#include "analysis/stacks.h"

#include <inttypes.h>

static int end(void *self, bool is_good, struct sy_err *err)
{
	struct sy_stacks *stacks = self;
	int result = 0;

	for (uint32_t i = 0; is_good && i < stacks->keys.n; i++)
		if (stacks->sum[i])
			fprintf(stacks->out, "%s %" PRIu64 "\n", stacks->text[i], stacks->sum[i]);
	if (is_good && (fflush(stacks->out) != 0 || ferror(stacks->out)))
		result = sy_err_set(err, "cannot write the export");
	sy_stacks_free(stacks);
	return result;
}

const struct sy_sink sy_sink_folded = { .name = "folded", .begin = sy_stacks_begin, .act = sy_stacks_act, .end = end };
