/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_memory.h"

#include <stdlib.h>

#include "sim/device.h"

struct sim_graph_memory {
	struct sim_graph_memory *next;
	uintptr_t address;
	unsigned n_holders;
	bool is_alive;
};

static struct sim_graph_memory *first;

struct sim_graph_memory *sim_graph_memory_new(size_t bytes, uintptr_t *address)
{
	struct sim_graph_memory *memory = calloc(1, sizeof *memory);

	if (!memory)
		return NULL;
	memory->address = sim_device_memory_alloc(&sim_device_current()->memory, bytes, SIM_BLOCK_GRAPH);
	if (!memory->address) {
		free(memory);
		return NULL;
	}
	memory->n_holders = 1;
	memory->next = first;
	first = memory;
	*address = memory->address;
	return memory;
}

void sim_graph_memory_hold(struct sim_graph_memory *memory)
{
	memory->n_holders++;
}

static void free_if_unused(struct sim_graph_memory *memory)
{
	struct sim_graph_memory **link = &first;

	if (memory->n_holders || memory->is_alive)
		return;
	while (*link != memory)
		link = &(*link)->next;
	*link = memory->next;
	/* Resetting the device has freed the block already; another may have its place. */
	struct sim_device_memory *heap = &sim_device_of(memory->address)->memory;
	const struct sim_range *block = sim_device_memory_find(heap, memory->address);
	if (block && block->base == memory->address && block->tag == SIM_BLOCK_GRAPH)
		sim_device_memory_free(heap, memory->address);
	free(memory);
}

void sim_graph_memory_drop(struct sim_graph_memory *memory)
{
	memory->n_holders--;
	free_if_unused(memory);
}

void sim_graph_memory_begin(struct sim_graph_memory *memory)
{
	memory->is_alive = true;
}

bool sim_graph_memory_is_alive(const struct sim_graph_memory *memory)
{
	return memory->is_alive;
}

static struct sim_graph_memory *find(uintptr_t address)
{
	struct sim_graph_memory *memory = first;

	while (memory && memory->address != address)
		memory = memory->next;
	return memory;
}

bool sim_graph_memory_owns(uintptr_t address)
{
	return find(address) != NULL;
}

bool sim_graph_memory_end(uintptr_t address)
{
	struct sim_graph_memory *memory = find(address);

	if (!memory || !memory->is_alive)
		return false;
	memory->is_alive = false;
	free_if_unused(memory);
	return true;
}
