/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_vmm.c - virtual memory management: addresses, physical memory, mappings and who may use them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

#define MIB ((size_t)1 << 20)
#define PIECE (2 * MIB)

static CUmemGenericAllocationHandle create(size_t bytes)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		                     .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 } };
	CUmemGenericAllocationHandle handle;
	size_t granularity = 0;

	ok(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	assert_int_equal(granularity, PIECE);
	ok(cuMemCreate(&handle, bytes, &prop, 0));
	return handle;
}

static CUresult allow(CUdeviceptr at, size_t bytes)
{
	CUmemAccessDesc desc = { { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 }, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };

	return cuMemSetAccess(at, bytes, &desc, 1);
}

static void two_pieces_side_by_side_are_one_memory(void **state)
{
	static char out[64], in[64];
	CUmemGenericAllocationHandle first = create(PIECE), second = create(PIECE);
	CUdeviceptr at;

	(void)state;
	ok(cuMemAddressReserve(&at, 4 * PIECE, 0, 0, 0));
	ok(cuMemMap(at, PIECE, 0, first, 0));
	ok(cuMemMap(at + PIECE, PIECE, 0, second, 0));
	ok(allow(at, 2 * PIECE));
	/* A copy across the seam. */
	memset(in, 7, sizeof in);
	ok(cuMemcpyHtoD_v2(at + PIECE - 32, in, 64));
	ok(cuMemcpyDtoH_v2(out, at + PIECE - 32, 64));
	assert_memory_equal(in, out, 64);
	/* Beyond the second piece nothing is mapped. */
	assert_int_equal(cuMemcpyHtoD_v2(at + 2 * PIECE - 32, in, 64), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(at, 2 * PIECE));
	ok(cuMemAddressFree(at, 4 * PIECE));
	ok(cuMemRelease(first));
	ok(cuMemRelease(second));
}

static void nobody_may_use_it_before_access_is_given(void **state)
{
	CUmemGenericAllocationHandle handle = create(PIECE);
	CUmemLocation here = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 };
	unsigned long long flags = 9;
	CUdeviceptr at;
	char byte = 1;

	(void)state;
	ok(cuMemAddressReserve(&at, PIECE, 0, 0, 0));
	assert_int_equal(cuMemcpyHtoD_v2(at, &byte, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemMap(at, PIECE, 0, handle, 0));
	assert_int_equal(cuMemcpyHtoD_v2(at, &byte, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemGetAccess(&flags, &here, at));
	assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
	/* Half a mapping can not have other rights. */
	assert_int_equal(allow(at, PIECE / 2), CUDA_ERROR_INVALID_VALUE);
	ok(allow(at, PIECE));
	ok(cuMemGetAccess(&flags, &here, at));
	assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	ok(cuMemcpyHtoD_v2(at, &byte, 1));
	ok(cuMemUnmap(at, PIECE));
	assert_int_equal(cuMemcpyHtoD_v2(at, &byte, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemAddressFree(at, PIECE));
	ok(cuMemRelease(handle));
}

static void physical_memory_lives_as_long_as_handle_or_mapping(void **state)
{
	CUmemGenericAllocationHandle handle = create(4 * PIECE), again;
	size_t before, during, after, total;
	CUdeviceptr at, other;
	int value = 42, seen = 0;

	(void)state;
	ok(cuMemGetInfo_v2(&during, &total));
	ok(cuMemAddressReserve(&at, 4 * PIECE, 0, 0, 0));
	ok(cuMemAddressReserve(&other, 4 * PIECE, 0, 0, 0));
	ok(cuMemMap(at, 4 * PIECE, 0, handle, 0));
	ok(allow(at, 4 * PIECE));
	ok(cuMemRelease(handle));
	assert_int_equal(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemcpyHtoD_v2(at, &value, sizeof value));
	/* The mapping knows its handle; a second mapping of it shows the same bytes. */
	ok(cuMemRetainAllocationHandle(&again, (void *)(at + 100)));
	assert_int_equal(again, handle);
	ok(cuMemMap(other, 4 * PIECE, 0, again, 0));
	ok(allow(other, 4 * PIECE));
	ok(cuMemcpyDtoH_v2(&seen, other, sizeof seen));
	assert_int_equal(seen, 42);
	ok(cuMemUnmap(at, 4 * PIECE));
	ok(cuMemUnmap(other, 4 * PIECE));
	ok(cuMemGetInfo_v2(&before, &total));
	assert_int_equal(before, during);
	ok(cuMemRelease(again));
	ok(cuMemGetInfo_v2(&after, &total));
	assert_int_equal(after, during + 4 * PIECE);
	ok(cuMemAddressFree(at, 4 * PIECE));
	ok(cuMemAddressFree(other, 4 * PIECE));
}

static void what_makes_no_sense_is_refused(void **state)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		                     .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 } };
	CUmemGenericAllocationHandle handle = create(PIECE), big;
	CUdeviceptr at, wished;

	(void)state;
	assert_int_equal(cuMemAddressReserve(&at, 1000, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemCreate(&big, 1000, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemCreate(&big, (size_t)1 << 50, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
	prop.location.id = 9;
	assert_int_equal(cuMemCreate(&big, PIECE, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
	ok(cuMemAddressReserve(&at, 2 * PIECE, 0, 0, 0));
	assert_int_equal(cuMemMap(at, 2 * PIECE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemMap(at + 4096, PIECE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemMap(at, PIECE, 0, handle, 0));
	assert_int_equal(cuMemMap(at, PIECE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemUnmap(at, 2 * PIECE), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemFree_v2(at), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAddressFree(at, 2 * PIECE), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemUnmap(at, PIECE));
	ok(cuMemAddressFree(at, 2 * PIECE));
	assert_int_equal(cuMemAddressFree(at, 2 * PIECE), CUDA_ERROR_INVALID_VALUE);
	/* A place wished for is given if it is free. */
	ok(cuMemAddressReserve(&wished, PIECE, 0, at + PIECE, 0));
	assert_int_equal(wished, at + PIECE);
	ok(cuMemAddressFree(wished, PIECE));
	ok(cuMemRelease(handle));
}

static void unmapping_waits_for_nothing_and_loses_nothing(void **state)
{
	CUmemGenericAllocationHandle handle = create(PIECE);
	CUstream stream;
	CUdeviceptr at, kept;
	int out = 0;

	(void)state;
	ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ok(cuMemAlloc_v2(&kept, 64));
	ok(cuMemAddressReserve(&at, PIECE, 0, 0, 0));
	ok(cuMemMap(at, PIECE, 0, handle, 0));
	ok(allow(at, PIECE));
	ok(cuMemsetD32_v2(at, 77, 1));
	sim_fixture_launch(sim_fixture_kernel("long"), stream);
	ok(cuMemcpyDtoDAsync_v2(kept, at, 4, stream));
	uint64_t before = synctally_sim_now();
	ok(cuMemUnmap(at, PIECE));
	/* A call's own time, and not the microseconds of kernel and copy. */
	assert_true(synctally_sim_now() - before < 1000);
	ok(cuStreamSynchronize(stream));
	ok(cuMemcpyDtoH_v2(&out, kept, 4));
	assert_int_equal(out, 77);
	ok(cuMemRelease(handle));
	ok(cuMemAddressFree(at, PIECE));
	ok(cuMemFree_v2(kept));
	ok(cuStreamDestroy_v2(stream));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_pieces_side_by_side_are_one_memory),
		cmocka_unit_test(nobody_may_use_it_before_access_is_given),
		cmocka_unit_test(physical_memory_lives_as_long_as_handle_or_mapping),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(unmapping_waits_for_nothing_and_loses_nothing),
	};

	/* What kernels might have written is read as it is: a copy is looked at. */
	sim_fixture_start("clock=virtual,readback=stale");
	sim_fixture_context();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
