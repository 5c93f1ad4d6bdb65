/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_runtime.c - the runtime face: last error, stubs, symbols, properties, and finding the driver */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

/* What nvcc's start-up code calls; its header needs a C++ compiler. */
void **__cudaRegisterFatBinary(void *image);
void __cudaUnregisterFatBinary(void **binary);
void __cudaRegisterFunction(void **binary, const char *stub, char *device_stub, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **binary, char *shadow, char *device_address, const char *name, int is_extern, size_t bytes,
                       int is_constant, int is_global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                               cudaStream_t stream);

static char image, stub, shadow;
static const dim3 one = { 1, 1, 1 };

static void failures_are_remembered_until_asked(void **state)
{
	void *ptr = &ptr;

	(void)state;
	assert_int_equal(cudaFree((void *)8), cudaErrorInvalidValue);
	assert_int_equal(cudaMalloc(&ptr, 0), cudaSuccess);
	assert_null(ptr);
	assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidValue);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	assert_string_equal(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
	assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

static void not_ready_is_an_answer(void **state)
{
	struct synctally_sim_kernel kernel = { .name = "slow", .stub = &stub, .device_ns = 1000000 };

	(void)state;
	assert_int_equal(synctally_sim_register_kernel(&kernel), 0);
	assert_int_equal(cudaLaunchKernel(&stub, one, one, NULL, 0, 0), cudaSuccess);
	assert_int_equal(cudaStreamQuery(0), cudaErrorNotReady);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
	assert_int_equal(cudaStreamQuery(0), cudaSuccess);
}

static void compiled_kernels_are_found_by_their_stub(void **state)
{
	static char compiled;
	struct cudaFuncAttributes attributes;
	cudaKernel_t kernel;
	int blocks;

	(void)state;
	assert_int_equal(cudaLaunchKernel(&compiled, one, one, NULL, 0, 0), cudaErrorInvalidDeviceFunction);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
	void **binary = __cudaRegisterFatBinary(&image);
	__cudaRegisterFunction(binary, &compiled, &compiled, "compiled", -1, NULL, NULL, NULL, NULL, NULL);
	assert_int_equal(cudaLaunchKernel(&compiled, one, one, NULL, 0, 0), cudaSuccess);
	assert_int_equal(__cudaGetKernel(&kernel, &compiled), cudaSuccess);
	assert_int_equal(__cudaLaunchKernel(kernel, one, one, NULL, 0, 0), cudaSuccess);
	assert_int_equal(cudaFuncGetAttributes(&attributes, &compiled), cudaSuccess);
	assert_int_equal(attributes.maxThreadsPerBlock, 1024);
	assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &compiled, 512, 0), cudaSuccess);
	assert_int_equal(blocks, 3);
	__cudaUnregisterFatBinary(binary);
	assert_int_equal(__cudaGetKernel(&kernel, &compiled), cudaErrorInvalidDeviceFunction);
	cudaGetLastError();
}

static void configurations_nest(void **state)
{
	dim3 grid = { 2, 1, 1 }, block = { 3, 1, 1 }, got_grid, got_block;
	size_t shared;
	cudaStream_t stream;

	(void)state;
	assert_int_equal(__cudaPushCallConfiguration(one, one, 1, NULL), 0);
	assert_int_equal(__cudaPushCallConfiguration(grid, block, 2, cudaStreamPerThread), 0);
	assert_int_equal(__cudaPopCallConfiguration(&got_grid, &got_block, &shared, &stream), cudaSuccess);
	assert_int_equal(got_grid.x, 2);
	assert_int_equal(got_block.x, 3);
	assert_int_equal(shared, 2);
	assert_ptr_equal(stream, cudaStreamPerThread);
	assert_int_equal(__cudaPopCallConfiguration(&got_grid, &got_block, &shared, &stream), cudaSuccess);
	assert_int_equal(shared, 1);
	assert_int_equal(__cudaPopCallConfiguration(&got_grid, &got_block, &shared, &stream),
	                 cudaErrorMissingConfiguration);
	cudaGetLastError();
}

static void variables_have_room_on_the_device(void **state)
{
	int in = 77, out = 0;
	void *address;
	size_t bytes;

	(void)state;
	assert_int_equal(cudaGetSymbolAddress(&address, &shadow), cudaErrorInvalidSymbol);
	void **binary = __cudaRegisterFatBinary(&image);
	__cudaRegisterVar(binary, &shadow, &shadow, "variable", 0, 8, 0, 0);
	assert_int_equal(cudaMemcpyToSymbol(&shadow, &in, sizeof in, 4, cudaMemcpyHostToDevice), cudaSuccess);
	assert_int_equal(cudaGetSymbolAddress(&address, &shadow), cudaSuccess);
	assert_int_equal(cudaGetSymbolSize(&bytes, &shadow), cudaSuccess);
	assert_int_equal(bytes, 8);
	assert_int_equal(*(int *)((char *)synctally_sim_host_view(address) + 4), 0);
	assert_int_equal(cudaMemcpyFromSymbol(&out, &shadow, sizeof out, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_int_equal(cudaMemcpyToSymbol(&shadow, &in, sizeof in, 5, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	cudaGetLastError();
	__cudaUnregisterFatBinary(binary);
}

static void memory_kinds_in_the_runtimes_words(void **state)
{
	struct cudaPointerAttributes attributes;
	void *device, *pinned;
	int pageable = 0;

	(void)state;
	assert_int_equal(cudaPointerGetAttributes(&attributes, &pageable), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
	assert_ptr_equal(attributes.hostPointer, &pageable);
	assert_int_equal(cudaMalloc(&device, 8), cudaSuccess);
	assert_int_equal(cudaPointerGetAttributes(&attributes, device), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeDevice);
	assert_null(attributes.hostPointer);
	assert_int_equal(cudaMallocHost(&pinned, 8), cudaSuccess);
	assert_int_equal(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
	assert_int_equal(attributes.type, cudaMemoryTypeHost);
	assert_int_equal(cudaFree(device), cudaSuccess);
	assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
}

static void the_device_describes_itself(void **state)
{
	struct cudaDeviceProp properties;
	int n, major;

	(void)state;
	assert_int_equal(cudaGetDeviceCount(&n), cudaSuccess);
	assert_int_equal(n, 1);
	assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
	cudaGetLastError();
	assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
	assert_int_equal(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
	assert_int_equal(properties.major, major);
	assert_int_equal(properties.warpSize, 32);
}

static void driver_functions_are_found_by_version(void **state)
{
	void *address, *per_thread;
	enum cudaDriverEntryPointQueryResult status;

	(void)state;
	assert_int_equal(cudaGetDriverEntryPointByVersion("cuMemAlloc", &address, 13000, cudaEnableDefault, &status),
	                 cudaSuccess);
	assert_int_equal(status, cudaDriverEntryPointSuccess);
	assert_ptr_equal(address, (void *)(uintptr_t)&cuMemAlloc_v2);
	assert_int_equal(cudaGetDriverEntryPointByVersion("cuMemAlloc", &address, 1000, cudaEnableDefault, &status),
	                 cudaSuccess);
	assert_int_equal(status, cudaDriverEntryPointVersionNotSufficent);
	assert_int_equal(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &address, 13000, cudaEnableDefault, &status),
	                 cudaSuccess);
	assert_int_equal(status, cudaDriverEntryPointSymbolNotFound);
	assert_null(address);
	ok(cuGetProcAddress_v2("cuStreamSynchronize", &address, 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL));
	ok(cuGetProcAddress_v2("cuStreamSynchronize", &per_thread, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
	                       NULL));
	assert_ptr_not_equal(address, per_thread);
	ok(cuGetProcAddress_v2("cuInit", &per_thread, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	assert_ptr_equal(per_thread, (void *)(uintptr_t)&cuInit);
	assert_int_equal(cuGetExportTable((const void **)&address, NULL), CUDA_ERROR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_are_remembered_until_asked),
		cmocka_unit_test(not_ready_is_an_answer),
		cmocka_unit_test(compiled_kernels_are_found_by_their_stub),
		cmocka_unit_test(configurations_nest),
		cmocka_unit_test(variables_have_room_on_the_device),
		cmocka_unit_test(memory_kinds_in_the_runtimes_words),
		cmocka_unit_test(the_device_describes_itself),
		cmocka_unit_test(driver_functions_are_found_by_version),
	};

	sim_fixture_start("clock=virtual");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
