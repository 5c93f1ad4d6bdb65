/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.h - vector clocks: how far into each stream something reaches
 *
 * Entry i counts operations of the stream in slot i; what lies beyond the end
 * is 0. Guarded by whatever guards the owner.
 */
#ifndef SIM_VECTOR_H
#define SIM_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

struct sim_vector {
	uint64_t *at;
	unsigned n;
};

/* Grows to n entries. Returns false, and changes nothing, without memory. */
bool sim_vector_reserve(struct sim_vector *vector, unsigned n);

/* into = max(into, from), entry by entry. Returns false without memory. */
bool sim_vector_merge(struct sim_vector *into, const struct sim_vector *from);

/* Makes into equal to from. Returns false without memory. */
bool sim_vector_copy(struct sim_vector *into, const struct sim_vector *from);

/* True if some entry of vector is beyond the same entry of limit. */
bool sim_vector_exceeds(const struct sim_vector *vector, const struct sim_vector *limit);

uint64_t sim_vector_get(const struct sim_vector *vector, unsigned slot);

void sim_vector_free(struct sim_vector *vector);

#endif
