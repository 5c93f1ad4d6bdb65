/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_readback.c - what a small readback shows after kernels that do not compute (policy zero) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

static CUfunction kernel;
static CUdeviceptr ptr;

static uint64_t read_back(CUdeviceptr from)
{
	uint64_t value = UINT64_MAX;

	ok(cuMemcpyDtoH_v2(&value, from, sizeof value));
	return value;
}

static void upload(CUdeviceptr to, uint64_t value)
{
	ok(cuMemcpyHtoD_v2(to, &value, sizeof value));
}

static void without_a_kernel_all_is_what_was_written(void **state)
{
	(void)state;
	upload(ptr, 42);
	assert_int_equal(read_back(ptr), 42);
	ok(cuMemcpyDtoD_v2(ptr + 64, ptr, 8));
	assert_int_equal(read_back(ptr + 64), 42);
	assert_int_equal(read_back(ptr + 128), 0);
}

static void a_kernel_makes_everything_unknown(void **state)
{
	unsigned char large[32];

	(void)state;
	upload(ptr, 42);
	sim_fixture_launch(kernel, 0);
	assert_int_equal(read_back(ptr), 0);
	/* Only small readbacks decide about a program's way; a large one shows what is there. */
	ok(cuMemcpyDtoH_v2(large, ptr, sizeof large));
	assert_int_equal(large[0], 42);
}

static void what_is_written_afterwards_is_shown(void **state)
{
	(void)state;
	sim_fixture_launch(kernel, 0);
	upload(ptr, 43);
	ok(cuMemsetD8_v2(ptr + 8, 1, 8));
	assert_int_equal(read_back(ptr), 43);
	assert_int_equal(read_back(ptr + 8), 0x0101010101010101);
	/* Two neighbouring writes make one known range. */
	assert_int_equal(read_back(ptr + 4), (uint64_t)0x01010101 << 32);
	/* Half known is not known. */
	assert_int_equal(read_back(ptr + 12), 0);
}

static void a_copy_inside_the_device_hands_on_what_is_known(void **state)
{
	(void)state;
	upload(ptr, 44);
	sim_fixture_launch(kernel, 0);
	upload(ptr + 64, 45);
	ok(cuMemcpyDtoD_v2(ptr + 128, ptr + 64, 8));
	assert_int_equal(read_back(ptr + 128), 45);
	/* The kernel may have changed the source: the destination is not known any more. */
	ok(cuMemcpyDtoD_v2(ptr + 128, ptr, 8));
	assert_int_equal(read_back(ptr + 128), 0);
}

static void order_of_submission_counts_not_of_completion(void **state)
{
	uint64_t *pinned;

	(void)state;
	ok(cuMemAllocHost_v2((void **)&pinned, sizeof *pinned));
	upload(ptr, 46);
	*pinned = 1;
	ok(cuMemcpyDtoHAsync_v2(pinned, ptr, sizeof *pinned, 0));
	sim_fixture_launch(kernel, 0);
	ok(cuCtxSynchronize());
	assert_int_equal(*pinned, 46);
	ok(cuMemFreeHost(pinned));
}

static void nothing(const struct synctally_sim_launch *launch)
{
	(void)launch;
}

static void kernels_that_compute_leave_things_known(void **state)
{
	struct synctally_sim_kernel desc = { .name = "computes", .run = nothing };

	(void)state;
	assert_int_equal(synctally_sim_register_kernel(&desc), 0);
	CUfunction computes = sim_fixture_kernel("computes");
	upload(ptr, 47);
	sim_fixture_launch(computes, 0);
	assert_int_equal(read_back(ptr), 47);
}

static void a_failed_launch_changes_nothing(void **state)
{
	(void)state;
	upload(ptr, 48);
	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 2000, 1, 1, 0, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(read_back(ptr), 48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_kernel_all_is_what_was_written),
		cmocka_unit_test(a_kernel_makes_everything_unknown),
		cmocka_unit_test(what_is_written_afterwards_is_shown),
		cmocka_unit_test(a_copy_inside_the_device_hands_on_what_is_known),
		cmocka_unit_test(order_of_submission_counts_not_of_completion),
		cmocka_unit_test(kernels_that_compute_leave_things_known),
		cmocka_unit_test(a_failed_launch_changes_nothing),
	};

	sim_fixture_start("clock=virtual");
	sim_fixture_context();
	kernel = sim_fixture_kernel("only takes time");
	ok(cuMemAlloc_v2(&ptr, 4096));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
