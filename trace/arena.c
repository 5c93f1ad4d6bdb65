/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/arena.h"

#include <stdalign.h>
#include <stdlib.h>

#define BLOCK_BYTES 65536u

struct sy_arena_block {
	struct sy_arena_block *next;
	size_t used;
	size_t capacity;
	max_align_t data[];
};

static struct sy_arena_block *add_block(struct sy_arena *arena, size_t bytes)
{
	size_t capacity = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
	struct sy_arena_block *block = calloc(1, sizeof(*block) + capacity);

	if (!block)
		return NULL;
	block->capacity = capacity;
	/* A block of one large thing is full: the one before stays the place for small things. */
	if (arena->blocks && capacity == bytes) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

void *sy_arena_alloc(struct sy_arena *arena, size_t bytes)
{
	struct sy_arena_block *block = arena->blocks;
	size_t rounded;
	void *at;

	if (__builtin_add_overflow(bytes, alignof(max_align_t) - 1, &rounded) || rounded > (size_t)-1 / 2)
		return NULL;
	rounded -= rounded % alignof(max_align_t);
	if (!block || block->capacity - block->used < rounded)
		block = add_block(arena, rounded);
	if (!block)
		return NULL;
	at = (char *)block->data + block->used;
	block->used += rounded;
	return at;
}

void sy_arena_free(struct sy_arena *arena)
{
	struct sy_arena_block *next;

	for (struct sy_arena_block *block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	arena->blocks = NULL;
}
