/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas.c - the exported functions of the simulated libcublas
 *
 * The functions that submit work are rows of cublas_api.def; here are their
 * expansion and the state of a handle.
 */
#include "sim/cublas.h"

#include "sim/say.h"

#define HANDLE struct sim_blas *handle
#define DATA const void *
#define OUT void *
#define STRIP(...) __VA_ARGS__

/*
 * Exported functions are declared by the vendor's header in the program; here
 * each declaration is followed by its definition.
 */
#define ONE(name, bytes, factor, params, m, n, k, batch)                                                               \
	SIM_EXPORT int name(HANDLE, STRIP params);                                                                     \
	int name(HANDLE, STRIP params)                                                                                 \
	{                                                                                                              \
		const struct sim_blas_work work_ = { (m), (n), (k), (batch), (factor), (bytes) };                      \
		return sim_blas_submit(handle, handle ? handle->device.stream : NULL, &work_);                         \
	}

#define FOUR(base, factor, params, m, n, k, batch)                                                                     \
	ONE(cublasS##base, 4, factor, params, m, n, k, batch)                                                          \
	ONE(cublasD##base, 8, factor, params, m, n, k, batch)                                                          \
	ONE(cublasC##base, 8, 4 * (factor), params, m, n, k, batch)                                                    \
	ONE(cublasZ##base, 16, 4 * (factor), params, m, n, k, batch)

#define ONE_INFO(name, bytes, factor, params, m, n, k, batch, host_info, device_info)                                  \
	SIM_EXPORT int name(HANDLE, STRIP params);                                                                     \
	int name(HANDLE, STRIP params)                                                                                 \
	{                                                                                                              \
		const struct sim_blas_work work_ = { (m), (n), (k), (batch), (factor), (bytes) };                      \
		return sim_blas_submit_info(handle, &work_, host_info, device_info);                                   \
	}

#define FOUR_INFO(base, factor, ...)                                                                                   \
	ONE_INFO(cublasS##base, 4, factor, __VA_ARGS__)                                                                \
	ONE_INFO(cublasD##base, 8, factor, __VA_ARGS__)                                                                \
	ONE_INFO(cublasC##base, 8, 4 * (factor), __VA_ARGS__)                                                          \
	ONE_INFO(cublasZ##base, 16, 4 * (factor), __VA_ARGS__)

#define NUMBER(name, bytes, result_bytes, params)                                                                      \
	SIM_EXPORT int name(HANDLE, STRIP params);                                                                     \
	int name(HANDLE, STRIP params)                                                                                 \
	{                                                                                                              \
		const struct sim_blas_work work_ = { n, 1, 1, 1, 2, (bytes) };                                         \
		return sim_blas_submit_result(handle, &work_, result, (result_bytes));                                 \
	}

/* Called with arguments that do not matter: the convention lets a callee ignore them. */
#define REFUSE(name)                                                                                                   \
	SIM_EXPORT int name(void);                                                                                     \
	int name(void)                                                                                                 \
	{                                                                                                              \
		sim_refuse(#name);                                                                                     \
		return SIM_BLAS_NOT_SUPPORTED;                                                                         \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "sim/cublas_api.def"
#pragma GCC diagnostic pop

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

EXPORTED(int cublasCreate_v2(struct sim_blas **handle))
{
	return sim_blas_create(handle);
}

EXPORTED(int cublasDestroy_v2(HANDLE))
{
	return sim_blas_destroy(handle);
}

/* One pair of functions per field of the handle. */
#define STATE(field, type, setter, getter)                                                                             \
	EXPORTED(int setter(HANDLE, type value))                                                                       \
	{                                                                                                              \
		if (!handle)                                                                                           \
			return SIM_BLAS_NOT_INITIALIZED;                                                               \
		handle->field = value;                                                                                 \
		return SIM_BLAS_SUCCESS;                                                                               \
	}                                                                                                              \
	EXPORTED(int getter(HANDLE, type *value))                                                                      \
	{                                                                                                              \
		if (!handle)                                                                                           \
			return SIM_BLAS_NOT_INITIALIZED;                                                               \
		if (!value)                                                                                            \
			return SIM_BLAS_INVALID_VALUE;                                                                 \
		*value = handle->field;                                                                                \
		return SIM_BLAS_SUCCESS;                                                                               \
	}

STATE(device.stream, CUstream, cublasSetStream_v2, cublasGetStream_v2)
STATE(pointer_mode, int, cublasSetPointerMode_v2, cublasGetPointerMode_v2)
STATE(math_mode, int, cublasSetMathMode, cublasGetMathMode)
STATE(atomics_mode, int, cublasSetAtomicsMode, cublasGetAtomicsMode)
STATE(sm_count_target, int, cublasSetSmCountTarget, cublasGetSmCountTarget)

/* Nothing is computed, so the memory is not used. */
EXPORTED(int cublasSetWorkspace_v2(HANDLE, void *workspace, size_t n_bytes))
{
	(void)workspace;
	(void)n_bytes;
	return handle ? SIM_BLAS_SUCCESS : SIM_BLAS_NOT_INITIALIZED;
}

EXPORTED(int cublasGetVersion_v2(HANDLE, int *version))
{
	(void)handle; /* may be NULL, as documented */
	if (!version)
		return SIM_BLAS_INVALID_VALUE;
	*version = sim_blas_version();
	return SIM_BLAS_SUCCESS;
}

/* libraryPropertyType: 0 major, 1 minor, 2 patch */
EXPORTED(int cublasGetProperty(int property, int *value))
{
	static const int divisor[] = { 10000, 100, 1 };

	if (property < 0 || property > 2 || !value)
		return SIM_BLAS_INVALID_VALUE;
	*value = sim_blas_version() / divisor[property] % (property == 0 ? 1000 : 100);
	return SIM_BLAS_SUCCESS;
}

EXPORTED(size_t cublasGetCudartVersion(void))
{
	return (size_t)(sim_blas_version() / 10000 * 1000);
}

EXPORTED(const char *cublasGetStatusName(int status))
{
	return sim_blas_status_name(status);
}

EXPORTED(const char *cublasGetStatusString(int status))
{
	return sim_blas_status_name(status);
}
