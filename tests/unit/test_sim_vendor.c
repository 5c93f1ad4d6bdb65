/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_vendor.c - the simulated cuFFT, cuSOLVER and cuSPARSE
 *
 * In virtual time: that a call submits exactly one kernel is seen by its
 * taking, from idle to idle, as long as a kernel launched by hand.
 */
#include "api/clock.h"

#include <cuda.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SUCCESS = 0 };
enum { C_32F = 4, R_32F = 0 };
enum { FFT_INVALID_PLAN = 1, FFT_INVALID_VALUE = 4, FFT_INVALID_SIZE = 8 };
enum { SOLVER_NOT_INITIALIZED = 1, SOLVER_INVALID_VALUE = 3 };
enum { SPARSE_NOT_INITIALIZED = 1, DEVICE_POINTERS = 1 };

/* The functions under test: their types, pointers of the same names, and a table to fill those. */
#define FFT_FUNCTIONS(F)                                                                                               \
	F(cufftCreate, (int *))                                                                                        \
	F(cufftDestroy, (int))                                                                                         \
	F(cufftSetStream, (int, CUstream))                                                                             \
	F(cufftXtMakePlanMany, (int, int, long long *, long long *, long long, long long, int, long long *, long long, \
	                        long long, int, long long, size_t *, int))                                             \
	F(cufftXtExec, (int, void *, void *, int))
#define SOLVER_FUNCTIONS(F)                                                                                            \
	F(cusolverDnCreate, (void **))                                                                                 \
	F(cusolverDnDestroy, (void *))                                                                                 \
	F(cusolverDnSetStream, (void *, CUstream))                                                                     \
	F(cusolverDnSpotrf_bufferSize, (void *, int, int, void *, int, int *))                                         \
	F(cusolverDnSpotrf, (void *, int, int, void *, int, void *, int, void *))                                      \
	F(cusolverDnSpotrfBatched, (void *, int, int, void *, int, void *, int))                                       \
	F(cusolverDnSgesvdaStridedBatched,                                                                             \
	  (void *, int, int, int, int, void *, int, long long, void *, long long, void *, int, long long, void *, int, \
	   long long, void *, int, void *, double *, int))                                                             \
	F(cusolverDnXpotrf_bufferSize, (void *, void *, int, int64_t, int, void *, int64_t, int, size_t *, size_t *))
#define SPARSE_FUNCTIONS(F)                                                                                            \
	F(cusparseCreate, (void **))                                                                                   \
	F(cusparseDestroy, (void *))                                                                                   \
	F(cusparseSetStream, (void *, CUstream))                                                                       \
	F(cusparseSetPointerMode, (void *, int))                                                                       \
	F(cusparseCreateCsr, (void **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int))         \
	F(cusparseCreateDnMat, (void **, int64_t, int64_t, int64_t, void *, int, int))                                 \
	F(cusparseDestroySpMat, (void *))                                                                              \
	F(cusparseDestroyDnMat, (void *))                                                                              \
	F(cusparseSpMatGetSize, (void *, int64_t *, int64_t *, int64_t *))                                             \
	F(cusparseSpMM, (void *, int, int, void *, void *, void *, void *, void *, int, int, void *))                  \
	F(cusparseSpGEMM_compute,                                                                                      \
	  (void *, int, int, void *, void *, void *, void *, void *, int, int, void *, size_t *, void *))              \
	F(cusparseXcsrgeam2Nnz,                                                                                        \
	  (void *, int, int, void *, int, void *, void *, void *, int, void *, void *, void *, void *, int *, void *)) \
	F(cusparseXbsrsv2_zeroPivot, (void *, void *, int *))

#define DECLARE(name, params) static int(*name) params;
FFT_FUNCTIONS(DECLARE)
SOLVER_FUNCTIONS(DECLARE)
SPARSE_FUNCTIONS(DECLARE)

static sy_virtual_clock_fn now;
static CUfunction kernel;
static CUstream stream;

static void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		fail_msg("%s", dlerror());
	memcpy(slot, &address, sizeof(address));
}

static void *open_library(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);

	if (!library)
		fail_msg("%s", dlerror());
	return library;
}

static int set_up(void **state)
{
	void *fft = open_library("libcufft.so.12"), *solver = open_library("libcusolver.so.12");
	void *sparse = open_library("libcusparse.so.12");
	CUcontext context;
	CUmodule module;
	CUdevice device;

	(void)state;
#define FIND_FFT(name, params) find(fft, #name, &name);
#define FIND_SOLVER(name, params) find(solver, #name, &name);
#define FIND_SPARSE(name, params) find(sparse, #name, &name);
	FFT_FUNCTIONS(FIND_FFT)
	SOLVER_FUNCTIONS(FIND_SOLVER)
	SPARSE_FUNCTIONS(FIND_SPARSE)
	find(RTLD_DEFAULT, SY_VIRTUAL_CLOCK_SYMBOL, &now);
	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
	assert_int_equal(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
	assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, "image"), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&kernel, module, "by_hand"), CUDA_SUCCESS);
	assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
	return 0;
}

/* Nanoseconds until what was submitted since `begin` is done. */
static uint64_t finish(uint64_t begin)
{
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	return now() - begin;
}

static uint64_t one_kernel_ns(void)
{
	uint64_t begin = (finish(0), now());

	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL), CUDA_SUCCESS);
	return finish(begin);
}

static uint64_t fft_ns(int plan)
{
	uint64_t begin = (finish(0), now());

	assert_int_equal(cufftXtExec(plan, NULL, NULL, -1), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	return finish(begin);
}

static void a_transform_is_one_kernel(void **state)
{
	long long n[] = { 1, 1, 1 };
	size_t n_work = 0;
	uint64_t small;
	int plan, other;

	(void)state;
	assert_int_equal(cufftCreate(&plan), SUCCESS);
	assert_int_equal(cufftSetStream(plan, stream), SUCCESS);
	assert_int_equal(cufftXtExec(plan, NULL, NULL, -1), FFT_INVALID_PLAN);
#define MAKE(rank, batch)                                                                                              \
	cufftXtMakePlanMany(plan, rank, n, NULL, 1, 1, C_32F, NULL, 1, 1, C_32F, batch, &n_work, C_32F)
	assert_int_equal(MAKE(1, 1), SUCCESS);
	assert_int_equal(n_work, 8);
	assert_int_equal(fft_ns(plan), one_kernel_ns());
	n[0] = n[1] = 1024;
	assert_int_equal(MAKE(2, 8), SUCCESS);
	small = fft_ns(plan) - one_kernel_ns();
	assert_int_equal(MAKE(2, 16), SUCCESS);
	assert_in_range(fft_ns(plan) - one_kernel_ns(), 2 * small - 2, 2 * small + 2);
	assert_int_equal(MAKE(4, 1), FFT_INVALID_VALUE);
	assert_int_equal(MAKE(1, 0), FFT_INVALID_SIZE);

	assert_int_equal(cufftCreate(&other), SUCCESS);
	assert_int_not_equal(other, plan);
	assert_int_equal(cufftDestroy(plan), SUCCESS);
	assert_int_equal(cufftXtExec(plan, NULL, NULL, -1), FFT_INVALID_PLAN);
	assert_int_equal(cufftDestroy(plan), FFT_INVALID_PLAN);
	assert_int_equal(cufftDestroy(other), SUCCESS);
	assert_int_equal(cufftDestroy(-1), FFT_INVALID_PLAN);
}

static void a_result_code_is_zero_once_the_solver_is_done(void **state)
{
	int seen[8], i, n_work = 0; /* too large for the rules of small readbacks */
	size_t device_bytes = 0, host_bytes = 7;
	CUdeviceptr info;
	void *solver;

	(void)state;
	assert_int_equal(cusolverDnCreate(&solver), SUCCESS);
	assert_int_equal(cusolverDnSetStream(solver, stream), SUCCESS);
	assert_int_equal(cuMemAlloc(&info, sizeof(seen)), CUDA_SUCCESS);
	assert_int_equal(cuMemsetD8(info, 0xff, sizeof(seen)), CUDA_SUCCESS);
	assert_int_equal(cusolverDnSpotrf_bufferSize(solver, 0, 64, NULL, 64, &n_work), SUCCESS);
	assert_true(n_work > 0);
	assert_int_equal(cusolverDnSpotrf(solver, 0, 64, NULL, 64, NULL, n_work, (void *)(uintptr_t)info), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	finish(0);
	assert_int_equal(cuMemcpyDtoH(seen, info, sizeof(seen)), CUDA_SUCCESS);
	assert_int_equal(seen[0], 0);
	assert_int_equal(seen[1], -1);
	assert_int_equal(cusolverDnSpotrfBatched(solver, 0, 8, NULL, 8, (void *)(uintptr_t)info, 3), SUCCESS);
	finish(0);
	assert_int_equal(cuMemcpyDtoH(seen, info, sizeof(seen)), CUDA_SUCCESS);
	for (i = 0; i < 8; i++)
		assert_int_equal(seen[i], i < 3 ? 0 : -1);
	assert_int_equal(
		cusolverDnXpotrf_bufferSize(solver, NULL, 0, 64, R_32F, NULL, 64, R_32F, &device_bytes, &host_bytes),
		SUCCESS);
	assert_true(device_bytes > 0);
	assert_int_equal(host_bytes, 0);
	assert_int_equal(cusolverDnSpotrf(NULL, 0, 1, NULL, 1, NULL, 1, NULL), SOLVER_NOT_INITIALIZED);
	assert_int_equal(cusolverDnSpotrfBatched(solver, 0, 1, NULL, 1, NULL, -1), SOLVER_INVALID_VALUE);
	assert_int_equal(cuMemFree(info), CUDA_SUCCESS);
	assert_int_equal(cusolverDnDestroy(solver), SUCCESS);
}

static void a_solver_waits_only_for_a_result_on_the_host(void **state)
{
	double residual[] = { 7, 7, 7 };
	void *solver;

	(void)state;
	assert_int_equal(cusolverDnCreate(&solver), SUCCESS);
	assert_int_equal(cusolverDnSetStream(solver, stream), SUCCESS);
#define GESVDA(result)                                                                                                 \
	cusolverDnSgesvdaStridedBatched(solver, 0, 4, 8, 4, NULL, 8, 32, NULL, 4, NULL, 8, 32, NULL, 4, 16, NULL, 0,   \
	                                NULL, result, 2)
	assert_int_equal(GESVDA(NULL), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(GESVDA(residual), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	assert_true(residual[0] == 0 && residual[1] == 0 && residual[2] == 7);
	assert_int_equal(cusolverDnDestroy(solver), SUCCESS);
}

static void *make_sparse(void)
{
	void *sparse;

	assert_int_equal(cusparseCreate(&sparse), SUCCESS);
	assert_int_equal(cusparseSetStream(sparse, stream), SUCCESS);
	return sparse;
}

static void a_sparse_product_is_one_kernel(void **state)
{
	void *sparse = make_sparse(), *a, *b;
	int64_t rows = 0, columns = 0, nnz = -1;
	uint64_t begin, expected = one_kernel_ns();
	size_t n_bytes = 0;
	char buffer[1];

	(void)state;
	assert_int_equal(cusparseCreateCsr(&a, 3, 4, 5, NULL, NULL, NULL, 0, 0, 0, R_32F), SUCCESS);
	assert_int_equal(cusparseCreateDnMat(&b, 0, 0, 1, NULL, R_32F, 0), SUCCESS);
	assert_int_equal(cusparseSpMatGetSize(a, &rows, &columns, &nnz), SUCCESS);
	assert_int_equal(rows, 3);
	assert_int_equal(columns, 4);
	assert_int_equal(nnz, 5);
	begin = (finish(0), now());
	assert_int_equal(cusparseSpMM(sparse, 0, 0, NULL, a, b, NULL, b, R_32F, 0, NULL), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(finish(begin), expected);
	assert_int_equal(cusparseSpMM(NULL, 0, 0, NULL, a, b, NULL, b, R_32F, 0, NULL), SPARSE_NOT_INITIALIZED);

	/* Asked for a size it submits nothing; the second call does. */
	assert_int_equal(cusparseSpGEMM_compute(sparse, 0, 0, NULL, a, a, NULL, a, R_32F, 0, NULL, &n_bytes, NULL),
	                 SUCCESS);
	assert_true(n_bytes > 0);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	assert_int_equal(cusparseSpGEMM_compute(sparse, 0, 0, NULL, a, a, NULL, a, R_32F, 0, NULL, &n_bytes, buffer),
	                 SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(cusparseDestroySpMat(a), SUCCESS);
	assert_int_equal(cusparseDestroyDnMat(b), SUCCESS);
	assert_int_equal(cusparseDestroy(sparse), SUCCESS);
}

static int count_sum(void *sparse, int *count)
{
	return cusparseXcsrgeam2Nnz(sparse, 3, 3, NULL, 3, NULL, NULL, NULL, 3, NULL, NULL, NULL, NULL, count, NULL);
}

static void counts_wait_only_with_host_pointers(void **state)
{
	void *sparse = make_sparse();
	CUdeviceptr on_device;
	int count = 7;

	(void)state;
	assert_int_equal(count_sum(sparse, &count), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	assert_int_equal(count, 0);

	assert_int_equal(cuMemAlloc(&on_device, sizeof(count)), CUDA_SUCCESS);
	assert_int_equal(cuMemsetD8(on_device, 0xff, sizeof(count)), CUDA_SUCCESS);
	assert_int_equal(cusparseSetPointerMode(sparse, DEVICE_POINTERS), SUCCESS);
	assert_int_equal(count_sum(sparse, (int *)(uintptr_t)on_device), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	finish(0);
	count = 7;
	assert_int_equal(cuMemcpyDtoH(&count, on_device, sizeof(count)), CUDA_SUCCESS);
	assert_int_equal(count, 0);
	assert_int_equal(cuMemFree(on_device), CUDA_SUCCESS);
	assert_int_equal(cusparseDestroy(sparse), SUCCESS);
}

static void looking_for_a_zero_waits_for_the_device(void **state)
{
	void *sparse = make_sparse();
	int position = 7;

	(void)state;
	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL), CUDA_SUCCESS);
	assert_int_equal(cusparseXbsrsv2_zeroPivot(sparse, NULL, &position), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	assert_int_equal(position, -1);
	assert_int_equal(cusparseDestroy(sparse), SUCCESS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transform_is_one_kernel),
		cmocka_unit_test(a_result_code_is_zero_once_the_solver_is_done),
		cmocka_unit_test(a_solver_waits_only_for_a_result_on_the_host),
		cmocka_unit_test(a_sparse_product_is_one_kernel),
		cmocka_unit_test(counts_wait_only_with_host_pointers),
		cmocka_unit_test(looking_for_a_zero_waits_for_the_device),
	};

	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	return cmocka_run_group_tests_name("sim_vendor", tests, set_up, NULL);
}
