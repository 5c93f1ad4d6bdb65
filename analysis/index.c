/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/index.h"

#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

struct sy_index_slot {
	const void *key; /* NULL: free */
	size_t bytes;
	uint64_t hash;
	uint32_t number;
};

static uint64_t hash_of(const void *key, size_t bytes)
{
	const unsigned char *at = key;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/* The slot of a key, or the free one it would take. There is always a free one. */
static size_t slot_of(const struct sy_index *index, const void *key, size_t bytes, uint64_t hash)
{
	size_t mask = index->n_slots - 1;
	size_t i = (size_t)hash & mask;

	while (index->slots[i].key) {
		const struct sy_index_slot *slot = &index->slots[i];

		if (slot->hash == hash && slot->bytes == bytes && memcmp(slot->key, key, bytes) == 0)
			break;
		i = (i + 1) & mask;
	}
	return i;
}

static void grow(struct sy_index *index)
{
	struct sy_index bigger = { .n_slots = 0 };
	size_t wanted = index->n_slots ? index->n_slots * 2 : 64;

	bigger.slots = sy_mem_grow(NULL, &bigger.n_slots, wanted - 1, sizeof(*bigger.slots));
	for (size_t i = 0; i < index->n_slots; i++) {
		const struct sy_index_slot *slot = &index->slots[i];

		if (slot->key)
			bigger.slots[slot_of(&bigger, slot->key, slot->bytes, slot->hash)] = *slot;
	}
	free(index->slots);
	index->slots = bigger.slots;
	index->n_slots = bigger.n_slots;
}

uint32_t sy_index_add(struct sy_index *index, const void *key, size_t bytes)
{
	uint64_t hash = hash_of(key, bytes);
	struct sy_index_slot *slot;
	void *copy;

	if (index->n * 2 >= index->n_slots)
		grow(index);
	slot = &index->slots[slot_of(index, key, bytes, hash)];
	if (slot->key)
		return slot->number;
	copy = sy_mem_alloc(&index->keys, bytes + 1);
	memcpy(copy, key, bytes);
	*slot = (struct sy_index_slot){ copy, bytes, hash, index->n };
	return index->n++;
}

bool sy_index_find(const struct sy_index *index, const void *key, size_t bytes, uint32_t *number)
{
	const struct sy_index_slot *slot;

	if (index->n_slots == 0)
		return false;
	slot = &index->slots[slot_of(index, key, bytes, hash_of(key, bytes))];
	if (!slot->key)
		return false;
	*number = slot->number;
	return true;
}

void sy_index_free(struct sy_index *index)
{
	free(index->slots);
	sy_arena_free(&index->keys);
	memset(index, 0, sizeof(*index));
}
