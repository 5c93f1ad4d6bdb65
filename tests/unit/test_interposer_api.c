/* SPDX-License-Identifier: Apache-2.0 */
/* api/: looking up functions that are not intercepted. That the tables are complete: tests/test_api_table.py. */
#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void finds_every_row(void **state)
{
	(void)state;
	assert_true(sy_n_rest > 1000);
	for (unsigned i = 0; i < sy_n_rest; i++)
		assert_ptr_equal(sy_rest_find(sy_rest_desc[i].name), &sy_rest_desc[i]);
}

static void knows_nothing_of_what_is_intercepted(void **state)
{
	(void)state;
	for (unsigned api = 0; api < SY_N_API; api++)
		assert_null(sy_rest_find(sy_api_desc[api].name));
}

static void finds_nothing_for_other_names(void **state)
{
	static const char *const names[] = { "", "cu", "cuMemAlloc_", "cuMemAlloc_v9", "cudaFromTheFuture", "malloc" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(sy_rest_find(names[i]));
}

/* The headers make cuMemAlloc a macro for cuMemAlloc_v2, which is intercepted. */
static void an_old_version_keeps_its_name(void **state)
{
	(void)state;
	assert_non_null(sy_rest_find("cuMemAlloc"));
	assert_string_equal(sy_rest_find("cuMemAlloc")->name, "cuMemAlloc");
	assert_int_equal(sy_rest_find("cuMemAlloc")->effect, SY_EFFECT_MEMORY_KIND);
	assert_int_equal(sy_rest_find("cuMemFree")->effect, SY_EFFECT_ENDS_MEMORY);
	assert_int_equal(sy_rest_find("cuMemcpyDtoH")->effect, SY_EFFECT_WAITS);
}

static void a_per_thread_spelling_is_marked(void **state)
{
	const struct sy_rest_desc *plain = sy_rest_find("cuStreamWaitValue32_v2");
	const struct sy_rest_desc *spelled = sy_rest_find("cuStreamWaitValue32_v2_ptsz");

	(void)state;
	assert_non_null(plain);
	assert_non_null(spelled);
	assert_false(plain->is_per_thread);
	assert_true(spelled->is_per_thread);
	assert_int_equal(plain->effect, SY_EFFECT_SUBMITS);
	assert_int_equal(spelled->effect, SY_EFFECT_SUBMITS);
	assert_int_equal(spelled->lib, SY_LIB_DRV);
	assert_int_equal(sy_rest_find("cudaMemset3D_ptds")->lib, SY_LIB_RT);
}

/* What a stand-in goes by. */
static void effects_say_what_to_expect(void **state)
{
	(void)state;
	assert_true(sy_effect_desc[SY_EFFECT_SUBMITS].may_submit);
	assert_false(sy_effect_desc[SY_EFFECT_SUBMITS].may_wait);
	assert_true(sy_effect_desc[SY_EFFECT_MAY_WAIT].may_submit);
	assert_true(sy_effect_desc[SY_EFFECT_MAY_WAIT].may_wait);
	assert_false(sy_effect_desc[SY_EFFECT_HARMLESS].may_submit);
	assert_false(sy_effect_desc[SY_EFFECT_HARMLESS].may_wait);
	assert_string_equal(sy_effect_desc[SY_EFFECT_HARMLESS].name, "HARMLESS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_every_row),
		cmocka_unit_test(knows_nothing_of_what_is_intercepted),
		cmocka_unit_test(finds_nothing_for_other_names),
		cmocka_unit_test(an_old_version_keeps_its_name),
		cmocka_unit_test(a_per_thread_spelling_is_marked),
		cmocka_unit_test(effects_say_what_to_expect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
