/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - which kind of memory an address belongs to
 *
 * From our own map of what was allocated and registered through us; asking CUDA
 * would be a call of our own. An address we do not know is pageable host memory
 * unless the call says otherwise. A look-up takes a lock only if it meets a
 * change that does not get on.
 */
#ifndef SY_INTERPOSER_MEMORY_H
#define SY_INTERPOSER_MEMORY_H

#include "trace/format.h"

#include <pthread.h>
#include <stdint.h>

#define SY_MEMORY_RANGES (1u << 20)

struct sy_memory_range {
	uint64_t start, end;
	uint64_t kind; /* enum sy_memory */
};

struct sy_memory_map {
	uint32_t version; /* atomic; odd while a change is being made */
	uint32_t n;       /* ranges, sorted by start, not overlapping */
	pthread_mutex_t mutex;
	struct sy_memory_range ranges[SY_MEMORY_RANGES];
};

/* SY_MEMORY_UNKNOWN: not in the map. */
enum sy_memory sy_memory_kind(struct sy_memory_map *map, uint64_t address);
/* A full map forgets the new range; its addresses are then unknown. */
void sy_memory_add(struct sy_memory_map *map, uint64_t start, uint64_t bytes, enum sy_memory kind);
/* Takes out the range that starts there and returns it; {0, 0, SY_MEMORY_UNKNOWN} if there is none. */
struct sy_memory_range sy_memory_remove(struct sy_memory_map *map, uint64_t start);

#endif
