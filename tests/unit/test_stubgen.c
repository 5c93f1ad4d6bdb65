/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stubgen.c - libraries laid out by stub_code.c and elf_write.c, given to the dynamic loader
 *
 * The refusals' import is setenv(): it takes (library, function) as its first
 * two arguments, and what it was told can be asked of getenv(). Its third
 * argument is whatever the stub's caller passed third.
 */
#include "analysis/elf_read.h"
#include "analysis/stub_code.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SONAME "libsynctally_test_vendor.so.9"
#define NODE "VENDOR_9"

typedef int64_t (*any_fn)(void *, void *, void *);

static const struct sy_stub stubs[] = {
	{ .name = "vendorDo", .version = NODE, .kind = SY_STUB_REFUSE, .value = 3000 },
	{ .name = "vendorRead", .version = NODE, .kind = SY_STUB_REFUSE, .value = -5007 },
	{ .name = "vendorVersion", .version = NODE, .kind = SY_STUB_VALUE, .value = 92000 },
	{ .name = "vendorText", .version = NODE, .kind = SY_STUB_TEXT },
	{ .name = "vendorOutInt", .version = NODE, .kind = SY_STUB_OUT_INT, .arg = 2, .value = 22907 },
	{ .name = "vendorOutTwo", .version = NODE, .kind = SY_STUB_OUT_TWO_INTS, .value = 13, .value2 = 2 },
	{ .name = "vendorOutText", .version = "VENDOR_10", .kind = SY_STUB_OUT_TEXT, .arg = 1 },
	{ .name = "vendorEmptyText", .version = NODE, .kind = SY_STUB_EMPTY_TEXT },
	{ .name = "vendorProperty",
	  .version = NODE,
	  .kind = SY_STUB_PROPERTY,
	  .arg = 7,
	  .value = 9,
	  .value2 = 20,
	  .value3 = 1 },
	{ .name = "vendorObject", .version = NODE, .kind = SY_STUB_OBJECT, .value = 5000 },
	{ .name = "vendorOther", .version = NODE, .kind = SY_STUB_OBJECT, .value = 8 },
	{ .name = "vendorPlain", .version = NULL, .kind = SY_STUB_REFUSE, .value = 1 },
};

struct fixture {
	char path[64];
	void *library;
};

static void write_file(char *path, const struct sy_bytes *image)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image->data, image->used), (ssize_t)image->used);
	close(fd);
}

static int load(void **state)
{
	static struct fixture fixture;
	struct sy_bytes image = { .data = NULL };

	assert_int_equal(sy_stub_library(SONAME, "setenv", stubs, sizeof(stubs) / sizeof(stubs[0]), &image), 0);
	snprintf(fixture.path, sizeof(fixture.path), "/tmp/synctally-stub-XXXXXX");
	write_file(fixture.path, &image);
	sy_bytes_free(&image);
	fixture.library = dlopen(fixture.path, RTLD_NOW | RTLD_LOCAL);
	if (!fixture.library)
		fail_msg("%s", dlerror());
	*state = &fixture;
	return 0;
}

static int unload(void **state)
{
	struct fixture *fixture = *state;

	dlclose(fixture->library);
	unlink(fixture->path);
	return 0;
}

static any_fn function(struct fixture *fixture, const char *name)
{
	void *address = dlsym(fixture->library, name);
	any_fn fn;

	if (!address)
		fail_msg("%s", dlerror());
	memcpy(&fn, &address, sizeof(fn));
	return fn;
}

static void refusals_name_library_and_function(void **state)
{
	/* The address only has to be true: setenv() reads its third argument as "overwrite". */
	void *overwrite = *state;

	unsetenv(SONAME);
	assert_int_equal(function(*state, "vendorDo")(NULL, NULL, overwrite), 3000);
	assert_string_equal(getenv(SONAME), "vendorDo");
	assert_int_equal(function(*state, "vendorRead")(NULL, NULL, overwrite), -5007);
	assert_string_equal(getenv(SONAME), "vendorRead");
	assert_int_equal(function(*state, "vendorPlain")(NULL, NULL, overwrite), 1);
	assert_string_equal(getenv(SONAME), "vendorPlain");
}

static void answers_are_given_silently(void **state)
{
	char text[8] = "dirty", *answer = NULL;
	int first = -1, second = -1;

	unsetenv(SONAME);
	assert_int_equal(function(*state, "vendorVersion")(NULL, NULL, NULL), 92000);
	assert_non_null(strstr((const char *)(intptr_t)function(*state, "vendorText")(NULL, NULL, NULL), "simulated"));
	assert_int_equal(function(*state, "vendorOutInt")(NULL, NULL, &first), 0);
	assert_int_equal(first, 22907);
	assert_int_equal(function(*state, "vendorOutInt")(NULL, NULL, NULL), 0);
	assert_int_equal(function(*state, "vendorOutTwo")(&first, &second, NULL), 0);
	assert_int_equal(first, 13);
	assert_int_equal(second, 2);
	assert_int_equal(function(*state, "vendorOutText")(NULL, &answer, NULL), 0);
	assert_non_null(strstr(answer, "simulated"));
	assert_int_equal(function(*state, "vendorOutText")(NULL, NULL, NULL), 0);
	function(*state, "vendorEmptyText")(text, NULL, NULL);
	assert_string_equal(text, "dirty");
	function(*state, "vendorEmptyText")(text, (void *)sizeof(text), NULL);
	assert_string_equal(text, "");
	assert_null(getenv(SONAME));
}

static void properties_are_major_minor_patch(void **state)
{
	static const int expected[] = { 9, 20, 1 };
	uintptr_t which;
	int value = -1;

	for (which = 0; which < 3; which++) {
		assert_int_equal(function(*state, "vendorProperty")((void *)which, &value, NULL), 0);
		assert_int_equal(value, expected[which]);
	}
	assert_int_equal(function(*state, "vendorProperty")((void *)3, &value, NULL), 7);
	assert_int_equal(value, 1);
}

static void objects_are_separate_writable_zeros(void **state)
{
	struct fixture *fixture = *state;
	unsigned char *object = dlsym(fixture->library, "vendorObject");
	unsigned char *other = dlsym(fixture->library, "vendorOther");
	size_t i;

	assert_non_null(object);
	assert_non_null(other);
	for (i = 0; i < 5000; i++)
		assert_int_equal(object[i], 0);
	assert_true(other >= object + 5000 || other + 8 <= object);
	memset(object, 0xff, 5000);
	for (i = 0; i < 8; i++)
		assert_int_equal(other[i], 0);
	memset(object, 0, 5000);
}

static void version_nodes_are_kept_apart(void **state)
{
	struct fixture *fixture = *state;

	assert_non_null(dlvsym(fixture->library, "vendorDo", NODE));
	assert_non_null(dlvsym(fixture->library, "vendorOutText", "VENDOR_10"));
	assert_null(dlvsym(fixture->library, "vendorDo", "VENDOR_10"));
	assert_null(dlvsym(fixture->library, "vendorDo", "VENDOR_8"));
	assert_null(dlvsym(fixture->library, "vendorPlain", NODE));
	assert_null(dlsym(fixture->library, "vendorAbsent"));
}

static int note_export(const struct sy_elf_entry *entry, void *context)
{
	size_t i, *n_seen = context;

	for (i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++) {
		if (strcmp(entry->name, stubs[i].name) == 0) {
			assert_int_equal(entry->is_object, stubs[i].kind == SY_STUB_OBJECT);
			++*n_seen;
			return 0;
		}
	}
	fail_msg("%s was never asked for", entry->name);
	return -1;
}

static void libelf_reads_what_was_written(void **state)
{
	struct fixture *fixture = *state;
	struct sy_elf *elf;
	size_t n_seen = 0;
	char err[256];

	elf = sy_elf_open(fixture->path, err, sizeof(err));
	assert_non_null(elf);
	assert_int_equal(sy_elf_each_export(elf, note_export, &n_seen), 0);
	assert_int_equal(n_seen, sizeof(stubs) / sizeof(stubs[0]));
	sy_elf_close(elf);
}

static void an_absent_import_leaves_the_bare_status(void **state)
{
	static const struct sy_stub one = { .name = "lonelyDo", .kind = SY_STUB_REFUSE, .value = 15 };
	struct sy_bytes image = { .data = NULL };
	char path[] = "/tmp/synctally-stub-XXXXXX";
	struct fixture fixture = { .library = NULL };

	(void)state;
	assert_int_equal(sy_stub_library("liblonely.so.1", "sy_nobody_defines_this", &one, 1, &image), 0);
	write_file(path, &image);
	sy_bytes_free(&image);
	fixture.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(fixture.library);
	assert_int_equal(function(&fixture, "lonelyDo")(NULL, NULL, NULL), 15);
	dlclose(fixture.library);
	unlink(path);
}

static void too_many_version_nodes_are_an_error(void **state)
{
	struct sy_stub many[SY_ELF_MAX_VERSIONS + 1];
	char nodes[SY_ELF_MAX_VERSIONS + 1][8];
	struct sy_bytes image = { .data = NULL };
	size_t i;

	(void)state;
	memset(many, 0, sizeof(many));
	for (i = 0; i < SY_ELF_MAX_VERSIONS + 1; i++) {
		snprintf(nodes[i], sizeof(nodes[i]), "V%zu", i);
		many[i].name = "same";
		many[i].version = nodes[i];
	}
	assert_int_equal(sy_stub_library("libmany.so.1", "setenv", many, SY_ELF_MAX_VERSIONS, &image), 0);
	sy_bytes_free(&image);
	assert_int_equal(sy_stub_library("libmany.so.1", "setenv", many, SY_ELF_MAX_VERSIONS + 1, &image), -1);
	sy_bytes_free(&image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refusals_name_library_and_function, load, unload),
		cmocka_unit_test_setup_teardown(answers_are_given_silently, load, unload),
		cmocka_unit_test_setup_teardown(properties_are_major_minor_patch, load, unload),
		cmocka_unit_test_setup_teardown(objects_are_separate_writable_zeros, load, unload),
		cmocka_unit_test_setup_teardown(version_nodes_are_kept_apart, load, unload),
		cmocka_unit_test_setup_teardown(libelf_reads_what_was_written, load, unload),
		cmocka_unit_test(an_absent_import_leaves_the_bare_status),
		cmocka_unit_test(too_many_version_nodes_are_an_error),
	};

	return cmocka_run_group_tests_name("stubgen", tests, NULL, NULL);
}
