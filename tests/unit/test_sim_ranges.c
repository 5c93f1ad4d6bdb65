/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_ranges.c - the sets of ranges behind memory and readbacks, against a plain array of bytes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/ranges.h"
#include "sim/vector.h"

enum { SPACE = 200, ROUNDS = 20000 };

static unsigned seed = 7;

static unsigned next_random(unsigned limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % limit;
}

/* Sorted, apart by at least one byte, and exactly the bytes of the model. */
static void check(const struct sim_ranges *ranges, const bool *model)
{
	bool seen[SPACE] = { false };

	for (size_t i = 0; i < ranges->n; i++) {
		assert_true(ranges->at[i].bytes > 0);
		if (i > 0)
			assert_true(ranges->at[i - 1].base + ranges->at[i - 1].bytes < ranges->at[i].base);
		for (size_t k = 0; k < ranges->at[i].bytes; k++)
			seen[ranges->at[i].base + k] = true;
	}
	assert_memory_equal(seen, model, sizeof seen);
}

static void adding_and_subtracting_is_what_it_is_for_bytes(void **state)
{
	struct sim_ranges ranges = { 0 };
	bool model[SPACE] = { false };

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned base = next_random(SPACE - 1), bytes = 1 + next_random(SPACE - base - 1);
		bytes = 1 + bytes / 8;
		bool adds = next_random(2);
		assert_true(adds ? sim_ranges_add(&ranges, base, bytes) : sim_ranges_subtract(&ranges, base, bytes));
		for (unsigned k = 0; k < bytes; k++)
			model[base + k] = adds;
		check(&ranges, model);
		unsigned at = next_random(SPACE);
		assert_int_equal(sim_ranges_find(&ranges, at) != NULL, model[at]);
		bool covers = at < SPACE - 1 && model[at] && model[at + 1];
		assert_int_equal(sim_ranges_covers(&ranges, at, 2), covers);
	}
	free(ranges.at);
}

static void vectors_merge_entry_by_entry(void **state)
{
	struct sim_vector a = { 0 }, b = { 0 };

	(void)state;
	assert_false(sim_vector_exceeds(&a, &b));
	assert_true(sim_vector_reserve(&a, 2));
	assert_true(sim_vector_reserve(&b, 4));
	a.at[0] = 5;
	b.at[0] = 3;
	b.at[3] = 1;
	assert_true(sim_vector_exceeds(&a, &b));
	assert_true(sim_vector_exceeds(&b, &a));
	assert_true(sim_vector_merge(&a, &b));
	assert_int_equal(a.at[0], 5);
	assert_int_equal(sim_vector_get(&a, 3), 1);
	assert_int_equal(sim_vector_get(&a, 9), 0);
	assert_false(sim_vector_exceeds(&b, &a));
	b.at[0] = 0;
	assert_true(sim_vector_copy(&a, &b));
	assert_int_equal(a.at[0], 0);
	sim_vector_free(&a);
	sim_vector_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adding_and_subtracting_is_what_it_is_for_bytes),
		cmocka_unit_test(vectors_merge_entry_by_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
