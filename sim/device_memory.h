/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_memory.h - the memory of one simulated device
 *
 * Two mappings: device addresses, which the host can not read or write, as on
 * hardware, and an alias of the same bytes, which the simulator uses. Blocks
 * are handed out first-fit, so the same calls get the same offsets, and are
 * zero when new or recycled. All functions: lock held, except where said.
 */
#ifndef SIM_DEVICE_MEMORY_H
#define SIM_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/ranges.h"

struct sim_device_memory {
	uintptr_t base; /* first device address; 0 until mapped */
	char *alias;
	size_t bytes;
	size_t used_bytes;
	int fd;
	struct sim_ranges live;
	struct sim_ranges free;
};

/*
 * What is special about a block; the tag of its range. The address of physical
 * memory (vmm.h) is known to nobody outside: to the program it is no block.
 */
enum sim_block { SIM_BLOCK_PLAIN, SIM_BLOCK_ORDERED, SIM_BLOCK_ENDING, SIM_BLOCK_GRAPH, SIM_BLOCK_PHYSICAL };

/* Behind the kind the tag of an ordered block has the number of its pool. */
#define SIM_BLOCK_KIND(tag) ((enum sim_block)((tag)&0xff))
#define SIM_BLOCK_POOL(tag) ((unsigned)((tag) >> 8))

/* Reserves the address range: the size asked for, or the largest smaller one the system grants. */
bool sim_device_memory_map(struct sim_device_memory *memory, size_t bytes);

/* Returns the device address of a block, or 0 when the device is full. */
uintptr_t sim_device_memory_alloc(struct sim_device_memory *memory, size_t bytes, enum sim_block kind);

/* Gives the block back. False if no block starts at the address. */
bool sim_device_memory_free(struct sim_device_memory *memory, uintptr_t address);

/* The live block that holds the address, or NULL. */
struct sim_range *sim_device_memory_find(const struct sim_device_memory *memory, uintptr_t address);

/* True for every address of the device's range, allocated or not. No lock needed. */
bool sim_device_memory_owns(const struct sim_device_memory *memory, uintptr_t address);

/* Where the simulator reads and writes a device address. No lock needed. */
void *sim_device_memory_alias(const struct sim_device_memory *memory, uintptr_t address);

#endif
