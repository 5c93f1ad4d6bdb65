/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_nvrtc.c - the simulated NVRTC: from source text to a launch, and its documented errors */
#include <cuda.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* nvrtcResult */
enum { SUCCESS = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, LATE_NAME = 8, EARLY_NAME = 9, UNKNOWN_NAME = 10 };

#define FUNCTIONS(F)                                                                                                   \
	F(nvrtcVersion, (int *, int *))                                                                                \
	F(nvrtcGetNumSupportedArchs, (int *))                                                                          \
	F(nvrtcGetSupportedArchs, (int *))                                                                             \
	F(nvrtcCreateProgram, (void **, const char *, const char *, int, const char *const *, const char *const *))    \
	F(nvrtcDestroyProgram, (void **))                                                                              \
	F(nvrtcAddNameExpression, (void *, const char *))                                                              \
	F(nvrtcCompileProgram, (void *, int, const char *const *))                                                     \
	F(nvrtcGetLoweredName, (void *, const char *, const char **))                                                  \
	F(nvrtcGetPTXSize, (void *, size_t *))                                                                         \
	F(nvrtcGetPTX, (void *, char *))                                                                               \
	F(nvrtcGetCUBINSize, (void *, size_t *))                                                                       \
	F(nvrtcGetCUBIN, (void *, char *))                                                                             \
	F(nvrtcGetProgramLogSize, (void *, size_t *))                                                                  \
	F(nvrtcGetProgramLog, (void *, char *))                                                                        \
	F(nvrtcGetLTOIRSize, (void *, size_t *))                                                                       \
	F(nvrtcGetLTOIR, (void *, char *))

#define DECLARE(name, params) static int(*name) params;
FUNCTIONS(DECLARE)
static const char *(*nvrtcGetErrorString)(int);

static void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		fail_msg("%s", dlerror());
	memcpy(slot, &address, sizeof(address));
}

static int use_library(void **state)
{
	void *library = dlopen(*state, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		fail_msg("%s", dlerror());
#define FIND(name, params) find(library, #name, &name);
	FUNCTIONS(FIND)
	find(library, "nvrtcGetErrorString", &nvrtcGetErrorString);
	return 0;
}

static void *compiled(const char *expression)
{
	static const char *const options[] = { "--std=c++17", "--gpu-architecture=sm_89" };
	void *program = NULL;

	assert_int_equal(nvrtcCreateProgram(&program, "__global__ void k() {}", NULL, 0, NULL, NULL), SUCCESS);
	if (expression)
		assert_int_equal(nvrtcAddNameExpression(program, expression), SUCCESS);
	assert_int_equal(nvrtcCompileProgram(program, 2, options), SUCCESS);
	return program;
}

static void a_compiled_kernel_is_launched(void **state)
{
	void *program = compiled("ns::k<float, 4>");
	const char *lowered = NULL;
	char ptx[1024];
	size_t bytes = 0, cubin_bytes = 0;
	CUcontext context;
	CUfunction kernel;
	CUmodule module;
	CUdevice device;

	(void)state;
	assert_int_equal(nvrtcGetLoweredName(program, "ns::k<float, 4>", &lowered), SUCCESS);
	assert_string_equal(lowered, "ns__k_float__4_");
	assert_int_equal(nvrtcGetPTXSize(program, &bytes), SUCCESS);
	assert_true(bytes > 1 && bytes <= sizeof(ptx));
	assert_int_equal(nvrtcGetPTX(program, ptx), SUCCESS);
	assert_int_equal(strlen(ptx) + 1, bytes);
	assert_non_null(strstr(ptx, lowered));
	assert_int_equal(nvrtcGetCUBINSize(program, &cubin_bytes), SUCCESS);
	assert_true(cubin_bytes > 0 && cubin_bytes <= sizeof(ptx));
	assert_int_equal(nvrtcGetCUBIN(program, ptx), SUCCESS);

	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
	assert_int_equal(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
	assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&kernel, module, lowered), CUDA_SUCCESS);
	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
	assert_int_equal(cuStreamSynchronize(NULL), CUDA_SUCCESS);
	assert_int_equal(nvrtcDestroyProgram(&program), SUCCESS);
	assert_null(program);
}

static void the_log_is_empty(void **state)
{
	void *program = compiled(NULL);
	char log[4] = "???";
	size_t bytes = 0;

	(void)state;
	assert_int_equal(nvrtcGetProgramLogSize(program, &bytes), SUCCESS);
	assert_int_equal(bytes, 1);
	assert_int_equal(nvrtcGetProgramLog(program, log), SUCCESS);
	assert_string_equal(log, "");
	assert_int_equal(nvrtcDestroyProgram(&program), SUCCESS);
}

static void what_comes_in_the_wrong_order_is_refused(void **state)
{
	void *program = NULL, *gone;
	const char *lowered;
	size_t bytes;

	(void)state;
	assert_int_equal(nvrtcCreateProgram(&program, NULL, NULL, 0, NULL, NULL), INVALID_INPUT);
	assert_int_equal(nvrtcCreateProgram(&program, "", NULL, 1, NULL, NULL), INVALID_INPUT);
	assert_int_equal(nvrtcCreateProgram(&program, "", NULL, 0, NULL, NULL), SUCCESS);
	assert_int_equal(nvrtcAddNameExpression(program, "k"), SUCCESS);
	assert_int_equal(nvrtcAddNameExpression(program, NULL), INVALID_INPUT);
	assert_int_equal(nvrtcGetLoweredName(program, "k", &lowered), EARLY_NAME);
	assert_int_equal(nvrtcGetPTXSize(program, &bytes), INVALID_INPUT);
	assert_int_equal(nvrtcCompileProgram(program, 1, NULL), INVALID_INPUT);
	assert_int_equal(nvrtcCompileProgram(program, 0, NULL), SUCCESS);
	assert_int_equal(nvrtcAddNameExpression(program, "late"), LATE_NAME);
	assert_int_equal(nvrtcGetLoweredName(program, "unknown", &lowered), UNKNOWN_NAME);
	assert_int_equal(nvrtcGetLTOIRSize(program, &bytes), SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(nvrtcGetLTOIR(program, NULL), INVALID_INPUT);
	gone = program;
	assert_int_equal(nvrtcDestroyProgram(&program), SUCCESS);
	assert_int_equal(nvrtcDestroyProgram(&gone), INVALID_PROGRAM);
	assert_int_equal(nvrtcCompileProgram(gone, 0, NULL), INVALID_PROGRAM);
	assert_int_equal(nvrtcGetPTXSize(gone, &bytes), INVALID_PROGRAM);
}

static void it_says_what_it_is(void **state)
{
	int architectures[64], major = 0, minor = -1, n = 0;

	assert_int_equal(nvrtcVersion(&major, &minor), SUCCESS);
	assert_int_equal(major, strstr(*state, "so.12") ? 12 : 13);
	assert_true(minor >= 0);
	assert_int_equal(nvrtcGetNumSupportedArchs(&n), SUCCESS);
	assert_true(n > 0 && n <= 64);
	assert_int_equal(nvrtcGetSupportedArchs(architectures), SUCCESS);
	assert_true(architectures[0] < architectures[n - 1]);
	assert_string_equal(nvrtcGetErrorString(6), "NVRTC_ERROR_COMPILATION");
	assert_string_equal(nvrtcGetErrorString(99), "NVRTC_ERROR unknown");
	assert_int_equal(nvrtcVersion(NULL, &minor), INVALID_INPUT);
}

#define WITH(test, library)                                                                                            \
	cmocka_unit_test_prestate_setup_teardown(test, use_library, NULL, (void *)(uintptr_t)library)

int main(void)
{
	static const char cuda13[] = "libnvrtc.so.13", cuda12[] = "libnvrtc.so.12";
	const struct CMUnitTest tests[] = {
		WITH(a_compiled_kernel_is_launched, cuda13),
		WITH(a_compiled_kernel_is_launched, cuda12),
		WITH(the_log_is_empty, cuda13),
		WITH(what_comes_in_the_wrong_order_is_refused, cuda13),
		WITH(it_says_what_it_is, cuda13),
		WITH(it_says_what_it_is, cuda12),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
