/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - numbers 0, 1, 2, ... for keys in the order in which they first come
 *
 * A key is any run of bytes. The caller keeps an array with one element per
 * number; the order makes every output the same from run to run.
 */
#ifndef SY_ANALYSIS_INDEX_H
#define SY_ANALYSIS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/arena.h"

struct sy_index_slot;

/* Zeroed is empty. */
struct sy_index {
	struct sy_index_slot *slots;
	size_t n_slots; /* 0 or a power of two */
	uint32_t n;
	struct sy_arena keys;
};

/* The number of a key, which is added if it is new. */
uint32_t sy_index_add(struct sy_index *index, const void *key, size_t bytes);

/* False: the key is not there. */
bool sy_index_find(const struct sy_index *index, const void *key, size_t bytes, uint32_t *number);

void sy_index_free(struct sy_index *index);

#endif
