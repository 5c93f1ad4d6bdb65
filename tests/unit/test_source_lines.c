/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_source_lines.c - lines and reasons from source files, whatever lies at their paths
 */
#include "analysis/source_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
	"x = a.item()  # sync-ok: it is needed\n"
	"\tb.item()#sync-ok:short \r\n"
	"# sync-ok: both of\n"
	"c.item()\n"
	"d.item()\n"
	"e.item()  # sync-ok:\n"
	"f = 'sync-ok: no'\n"
	"\n"
	"// sync-ok: as in C\n"
	"g()  // sync-ok: x \x1b[31m::error::\n"
	"h()";

static const struct {
	uint32_t line;
	const char *text, *reason;
} wanted[] = {
	{ 0, NULL, NULL },
	{ 1, "x = a.item()  # sync-ok: it is needed", "it is needed" },
	{ 2, "b.item()#sync-ok:short", "short" },
	{ 4, "c.item()", "both of" },
	{ 5, "d.item()", NULL },
	{ 6, "e.item()  # sync-ok:", NULL },
	{ 7, "f = 'sync-ok: no'", NULL },
	{ 8, NULL, NULL },
	{ 10, "g()  // sync-ok: x ?[31m::error::", "x ?[31m::error::" },
	{ 11, "h()", NULL },
	{ 12, NULL, NULL },
	{ UINT32_MAX, NULL, NULL },
};

static void assert_text(uint32_t line, const char *seen, const char *expected)
{
	if (!seen != !expected || (seen && strcmp(seen, expected) != 0))
		fail_msg("line %u: %s is not %s", line, seen ? seen : "(none)", expected ? expected : "(none)");
}

static void test_lines(void **state)
{
	char path[] = "/tmp/synctally-source-XXXXXX";
	struct sy_sources sources = { .capacity = 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, source, sizeof(source) - 1), sizeof(source) - 1);
	close(fd);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_text(wanted[i].line, sy_source_line(&sources, path, wanted[i].line), wanted[i].text);
		assert_text(wanted[i].line, sy_source_reason(&sources, path, wanted[i].line), wanted[i].reason);
	}
	sy_sources_free(&sources);
	unlink(path);
}

/* A path in a trace may name anything. */
static void test_no_source(void **state)
{
	static const char *const paths[] = { "", "/", "/nonexistent", "/dev/zero", "/dev/null", "<string>" };
	char directory[] = "/tmp/synctally-source-XXXXXX", fifo[64];
	struct sy_sources sources = { .capacity = 0 };

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(sy_source_line(&sources, fifo, 1));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_null(sy_source_line(&sources, paths[i], 1));
		assert_null(sy_source_reason(&sources, paths[i], 1));
	}
	sy_sources_free(&sources);
	unlink(fifo);
	rmdir(directory);
}

/* Cut behind a whole character. */
static void test_cut(void **state)
{
	struct sy_arena arena = { NULL };

	(void)state;
	assert_string_equal(sy_source_clean(&arena, "ab\xc3\xa4z", 5, 3), "ab");
	assert_string_equal(sy_source_clean(&arena, "ab\xc3\xa4z", 5, 4), "ab\xc3\xa4");
	assert_string_equal(sy_source_clean(&arena, "\x80\x80\x80", 3, 2), "");
	assert_string_equal(sy_source_clean(&arena, "", 0, 2), "");
	sy_arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_source),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
