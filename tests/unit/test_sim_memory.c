/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_memory.c - memory of the simulated device: who may touch it, what is in it, what it is called */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

static sigjmp_buf faulted;

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(faulted, 1);
}

static bool host_can_read(const volatile char *address)
{
	struct sigaction action = { .sa_handler = on_fault }, before;
	bool can_read = false;

	sigaction(SIGSEGV, &action, &before);
	if (sigsetjmp(faulted, 1) == 0) {
		(void)*address;
		can_read = true;
	}
	sigaction(SIGSEGV, &before, NULL);
	return can_read;
}

static void host_read_of_device_memory_faults(void **state)
{
	CUdeviceptr ptr;

	(void)state;
	ok(cuMemAlloc_v2(&ptr, 4096));
	assert_false(host_can_read((const char *)ptr));
	assert_true(host_can_read(synctally_sim_host_view((const void *)ptr)));
	ok(cuMemFree_v2(ptr));
}

static void the_same_calls_get_the_same_addresses(void **state)
{
	CUdeviceptr first[3], second[3];
	size_t sizes[3] = { 100, 3 << 20, 7000 };

	(void)state;
	for (int i = 0; i < 3; i++)
		ok(cuMemAlloc_v2(&first[i], sizes[i]));
	for (int i = 0; i < 3; i++)
		ok(cuMemFree_v2(first[i]));
	for (int i = 0; i < 3; i++)
		ok(cuMemAlloc_v2(&second[i], sizes[i]));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(first[i], second[i]);
		assert_int_equal(first[i] % 512, 0);
		ok(cuMemFree_v2(second[i]));
	}
}

static void recycled_memory_is_zero(void **state)
{
	unsigned char host[6000];
	size_t sizes[] = { 16, 5000, 6000 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		CUdeviceptr ptr, again;
		ok(cuMemAlloc_v2(&ptr, sizes[i]));
		ok(cuMemsetD8_v2(ptr, 0xff, sizes[i]));
		ok(cuMemFree_v2(ptr));
		ok(cuMemAlloc_v2(&again, sizes[i]));
		assert_int_equal(ptr, again);
		ok(cuMemcpyDtoH_v2(host, again, sizes[i]));
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(host[k], 0);
		ok(cuMemFree_v2(again));
	}
}

static void a_full_device_says_so_and_recovers(void **state)
{
	size_t free_bytes, total;
	CUdeviceptr all, more;

	(void)state;
	ok(cuMemGetInfo_v2(&free_bytes, &total));
	assert_int_equal(cuMemAlloc_v2(&more, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
	ok(cuMemAlloc_v2(&all, free_bytes / 2));
	assert_int_equal(cuMemAlloc_v2(&more, free_bytes), CUDA_ERROR_OUT_OF_MEMORY);
	ok(cuMemFree_v2(all));
	size_t after;
	ok(cuMemGetInfo_v2(&after, &total));
	assert_int_equal(after, free_bytes);
}

static void wrong_addresses_are_refused(void **state)
{
	CUdeviceptr ptr;
	char host[64];

	(void)state;
	ok(cuMemAlloc_v2(&ptr, 512));
	assert_int_equal(cuMemFree_v2(ptr + 8), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemcpyDtoH_v2(host, ptr + 510, 64), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemcpyHtoD_v2((CUdeviceptr)host, host, 8), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemsetD8_v2((CUdeviceptr)host, 0, 8), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(ptr));
	assert_int_equal(cuMemFree_v2(ptr), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(0));
}

static void kinds_of_memory(void **state)
{
	unsigned type;
	CUdeviceptr device, managed;
	void *pinned;
	static char registered[8192];

	(void)state;
	ok(cuMemAlloc_v2(&device, 16));
	ok(cuMemAllocManaged(&managed, 16, CU_MEM_ATTACH_GLOBAL));
	ok(cuMemAllocHost_v2(&pinned, 16));
	ok(cuMemHostRegister_v2(registered, sizeof registered, 0));
	ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 3));
	assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
	ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned + 3));
	assert_int_equal(type, CU_MEMORYTYPE_HOST);
	ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)registered + 5000));
	assert_int_equal(type, CU_MEMORYTYPE_HOST);
	ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
	assert_int_equal(type, 1);
	assert_int_equal(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&type),
	                 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister_v2(registered + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	ok(cuMemHostUnregister(registered));
	assert_int_equal(cuMemHostUnregister(registered), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	ok(cuMemFreeHost(pinned));
	assert_int_equal(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(managed));
	ok(cuMemFree_v2(device));
}

static void bytes_move_when_the_copy_completes(void **state)
{
	int *pinned, value = 7;
	CUdeviceptr ptr;
	CUstream stream;

	(void)state;
	ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ok(cuMemAlloc_v2(&ptr, sizeof value));
	ok(cuMemAllocHost_v2((void **)&pinned, sizeof value));
	ok(cuMemcpyHtoD_v2(ptr, &value, sizeof value));
	*pinned = 1;
	ok(cuMemcpyDtoHAsync_v2(pinned, ptr, sizeof value, stream));
	assert_int_equal(*pinned, 1);
	ok(cuStreamSynchronize(stream));
	assert_int_equal(*pinned, 7);
	/* A pinned source is read late as well: what the program overwrites is what arrives. */
	*pinned = 8;
	ok(cuMemcpyHtoDAsync_v2(ptr, pinned, sizeof value, stream));
	*pinned = 9;
	ok(cuMemcpyDtoHAsync_v2(&value, ptr, sizeof value, stream));
	assert_int_equal(value, 9);
	/* A pageable source is staged: overwriting it is safe. */
	value = 10;
	ok(cuMemcpyHtoDAsync_v2(ptr, &value, sizeof value, stream));
	value = 11;
	ok(cuMemcpyDtoH_v2(&value, ptr, sizeof value));
	assert_int_equal(value, 10);
	ok(cuMemFreeHost(pinned));
	ok(cuMemFree_v2(ptr));
	ok(cuStreamDestroy_v2(stream));
}

static void planes_are_copied_row_by_row(void **state)
{
	unsigned char from[4][10], to[4][6];
	CUdeviceptr ptr;
	size_t pitch;

	(void)state;
	for (unsigned i = 0; i < sizeof from; i++)
		from[i / 10][i % 10] = (unsigned char)i;
	ok(cuMemAllocPitch_v2(&ptr, &pitch, 6, 4, 4));
	CUDA_MEMCPY2D up = { .srcMemoryType = CU_MEMORYTYPE_HOST,
		             .srcHost = from,
		             .srcPitch = 10,
		             .srcXInBytes = 2,
		             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		             .dstDevice = ptr,
		             .dstPitch = pitch,
		             .WidthInBytes = 6,
		             .Height = 4 };
	ok(cuMemcpy2D_v2(&up));
	CUDA_MEMCPY2D down = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
		               .srcDevice = ptr,
		               .srcPitch = pitch,
		               .dstMemoryType = CU_MEMORYTYPE_HOST,
		               .dstHost = to,
		               .dstPitch = 6,
		               .WidthInBytes = 6,
		               .Height = 4 };
	ok(cuMemcpy2D_v2(&down));
	for (unsigned y = 0; y < 4; y++)
		assert_memory_equal(to[y], &from[y][2], 6);
	ok(cuMemsetD2D16_v2(ptr, pitch, 0x0201, 2, 4));
	ok(cuMemcpy2D_v2(&down));
	for (unsigned y = 0; y < 4; y++)
		assert_memory_equal(to[y], ((unsigned char[]){ 1, 2, 1, 2, from[y][6], from[y][7] }), 6);
	ok(cuMemFree_v2(ptr));
}

static void ordered_memory_ends_when_its_stream_gets_there(void **state)
{
	CUstream stream;
	CUdeviceptr first, second;
	CUfunction kernel = sim_fixture_kernel("k");

	(void)state;
	ok(cuStreamCreate(&stream, 0));
	ok(cuMemAllocAsync(&first, 1000, stream));
	sim_fixture_launch(kernel, stream);
	ok(cuMemFreeAsync(first, stream));
	assert_int_equal(cuMemFreeAsync(first, stream), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemAlloc_v2(&second, 1000));
	assert_int_not_equal(first, second);
	ok(cuStreamSynchronize(stream));
	ok(cuMemFree_v2(second));
	ok(cuMemAlloc_v2(&second, 1000));
	assert_int_equal(first, second);
	ok(cuMemFree_v2(second));
	ok(cuStreamDestroy_v2(stream));
}

static void a_forked_child_has_no_device(void **state)
{
	CUdeviceptr ptr;
	int status;

	(void)state;
	pid_t child = fork();
	if (child == 0)
		_exit(cuMemAlloc_v2(&ptr, 16) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_read_of_device_memory_faults),
		cmocka_unit_test(the_same_calls_get_the_same_addresses),
		cmocka_unit_test(recycled_memory_is_zero),
		cmocka_unit_test(a_full_device_says_so_and_recovers),
		cmocka_unit_test(wrong_addresses_are_refused),
		cmocka_unit_test(kinds_of_memory),
		cmocka_unit_test(bytes_move_when_the_copy_completes),
		cmocka_unit_test(planes_are_copied_row_by_row),
		cmocka_unit_test(ordered_memory_ends_when_its_stream_gets_there),
		cmocka_unit_test(a_forked_child_has_no_device),
	};

	sim_fixture_start("clock=virtual,memory=1073741824");
	sim_fixture_context();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
