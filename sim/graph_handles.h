/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_handles.h - the names a program has for graphs, their nodes, and what is made of them
 *
 * Not addresses: any value a program passes can be checked without touching
 * memory, and two runs see the same ones. All functions: lock held.
 */
#ifndef SIM_GRAPH_HANDLES_H
#define SIM_GRAPH_HANDLES_H

#include <stddef.h>
#include <stdint.h>

/* Objects of one kind; all zero but the base. The objects belong to the caller and are at even addresses. */
struct sim_handles {
	uintptr_t base;
	void **at;
	size_t n;
	size_t capacity;
	size_t first_free; /* 1 + index, 0 if none */
};

/* A name for the object, or NULL without memory. */
void *sim_handles_add(struct sim_handles *handles, void *object);

/* The object of that name, or NULL. */
void *sim_handles_find(const struct sim_handles *handles, const void *handle);

/* The name is free from now on. It must be one that is in use. */
void sim_handles_remove(struct sim_handles *handles, const void *handle);

#endif
