/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/memory.h"

/* How often a look-up tries again while the map changes under it, before it waits for the end of the change. */
#define MAX_TRIES 64

/* Index of the first range that starts behind `address`. */
static uint32_t upper_bound(const struct sy_memory_map *map, uint32_t n, uint64_t address)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (__atomic_load_n(&map->ranges[middle].start, __ATOMIC_RELAXED) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum sy_memory find(const struct sy_memory_map *map, uint64_t address)
{
	uint32_t at = upper_bound(map, __atomic_load_n(&map->n, __ATOMIC_RELAXED), address);

	if (at == 0 || address >= __atomic_load_n(&map->ranges[at - 1].end, __ATOMIC_RELAXED))
		return SY_MEMORY_UNKNOWN;
	return (enum sy_memory)__atomic_load_n(&map->ranges[at - 1].kind, __ATOMIC_RELAXED);
}

enum sy_memory sy_memory_kind(struct sy_memory_map *map, uint64_t address)
{
	enum sy_memory kind;

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		uint32_t version = __atomic_load_n(&map->version, __ATOMIC_ACQUIRE);

		kind = find(map, address);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(version & 1) && version == __atomic_load_n(&map->version, __ATOMIC_RELAXED))
			return kind;
	}
	/* The thread that makes the change is not running. "Unknown" would be taken for pageable, and prove too much. */
	pthread_mutex_lock(&map->mutex);
	kind = find(map, address);
	pthread_mutex_unlock(&map->mutex);
	return kind;
}

static void begin_change(struct sy_memory_map *map)
{
	pthread_mutex_lock(&map->mutex);
	__atomic_store_n(&map->version, map->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct sy_memory_map *map)
{
	__atomic_store_n(&map->version, map->version + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&map->mutex);
}

static void set_range(struct sy_memory_map *map, uint32_t at, const struct sy_memory_range *range)
{
	__atomic_store_n(&map->ranges[at].start, range->start, __ATOMIC_RELAXED);
	__atomic_store_n(&map->ranges[at].end, range->end, __ATOMIC_RELAXED);
	__atomic_store_n(&map->ranges[at].kind, range->kind, __ATOMIC_RELAXED);
}

static void remove_at(struct sy_memory_map *map, uint32_t at)
{
	for (uint32_t i = at; i + 1 < map->n; i++)
		set_range(map, i, &map->ranges[i + 1]);
	__atomic_store_n(&map->n, map->n - 1, __ATOMIC_RELAXED);
}

void sy_memory_add(struct sy_memory_map *map, uint64_t start, uint64_t bytes, enum sy_memory kind)
{
	const struct sy_memory_range range = { start, start + (bytes ? bytes : 1), kind };
	uint32_t at;

	if (!start || range.end < start)
		return;
	begin_change(map);
	/* What still overlaps ended without our seeing it. */
	at = upper_bound(map, map->n, start);
	if (at > 0 && map->ranges[at - 1].end > start)
		remove_at(map, --at);
	while (at < map->n && map->ranges[at].start < range.end)
		remove_at(map, at);
	if (map->n < SY_MEMORY_RANGES) {
		for (uint32_t i = map->n; i > at; i--)
			set_range(map, i, &map->ranges[i - 1]);
		set_range(map, at, &range);
		__atomic_store_n(&map->n, map->n + 1, __ATOMIC_RELAXED);
	}
	end_change(map);
}

struct sy_memory_range sy_memory_remove(struct sy_memory_map *map, uint64_t start)
{
	struct sy_memory_range removed = { 0, 0, SY_MEMORY_UNKNOWN };
	uint32_t at;

	begin_change(map);
	at = upper_bound(map, map->n, start);
	if (at > 0 && map->ranges[at - 1].start == start) {
		removed = map->ranges[at - 1];
		remove_at(map, at - 1);
	}
	end_change(map);
	return removed;
}
