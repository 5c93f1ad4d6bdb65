/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_place_match.c - lines of one run found again in another
 */
#include "analysis/near_word.h"
#include "analysis/place_match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_PLACES 8

/* One side: places up to the first without a file. */
struct example {
	const char *name;
	struct sy_place a[MAX_PLACES], b[MAX_PLACES];
	uint32_t wanted[MAX_PLACES];
};

#define AT(path, in, number, n)                                                                                        \
	{                                                                                                              \
		.file = path, .function = in, .line = number, .weight = n                                              \
	}
#define CODE(path, in, number, n, text)                                                                                \
	{                                                                                                              \
		.file = path, .function = in, .line = number, .weight = n, .code = text                                \
	}
#define IN(path, in, from, number, n)                                                                                  \
	{                                                                                                              \
		.file = path, .function = in, .first_line = from, .line = number, .weight = n                          \
	}
#define NONE SY_NO_PLACE

static const struct example examples[] = {
	{ "the same",
	  { AT("t.py", "f", 3, 1), AT("t.py", "f", 9, 1) },
	  { AT("t.py", "f", 3, 1), AT("t.py", "f", 9, 1) },
	  { 0, 1 } },
	{ "a line above",
	  { AT("t.py", "f", 3, 1), AT("t.py", "f", 9, 1) },
	  { AT("t.py", "f", 4, 1), AT("t.py", "f", 10, 1) },
	  { 0, 1 } },
	{ "a new one before", { AT("t.py", "f", 9, 24) }, { AT("t.py", "f", 4, 1), AT("t.py", "f", 10, 24) }, { 1 } },
	{ "a new one behind", { AT("t.py", "f", 9, 24) }, { AT("t.py", "f", 9, 24), AT("t.py", "f", 10, 1) }, { 0 } },
	{ "a new one at the old line",
	  { IN("t.py", "f", 1, 9, 24) },
	  { IN("t.py", "f", 1, 9, 1), IN("t.py", "f", 1, 10, 24) },
	  { 1 } },
	{ "the text decides",
	  { CODE("t.py", "f", 9, 1, "b.item()") },
	  { CODE("t.py", "f", 9, 1, "a.item()"), CODE("t.py", "f", 10, 1, "b.item()") },
	  { 1 } },
	{ "the text is changed, and nothing else",
	  { CODE("t.py", "f", 9, 1, "a.item()") },
	  { CODE("t.py", "f", 9, 1, "b.item()") },
	  { 0 } },
	{ "another function", { AT("t.py", "f", 3, 1) }, { AT("t.py", "g", 30, 1) }, { NONE } },
	{ "a function with a new name", { AT("t.py", "f", 3, 1) }, { AT("t.py", "g", 3, 1) }, { 0 } },
	{ "the function moved down, its lines did not change",
	  { IN("t.py", "f", 10, 12, 1), IN("t.py", "f", 10, 14, 2) },
	  { IN("t.py", "f", 310, 312, 1), IN("t.py", "f", 310, 314, 2) },
	  { 0, 1 } },
	{ "the same line, another count", { AT("t.py", "f", 9, 24) }, { AT("t.py", "f", 9, 1) }, { 0 } },
	{ "one instead of many, elsewhere", { AT("t.py", "f", 9, 24) }, { AT("t.py", "f", 11, 1) }, { NONE } },
	{ "too far and too different", { AT("t.py", "f", 3, 1) }, { AT("t.py", "f", 300, 100) }, { NONE } },
	{ "another checkout", { AT("/home/a/co/src/t.py", "f", 3, 1) }, { AT("/ci/work/src/t.py", "f", 3, 1) }, { 0 } },
	{ "of two files the one that shares more of its path",
	  { AT("/a/src/x/t.py", "f", 3, 1) },
	  { AT("/b/src/y/t.py", "f", 3, 1), AT("/b/src/x/t.py", "f", 3, 1) },
	  { 1 } },
	{ "the same path before any other",
	  { AT("x/t.py", "f", 3, 1), AT("t.py", "f", 3, 1) },
	  { AT("t.py", "f", 3, 1) },
	  { NONE, 0 } },
	{ "another file", { AT("t.py", "f", 3, 1) }, { AT("at.py", "f", 3, 1) }, { NONE } },
	{ "a rebuilt library", { AT("libx.so", "+0x10", 0, 5) }, { AT("libx.so", "+0x20", 0, 5) }, { 0 } },
	{ "nothing there", { AT("t.py", "f", 3, 1) }, { { .file = NULL } }, { NONE } },
	{ "nothing wanted", { { .file = NULL } }, { AT("t.py", "f", 3, 1) }, { NONE } },
};

static uint32_t length(const struct sy_place *places)
{
	uint32_t n = 0;

	while (n < MAX_PLACES && places[n].file)
		n++;
	return n;
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *example = &examples[i];
		uint32_t seen[MAX_PLACES], n = length(example->a);

		sy_places_match(example->a, n, example->b, length(example->b), seen);
		for (uint32_t k = 0; k < n; k++)
			if (seen[k] != example->wanted[k])
				fail_msg("%s: place %u is found at %u, not %u", example->name, k, seen[k],
				         example->wanted[k]);
	}
}

/* Whatever the classes and lines: nothing is taken twice, and only the same kind of thing in the same file. */
static void test_random(void **state)
{
	static const char *const files[] = { "a.py", "x/b.py", "/y/b.py" }, *const functions[] = { "f", "g" };
	uint32_t random = 7;

	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		struct sy_place places[2][40];
		uint32_t n[2], b_of_a[40];
		unsigned char is_taken[40] = { 0 };

		for (int side = 0; side < 2; side++) {
			random = random * 1664525u + 1013904223u;
			n[side] = (random >> 16) % 41;
			for (uint32_t i = 0; i < n[side]; i++) {
				random = random * 1664525u + 1013904223u;
				places[side][i] = (struct sy_place){ .file = files[(random >> 8) % 3],
					                             .function = functions[(random >> 12) % 2],
					                             .line = 1 + (random >> 16) % 20,
					                             .class = (random >> 24) % 2,
					                             .weight = 1 + (random >> 28) };
			}
		}
		sy_places_match(places[0], n[0], places[1], n[1], b_of_a);
		for (uint32_t i = 0; i < n[0]; i++) {
			if (b_of_a[i] == SY_NO_PLACE)
				continue;
			assert_true(b_of_a[i] < n[1]);
			assert_false(is_taken[b_of_a[i]]);
			is_taken[b_of_a[i]] = 1;
			assert_int_equal(places[0][i].class, places[1][b_of_a[i]].class);
			assert_true(sy_path_common_tail(places[0][i].file, places[1][b_of_a[i]].file) > 0);
		}
	}
}

/* A run against itself: every place is its own counterpart, or that of an equal one. */
static void test_itself(void **state)
{
	struct sy_place places[3000];
	static uint32_t b_of_a[3000];

	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		places[i] = (struct sy_place)AT("t.py", "f", i + 1, 1 + i % 7);
	sy_places_match(places, 3000, places, 3000, b_of_a);
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(b_of_a[i], i);
}

static void test_common_tail(void **state)
{
	(void)state;
	assert_int_equal(sy_path_common_tail("/a/t.py", "/a/t.py"), UINT32_MAX);
	assert_int_equal(sy_path_common_tail("/a/t.py", "/b/t.py"), 1);
	assert_int_equal(sy_path_common_tail("/a/x/t.py", "/b/x/t.py"), 2);
	assert_int_equal(sy_path_common_tail("x/t.py", "/b/x/t.py"), 2);
	assert_int_equal(sy_path_common_tail("t.py", "/b/x/t.py"), 1);
	assert_int_equal(sy_path_common_tail("t.py", "/b/x/at.py"), 0);
	assert_int_equal(sy_path_common_tail("", "/"), 0);
}

static void test_near_word(void **state)
{
	static const char *const known[] = { "syncs", "drains", "pageable_uploads" };

	(void)state;
	assert_string_equal(sy_near_word("sync", known, 3), "syncs");
	assert_string_equal(sy_near_word("drians", known, 3), "drains");
	assert_string_equal(sy_near_word("pagable_upload", known, 3), "pageable_uploads");
	assert_null(sy_near_word("colour", known, 3));
	assert_null(sy_near_word("", known, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),    cmocka_unit_test(test_random),    cmocka_unit_test(test_itself),
		cmocka_unit_test(test_common_tail), cmocka_unit_test(test_near_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
