/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_handles.h"

#include <stdbool.h>
#include <stdlib.h>

#define HANDLE_STEP ((uintptr_t)0x80)

/* A free entry holds the place of the next one, made odd so that it is no object. */
static void *free_entry(size_t next)
{
	return (void *)(uintptr_t)(next << 1 | 1);
}

static bool is_free(const void *entry)
{
	return (uintptr_t)entry & 1;
}

static bool reserve(struct sim_handles *handles)
{
	if (handles->first_free || handles->n < handles->capacity)
		return true;
	size_t capacity = handles->capacity ? 2 * handles->capacity : 64;
	void **at = realloc(handles->at, capacity * sizeof *at);
	if (!at)
		return false;
	handles->at = at;
	handles->capacity = capacity;
	return true;
}

void *sim_handles_add(struct sim_handles *handles, void *object)
{
	size_t index;

	if (!reserve(handles))
		return NULL;
	if (handles->first_free) {
		index = handles->first_free - 1;
		handles->first_free = (uintptr_t)handles->at[index] >> 1;
	} else {
		index = handles->n++;
	}
	handles->at[index] = object;
	return (void *)(handles->base + index * HANDLE_STEP);
}

/* The place of a handle, or handles->n for what is none. */
static size_t index_of(const struct sim_handles *handles, const void *handle)
{
	uintptr_t distance = (uintptr_t)handle - handles->base;

	if (distance % HANDLE_STEP != 0 || distance / HANDLE_STEP >= handles->n)
		return handles->n;
	return distance / HANDLE_STEP;
}

void *sim_handles_find(const struct sim_handles *handles, const void *handle)
{
	size_t index = index_of(handles, handle);

	return index < handles->n && !is_free(handles->at[index]) ? handles->at[index] : NULL;
}

void sim_handles_remove(struct sim_handles *handles, const void *handle)
{
	size_t index = index_of(handles, handle);

	handles->at[index] = free_entry(handles->first_free);
	handles->first_free = index + 1;
}
