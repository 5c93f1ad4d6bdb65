/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/vector.h"

#include <stdlib.h>
#include <string.h>

bool sim_vector_reserve(struct sim_vector *vector, unsigned n)
{
	if (n <= vector->n)
		return true;
	uint64_t *at = realloc(vector->at, n * sizeof *at);
	if (!at)
		return false;
	memset(at + vector->n, 0, (n - vector->n) * sizeof *at);
	vector->at = at;
	vector->n = n;
	return true;
}

bool sim_vector_merge(struct sim_vector *into, const struct sim_vector *from)
{
	if (!sim_vector_reserve(into, from->n))
		return false;
	for (unsigned i = 0; i < from->n; i++)
		if (from->at[i] > into->at[i])
			into->at[i] = from->at[i];
	return true;
}

bool sim_vector_copy(struct sim_vector *into, const struct sim_vector *from)
{
	if (!sim_vector_reserve(into, from->n))
		return false;
	if (from->n)
		memcpy(into->at, from->at, from->n * sizeof *into->at);
	if (into->n > from->n)
		memset(into->at + from->n, 0, (into->n - from->n) * sizeof *into->at);
	return true;
}

bool sim_vector_exceeds(const struct sim_vector *vector, const struct sim_vector *limit)
{
	for (unsigned i = 0; i < vector->n; i++)
		if (vector->at[i] > sim_vector_get(limit, i))
			return true;
	return false;
}

uint64_t sim_vector_get(const struct sim_vector *vector, unsigned slot)
{
	return slot < vector->n ? vector->at[slot] : 0;
}

void sim_vector_free(struct sim_vector *vector)
{
	free(vector->at);
	vector->at = NULL;
	vector->n = 0;
}
