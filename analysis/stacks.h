/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - weights by stack, for the two folded formats
 *
 * Syncs of the counted steps only (of the whole run without steps). Held are
 * the different stacks, not the acts.
 */
#ifndef SY_ANALYSIS_STACKS_H
#define SY_ANALYSIS_STACKS_H

#include "analysis/export.h"

struct sy_stacks {
	FILE *out;
	enum sy_export_weight weight;
	struct sy_index keys; /* the folded text, with its final zero */
	const char **text;    /* by number of the key */
	uint64_t *sum;
	size_t text_capacity, sum_capacity;
	struct sy_arena arena;
	struct sy_bytes buffer, frames;
};

int sy_stacks_begin(void **self, const struct sy_export *job, struct sy_err *err);
/* An act function of a sink whose `self` is a struct sy_stacks. */
int sy_stacks_act(void *self, const struct sy_export_act *act, struct sy_err *err);
void sy_stacks_free(struct sy_stacks *stacks);

#endif
