/* SPDX-License-Identifier: Apache-2.0 */
/* The map of memory kinds, against a plain array of bytes; and the rules of copies, row by row. */
#include "interposer/classify.h"
#include "interposer/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void the_map_agrees_with_an_array(void **unused)
{
	enum { SPACE = 4096, ROUNDS = 4000 };
	struct sy_memory_map *map = calloc(1, sizeof(*map));
	static unsigned char kinds[SPACE], starts[SPACE];
	unsigned random = 12345;

	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		unsigned at, bytes, kind;

		random = random * 1103515245u + 12345u;
		at = 1 + (random >> 16) % (SPACE - 65);
		random = random * 1103515245u + 12345u;
		bytes = 1 + (random >> 16) % 64;
		kind = 1 + (random >> 24) % 4;
		if (round % 3 == 2) {
			sy_memory_remove(map, at);
			for (unsigned i = at; starts[at] && i < SPACE && (i == at || !starts[i]) && kinds[i]; i++)
				kinds[i] = 0;
			starts[at] = 0;
		} else {
			/* A range that overlaps the new one has ended unseen, all of it. */
			for (unsigned i = 0; i < SPACE; i++) {
				unsigned end = i + 1;

				if (!starts[i])
					continue;
				while (end < SPACE && kinds[end] && !starts[end])
					end++;
				if (i < at + bytes && end > at) {
					memset(kinds + i, 0, end - i);
					starts[i] = 0;
				}
			}
			memset(kinds + at, (int)kind, bytes);
			starts[at] = 1;
			sy_memory_add(map, at, bytes, (enum sy_memory)kind);
		}
		for (unsigned i = 1; i < SPACE; i += 7)
			assert_int_equal(sy_memory_kind(map, i), kinds[i]);
	}
	free(map);
}

static void a_removed_range_is_handed_back(void **unused)
{
	struct sy_memory_map *map = calloc(1, sizeof(*map));
	struct sy_memory_range range;

	(void)unused;
	sy_memory_add(map, 0x1000, 64, SY_MEMORY_PINNED);
	range = sy_memory_remove(map, 0x1010);
	assert_int_equal(range.kind, SY_MEMORY_UNKNOWN); /* not where it starts */
	range = sy_memory_remove(map, 0x1000);
	assert_int_equal(range.kind, SY_MEMORY_PINNED);
	assert_int_equal(range.end - range.start, 64);
	assert_int_equal(sy_memory_kind(map, 0x1000), SY_MEMORY_UNKNOWN);
	free(map);
}

static void copies_follow_the_rules(void **unused)
{
	static const struct {
		bool is_sync;
		enum sy_direction direction;
		enum sy_memory src, dst;
		enum sy_completion expected;
	} rows[] = {
		{ true, SY_H2D, SY_MEMORY_PAGEABLE, SY_MEMORY_DEVICE, SY_COMPLETES_BEFORE },   /* R1 */
		{ true, SY_H2D, SY_MEMORY_PINNED, SY_MEMORY_DEVICE, SY_COMPLETES_ITSELF },     /* R2 */
		{ true, SY_D2H, SY_MEMORY_DEVICE, SY_MEMORY_PAGEABLE, SY_COMPLETES_ITSELF },   /* R3 */
		{ true, SY_D2H, SY_MEMORY_DEVICE, SY_MEMORY_PINNED, SY_COMPLETES_ITSELF },     /* R3 */
		{ true, SY_D2D, SY_MEMORY_DEVICE, SY_MEMORY_DEVICE, SY_COMPLETES_NOTHING },    /* R4 */
		{ true, SY_H2H, SY_MEMORY_PAGEABLE, SY_MEMORY_PAGEABLE, SY_COMPLETES_ITSELF }, /* R5 */
		{ false, SY_D2H, SY_MEMORY_DEVICE, SY_MEMORY_PAGEABLE, SY_COMPLETES_ITSELF },  /* R6a */
		{ false, SY_H2D, SY_MEMORY_PAGEABLE, SY_MEMORY_DEVICE, SY_COMPLETES_NOTHING }, /* R6b */
		{ false, SY_H2H, SY_MEMORY_PINNED, SY_MEMORY_PINNED, SY_COMPLETES_ITSELF },    /* R8 */
		{ false, SY_D2H, SY_MEMORY_DEVICE, SY_MEMORY_PINNED, SY_COMPLETES_NOTHING },   /* R9 */
		{ false, SY_H2D, SY_MEMORY_PINNED, SY_MEMORY_DEVICE, SY_COMPLETES_NOTHING },   /* R9 */
		{ true, SY_D2H, SY_MEMORY_MANAGED, SY_MEMORY_PAGEABLE, SY_COMPLETES_NOTHING }, /* R10 */
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sy_classify_copy(rows[i].is_sync, rows[i].direction, rows[i].src, rows[i].dst),
		                 rows[i].expected);
	assert_int_equal(sy_classify_set(true, SY_MEMORY_PINNED), SY_COMPLETES_ITSELF);   /* R12 */
	assert_int_equal(sy_classify_set(true, SY_MEMORY_DEVICE), SY_COMPLETES_NOTHING);  /* R12 */
	assert_int_equal(sy_classify_set(false, SY_MEMORY_PINNED), SY_COMPLETES_NOTHING); /* R13 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_map_agrees_with_an_array),
		cmocka_unit_test(a_removed_range_is_handed_back),
		cmocka_unit_test(copies_follow_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
