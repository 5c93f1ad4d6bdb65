/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is given back all at once
 *
 * For definitions and reports: many small things with one lifetime. Not for
 * events, which are never copied. One thread at a time.
 */
#ifndef SY_TRACE_ARENA_H
#define SY_TRACE_ARENA_H

#include <stddef.h>

struct sy_arena_block;

/* Zeroed is empty. */
struct sy_arena {
	struct sy_arena_block *blocks;
};

/* Zeroed memory, aligned for anything; NULL when there is none left. */
void *sy_arena_alloc(struct sy_arena *arena, size_t bytes);

void sy_arena_free(struct sy_arena *arena);

#endif
