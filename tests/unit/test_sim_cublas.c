/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_cublas.c - the simulated cuBLAS submits work and keeps state
 *
 * In virtual time: what a call costs the device is the difference of two
 * readings of the clock, and whether something was submitted is what
 * cuStreamQuery() says.
 */
#include "api/clock.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { HOST_POINTERS = 0, DEVICE_POINTERS = 1 };
enum { COMPUTE_32F = 68, R_32F = 0, LAYOUT_BATCH = 5 };

struct heuristic {
	uint64_t algorithm[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

static struct {
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_stream)(void *handle, CUstream stream);
	int (*get_stream)(void *handle, CUstream *stream);
	int (*set_pointer_mode)(void *handle, int mode);
	int (*get_math_mode)(void *handle, int *mode);
	int (*set_math_mode)(void *handle, int mode);
	int (*get_version)(void *handle, int *version);
	int (*sgemm)(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
	             const float *b, int ldb, const float *beta, float *c, int ldc);
	int (*sdot)(void *handle, int n, const float *x, int incx, const float *y, int incy, float *result);
	int (*rotg)(void *handle, float *a, float *b, float *c, float *s);
	int (*desc_create)(void **desc, int compute, int scale);
	int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
	int (*layout_set)(void *layout, int attribute, const void *value, size_t n_bytes);
	int (*layout_get)(void *layout, int attribute, void *value, size_t n_bytes, size_t *n_written);
	int (*layout_destroy)(void *layout);
	int (*desc_destroy)(void *desc);
	int (*heuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int n_wanted,
	                 struct heuristic *results, int *n_found);
	int (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *la, const void *b, void *lb,
	              const void *beta, const void *c, void *lc, void *d, void *ld, const void *algorithm,
	              void *workspace, size_t n_bytes, CUstream stream);
	sy_virtual_clock_fn now;
} fn;

static CUstream stream;
static void *handle;

static void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		fail_msg("%s", dlerror());
	memcpy(slot, &address, sizeof(address));
}

static int set_up(void **state)
{
	void *blas = dlopen("libcublas.so.13", RTLD_NOW), *lt = dlopen("libcublasLt.so.13", RTLD_NOW);
	CUcontext context;

	(void)state;
	if (!blas || !lt)
		fail_msg("%s", dlerror());
	find(blas, "cublasCreate_v2", &fn.create);
	find(blas, "cublasDestroy_v2", &fn.destroy);
	find(blas, "cublasSetStream_v2", &fn.set_stream);
	find(blas, "cublasGetStream_v2", &fn.get_stream);
	find(blas, "cublasSetPointerMode_v2", &fn.set_pointer_mode);
	find(blas, "cublasGetMathMode", &fn.get_math_mode);
	find(blas, "cublasSetMathMode", &fn.set_math_mode);
	find(blas, "cublasGetVersion_v2", &fn.get_version);
	find(blas, "cublasSgemm_v2", &fn.sgemm);
	find(blas, "cublasSdot_v2", &fn.sdot);
	find(blas, "cublasSrotg_v2", &fn.rotg);
	find(lt, "cublasLtMatmulDescCreate", &fn.desc_create);
	find(lt, "cublasLtMatrixLayoutCreate", &fn.layout_create);
	find(lt, "cublasLtMatrixLayoutSetAttribute", &fn.layout_set);
	find(lt, "cublasLtMatrixLayoutGetAttribute", &fn.layout_get);
	find(lt, "cublasLtMatrixLayoutDestroy", &fn.layout_destroy);
	find(lt, "cublasLtMatmulDescDestroy", &fn.desc_destroy);
	find(lt, "cublasLtMatmulAlgoGetHeuristic", &fn.heuristic);
	find(lt, "cublasLtMatmul", &fn.matmul);
	find(RTLD_DEFAULT, SY_VIRTUAL_CLOCK_SYMBOL, &fn.now);
	/* A program that begins with cuBLAS gets the context of device 0. */
	assert_int_equal(fn.create(&handle), SUCCESS);
	assert_int_equal(cuCtxGetCurrent(&context), CUDA_SUCCESS);
	assert_non_null(context);
	assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
	return fn.set_stream(handle, stream);
}

static int tear_down(void **state)
{
	(void)state;
	return fn.destroy(handle);
}

static int gemm(int m, int n, int k)
{
	static const float one = 1;

	return fn.sgemm(handle, 0, 0, m, n, k, &one, NULL, m, NULL, k, &one, NULL, m);
}

/* What a product takes on the device, from idle to idle. */
static uint64_t gemm_ns(int m, int n, int k)
{
	uint64_t begin;

	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	begin = fn.now();
	assert_int_equal(gemm(m, n, k), SUCCESS);
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	return fn.now() - begin;
}

static void a_product_is_work_on_the_stream(void **state)
{
	(void)state;
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	assert_int_equal(gemm(64, 64, 64), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
}

static void larger_products_take_longer(void **state)
{
	uint64_t small, large;

	(void)state;
	small = gemm_ns(1024, 1024, 1024);
	large = gemm_ns(4096, 4096, 4096);
	assert_true(large > 32 * small);
	assert_true(large < 64 * small);
}

static void sizes_are_checked(void **state)
{
	(void)state;
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	assert_int_equal(gemm(-1, 8, 8), INVALID_VALUE);
	assert_int_equal(gemm(0, 8, 8), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	/* beta times C is still to be computed */
	assert_int_equal(gemm(8, 8, 0), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(fn.sgemm(NULL, 0, 0, 1, 1, 1, NULL, NULL, 1, NULL, 1, NULL, NULL, 1), NOT_INITIALIZED);
}

static void numbers_wait_only_with_host_pointers(void **state)
{
	float result = 7;

	(void)state;
	assert_int_equal(fn.sdot(handle, 100, NULL, 1, NULL, 1, &result), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	assert_true(result == 0);

	result = 7;
	assert_int_equal(fn.set_pointer_mode(handle, DEVICE_POINTERS), SUCCESS);
	assert_int_equal(fn.sdot(handle, 100, NULL, 1, NULL, 1, &result), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_true(result == 7);
	assert_int_equal(fn.set_pointer_mode(handle, HOST_POINTERS), SUCCESS);
	assert_int_equal(fn.sdot(handle, 100, NULL, 1, NULL, 1, NULL), INVALID_VALUE);
}

static void state_is_kept(void **state)
{
	CUstream found = NULL;
	int mode = 0, version = 0;

	(void)state;
	assert_int_equal(fn.get_stream(handle, &found), SUCCESS);
	assert_ptr_equal(found, stream);
	assert_int_equal(fn.set_math_mode(handle, 3), SUCCESS);
	assert_int_equal(fn.get_math_mode(handle, &mode), SUCCESS);
	assert_int_equal(mode, 3);
	assert_int_equal(fn.get_version(NULL, &version), SUCCESS);
	assert_int_equal(version / 10000, 13);
	assert_int_equal(fn.get_version(handle, NULL), INVALID_VALUE);
}

static void the_rest_refuses(void **state)
{
	(void)state;
	assert_int_equal(fn.rotg(handle, NULL, NULL, NULL, NULL), NOT_SUPPORTED);
}

static void a_handle_serves_lt_too(void **state)
{
	void *desc, *a, *b, *d;
	struct heuristic result;
	uint64_t begin, one_ns, eight_ns;
	const int eight = 8;
	int n_found = 0, batch = 0;
	size_t n_written = 0;

	(void)state;
	assert_int_equal(fn.desc_create(&desc, COMPUTE_32F, R_32F), SUCCESS);
	assert_int_equal(fn.layout_create(&a, R_32F, 2048, 2048, 2048), SUCCESS);
	assert_int_equal(fn.layout_create(&b, R_32F, 2048, 2048, 2048), SUCCESS);
	assert_int_equal(fn.layout_create(&d, R_32F, 2048, 2048, 2048), SUCCESS);
	memset(&result, 0xff, sizeof(result));
	assert_int_equal(fn.heuristic(handle, desc, a, b, d, d, NULL, 1, &result, &n_found), SUCCESS);
	assert_int_equal(n_found, 1);
	assert_int_equal(result.state, SUCCESS);
	assert_int_equal(result.workspace, 0);

	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	begin = fn.now();
	assert_int_equal(
		fn.matmul(handle, desc, NULL, NULL, a, NULL, b, NULL, NULL, d, NULL, d, &result, NULL, 0, stream),
		SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	one_ns = fn.now() - begin;

	assert_int_equal(fn.layout_set(d, LAYOUT_BATCH, &eight, sizeof(eight)), SUCCESS);
	assert_int_equal(fn.layout_get(d, LAYOUT_BATCH, &batch, sizeof(batch), &n_written), SUCCESS);
	assert_int_equal(batch, 8);
	assert_int_equal(n_written, sizeof(batch));
	begin = fn.now();
	assert_int_equal(
		fn.matmul(handle, desc, NULL, NULL, a, NULL, b, NULL, NULL, d, NULL, d, &result, NULL, 0, stream),
		SUCCESS);
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	eight_ns = fn.now() - begin;
	assert_true(eight_ns > 7 * one_ns && eight_ns < 9 * one_ns);
	fn.layout_destroy(a);
	fn.layout_destroy(b);
	fn.layout_destroy(d);
	fn.desc_destroy(desc);
}

static void *gemm_elsewhere(void *status)
{
	*(int *)status = gemm(8, 8, 8);
	return NULL;
}

static void threads_without_a_context_use_the_handles(void **state)
{
	pthread_t thread;
	int status = -1;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, gemm_elsewhere, &status), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(status, SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_product_is_work_on_the_stream),
		cmocka_unit_test(larger_products_take_longer),
		cmocka_unit_test(sizes_are_checked),
		cmocka_unit_test(numbers_wait_only_with_host_pointers),
		cmocka_unit_test(state_is_kept),
		cmocka_unit_test(the_rest_refuses),
		cmocka_unit_test(a_handle_serves_lt_too),
		cmocka_unit_test(threads_without_a_context_use_the_handles),
	};

	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	return cmocka_run_group_tests_name("sim_cublas", tests, set_up, tear_down);
}
