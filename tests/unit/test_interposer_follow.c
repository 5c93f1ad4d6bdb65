/* SPDX-License-Identifier: Apache-2.0 */
/* interposer/follow.c: who hands us on, and what LD_PRELOAD is once we are out of it. */
#include "interposer/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OWN "/opt/x/lib/libsynctally.so"

static void takes_out_what_is_ours_and_nothing_else(void **state)
{
	static const struct {
		const char *before, *after;
		bool is_empty;
	} cases[] = {
		{ OWN, "", true },
		{ " " OWN ":", " ", true },
		{ OWN ":" OWN, "", true },
		{ "libsynctally.so", "", true },
		{ OWN ":/a.so:/b.so", "/a.so:/b.so", false },
		{ "/a.so:" OWN ":/b.so", "/a.so:/b.so", false },
		{ "/a.so /b.so:" OWN, "/a.so /b.so", false },
		{ "/a.so " OWN " /b.so", "/a.so /b.so", false },
		{ "/b.so:/a.so::  /c.so", "/b.so:/a.so::  /c.so", false },
		{ "/home/me/libsynctally.so", "/home/me/libsynctally.so", false },
		{ "libsynctally.so.2:" OWN "x", "libsynctally.so.2:" OWN "x", false },
		{ OWN ":/a.so:" OWN ":/b.so:" OWN, "/a.so:/b.so", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char list[256];

		snprintf(list, sizeof(list), "%s", cases[i].before);
		assert_int_equal(sy_follow_take_out(list, OWN), cases[i].is_empty);
		assert_string_equal(list, cases[i].after);
	}
}

static void launchers_are_known_by_name(void **state)
{
	static const char *const yes[] = { "python", "python3", "python3.12",    "bash",
		                           "sh",     "env",     "mpiexec.hydra", "srun" };
	static const char *const no[] = { "", "cc1", "gcc", "ptxas", "ldconfig", "shred", "pytho", "environment" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(sy_follow_is_launcher(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(sy_follow_is_launcher(no[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_out_what_is_ours_and_nothing_else),
		cmocka_unit_test(launchers_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
