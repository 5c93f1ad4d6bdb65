/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_memory.h - memory that belongs to allocation nodes
 *
 * The address is taken when the node is made and stays as long as the node or
 * a copy of it does. A launch brings the memory to life; a free node or a call
 * of the program ends it. All functions: lock held.
 */
#ifndef SIM_GRAPH_MEMORY_H
#define SIM_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_graph_memory;

/* With one holder; NULL without memory. */
struct sim_graph_memory *sim_graph_memory_new(size_t bytes, uintptr_t *address);
void sim_graph_memory_hold(struct sim_graph_memory *memory);
/* The address range is given back when nobody holds it and it is not alive. */
void sim_graph_memory_drop(struct sim_graph_memory *memory);

/* A launch reaches the allocation node. */
void sim_graph_memory_begin(struct sim_graph_memory *memory);
bool sim_graph_memory_is_alive(const struct sim_graph_memory *memory);

/* True if an allocation node gave out this address, whether it is alive or not. */
bool sim_graph_memory_owns(uintptr_t address);
/* Ends the life of what is at this address. False if nothing of a graph is alive there. */
bool sim_graph_memory_end(uintptr_t address);

#endif
