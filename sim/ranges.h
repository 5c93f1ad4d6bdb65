/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - a set of disjoint address ranges, sorted
 *
 * Lookup is a binary search; inserting and removing move the entries behind.
 * Not locked: the owner guards it.
 */
#ifndef SIM_RANGES_H
#define SIM_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_range {
	uintptr_t base;
	size_t bytes;
	uint64_t tag; /* the owner's */
};

struct sim_ranges {
	struct sim_range *at;
	size_t n;
	size_t capacity;
};

/* The range that holds the address, or NULL. Valid until the next change. */
struct sim_range *sim_ranges_find(const struct sim_ranges *ranges, uintptr_t address);

/* Adds a range that overlaps no other. Returns false without memory. */
bool sim_ranges_insert(struct sim_ranges *ranges, const struct sim_range *range);

/* Removes an entry that sim_ranges_find() returned. */
void sim_ranges_remove(struct sim_ranges *ranges, struct sim_range *range);

/* Like insert, but joins a neighbour that touches or overlaps; tags are ignored. Returns false without memory. */
bool sim_ranges_add(struct sim_ranges *ranges, uintptr_t base, size_t bytes);

/* Takes these bytes out of whatever ranges hold them. Returns false without memory: all is then taken out. */
bool sim_ranges_subtract(struct sim_ranges *ranges, uintptr_t base, size_t bytes);

/* True if one range holds all these bytes. */
bool sim_ranges_covers(const struct sim_ranges *ranges, uintptr_t base, size_t bytes);

void sim_ranges_clear(struct sim_ranges *ranges);

#endif
