/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks.h"

#include "analysis/mem.h"

#include <stdlib.h>

int sy_stacks_begin(void **self, const struct sy_export *job, struct sy_err *err)
{
	struct sy_stacks *stacks = calloc(1, sizeof(*stacks));

	*self = stacks;
	if (!stacks)
		return sy_err_set(err, "out of memory");
	stacks->out = job->out;
	stacks->weight = job->weight;
	return 0;
}

/* "rank 0;main;outer (a.py:1);inner (a.py:2);readback: drain" */
static void put_stack(struct sy_stacks *stacks, const struct sy_export_act *act)
{
	const struct sy_file_header *header = &act->process->trace->header;
	struct sy_bytes *buffer = &stacks->buffer;
	char who[96], what[96];
	int n = header->rank >= 0 ? snprintf(who, sizeof(who), "rank %d;%s;", header->rank, act->thread_name)
	                          : snprintf(who, sizeof(who), "process %u;%s;", header->pid, act->thread_name);

	sy_export_stack(act, &stacks->frames);
	snprintf(what, sizeof(what), ";%s: %s", sy_act_class_name(act->told->verdict.class),
	         sy_export_outcome(act->told));
	buffer->used = 0;
	sy_bytes_put(buffer, who, (size_t)n);
	sy_bytes_put(buffer, stacks->frames.data, stacks->frames.used - 1);
	sy_bytes_put_text(buffer, what);
}

int sy_stacks_act(void *self, const struct sy_export_act *act, struct sy_err *err)
{
	struct sy_stacks *stacks = self;
	uint32_t known = stacks->keys.n, number;

	if (!act->is_sync || !act->is_counted)
		return 0;
	put_stack(stacks, act);
	if (stacks->buffer.has_failed || stacks->frames.has_failed)
		return sy_err_set(err, "out of memory");
	number = sy_index_add(&stacks->keys, stacks->buffer.data, stacks->buffer.used);
	stacks->text = sy_mem_grow(stacks->text, &stacks->text_capacity, number, sizeof(*stacks->text));
	stacks->sum = sy_mem_grow(stacks->sum, &stacks->sum_capacity, number, sizeof(*stacks->sum));
	if (number == known)
		stacks->text[number] = sy_mem_copy(&stacks->arena, (const char *)stacks->buffer.data);
	stacks->sum[number] += sy_export_weigh(stacks->weight, act->told);
	return 0;
}

void sy_stacks_free(struct sy_stacks *stacks)
{
	if (!stacks)
		return;
	sy_index_free(&stacks->keys);
	sy_arena_free(&stacks->arena);
	sy_bytes_free(&stacks->buffer);
	sy_bytes_free(&stacks->frames);
	free(stacks->text);
	free(stacks->sum);
	free(stacks);
}
