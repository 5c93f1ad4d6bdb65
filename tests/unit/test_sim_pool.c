/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_pool.c - memory pools: what is used, what is kept, when it is given back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/sim_fixture.h"

#define MIB ((size_t)1 << 20)
#define DEVICE_BYTES (256 * MIB)

static CUmemoryPool create(size_t max_bytes)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		                 .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
		                 .maxSize = max_bytes };
	CUmemoryPool pool;

	ok(cuMemPoolCreate(&pool, &props));
	return pool;
}

static uint64_t count(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = 0;

	ok(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static size_t free_bytes(void)
{
	size_t left, total;

	ok(cuMemGetInfo_v2(&left, &total));
	assert_int_equal(total, DEVICE_BYTES);
	return left;
}

static CUdeviceptr alloc(CUmemoryPool pool, size_t bytes)
{
	CUdeviceptr ptr;

	ok(cuMemAllocFromPoolAsync(&ptr, bytes, pool, NULL));
	return ptr;
}

static void a_pool_keeps_memory_until_a_wait(void **state)
{
	CUmemoryPool pool = create(0);
	size_t before = free_bytes();
	CUdeviceptr ptr = alloc(pool, 8 * MIB);

	(void)state;
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 8 * MIB);
	assert_int_equal(before - free_bytes(), 8 * MIB);
	ok(cuMemFreeAsync(ptr, NULL));
	ok(cuStreamSynchronize(NULL));
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 8 * MIB);
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 8 * MIB);
	assert_int_equal(free_bytes(), before);
	ok(cuMemPoolDestroy(pool));
}

static void a_threshold_keeps_it_longer_and_trimming_ends_it(void **state)
{
	CUmemoryPool pool = create(0);
	cuuint64_t all = UINT64_MAX, nothing = 0;
	size_t before = free_bytes();

	(void)state;
	ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	ok(cuMemFreeAsync(alloc(pool, 16 * MIB), NULL));
	ok(cuCtxSynchronize());
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 16 * MIB);
	assert_int_equal(before - free_bytes(), 16 * MIB);
	ok(cuMemPoolTrimTo(pool, 4 * MIB));
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 4 * MIB);
	ok(cuMemPoolTrimTo(pool, 0));
	assert_int_equal(free_bytes(), before);
	ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &nothing));
	assert_int_equal(count(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
	assert_int_equal(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &nothing),
	                 CUDA_ERROR_INVALID_VALUE);
	ok(cuMemPoolDestroy(pool));
}

static void what_is_kept_makes_room_for_what_is_needed(void **state)
{
	CUmemoryPool pool = create(0);
	cuuint64_t all = UINT64_MAX;
	CUdeviceptr ptr;

	(void)state;
	ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	ok(cuMemFreeAsync(alloc(pool, 200 * MIB), NULL));
	ok(cuCtxSynchronize());
	assert_true(free_bytes() < 100 * MIB);
	ok(cuMemAlloc_v2(&ptr, 200 * MIB));
	assert_true(free_bytes() < 100 * MIB);
	ok(cuMemFree_v2(ptr));
	ok(cuMemPoolDestroy(pool));
}

static void a_pool_has_its_limit(void **state)
{
	CUmemoryPool pool = create(4 * MIB);
	CUdeviceptr first = alloc(pool, 3 * MIB), second;

	(void)state;
	assert_int_equal(cuMemAllocFromPoolAsync(&second, 2 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	ok(cuMemFreeAsync(first, NULL));
	ok(cuStreamSynchronize(NULL));
	second = alloc(pool, 2 * MIB);
	/* Memory outlives its pool. */
	ok(cuMemPoolDestroy(pool));
	assert_int_equal(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAllocFromPoolAsync(&first, MIB, pool, NULL), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemsetD8_v2(second, 1, 2 * MIB));
	ok(cuMemFree_v2(second));
}

static void a_device_has_a_current_pool(void **state)
{
	CUmemoryPool pool = create(0), first, now, of;
	CUdeviceptr ptr;
	int flag = 0;

	(void)state;
	ok(cuDeviceGetDefaultMemPool(&first, 0));
	ok(cuDeviceGetMemPool(&now, 0));
	assert_ptr_equal(now, first);
	ok(cuDeviceSetMemPool(0, pool));
	ok(cuDeviceGetMemPool(&now, 0));
	assert_ptr_equal(now, pool);
	ok(cuMemAllocAsync(&ptr, MIB, NULL));
	ok(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, ptr));
	assert_ptr_equal(of, pool);
	assert_true(count(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) >= MIB);
	assert_int_equal(count(first, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	ok(cuMemFreeAsync(ptr, NULL));
	ok(cuStreamSynchronize(NULL));
	assert_int_equal(cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemPoolDestroy(pool));
	ok(cuDeviceGetMemPool(&now, 0));
	assert_ptr_equal(now, first);
	ok(cuMemPoolSetAttribute(first, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &flag));
	flag = 1;
	ok(cuMemPoolGetAttribute(first, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &flag));
	assert_int_equal(flag, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_keeps_memory_until_a_wait),
		cmocka_unit_test(a_threshold_keeps_it_longer_and_trimming_ends_it),
		cmocka_unit_test(what_is_kept_makes_room_for_what_is_needed),
		cmocka_unit_test(a_pool_has_its_limit),
		cmocka_unit_test(a_device_has_a_current_pool),
	};

	sim_fixture_start("clock=virtual,memory=268435456");
	sim_fixture_context();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
