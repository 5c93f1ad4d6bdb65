/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cusolver.c - the exported functions of the simulated libcusolver
 *
 * The functions that submit work are rows of cusolver_api.def; here are their
 * expansion, the handle and the settings.
 */
#include "sim/cusolver.h"

#include <library_types.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

static int status_of(CUresult result)
{
	switch (result) {
	case CUDA_SUCCESS:
		return SIM_SOLVER_SUCCESS;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_NO_DEVICE:
		return SIM_SOLVER_NOT_INITIALIZED;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return SIM_SOLVER_ALLOC_FAILED;
	default:
		return SIM_SOLVER_EXECUTION_FAILED;
	}
}

int sim_solver_submit(const struct sim_solver *handle, double operations, double elements, double element_bytes,
                      void *info, int64_t n_info)
{
	/* Read and written. */
	const struct sim_vendor_work work = { operations, 2 * elements * element_bytes };
	CUresult result;

	if (!handle)
		return SIM_SOLVER_NOT_INITIALIZED;
	if (n_info < 0)
		return SIM_SOLVER_INVALID_VALUE;
	result = sim_vendor_launch(&handle->device, handle->device.stream, &work);
	if (result == CUDA_SUCCESS)
		result = sim_vendor_clear(&handle->device, handle->device.stream, info, (size_t)n_info);
	return status_of(result);
}

int sim_solver_wait(const struct sim_solver *handle)
{
	return status_of(sim_vendor_wait_stream(handle->device.stream));
}

static int finish_with_result(const struct sim_solver *handle, int status, double *result, int n)
{
	if (status != SIM_SOLVER_SUCCESS || !result || n < 1)
		return status;
	status = sim_solver_wait(handle);
	if (status == SIM_SOLVER_SUCCESS)
		memset(result, 0, (size_t)n * sizeof(*result));
	return status;
}

static int answer_lwork(const struct sim_solver *handle, double elements, int *lwork)
{
	if (!handle)
		return SIM_SOLVER_NOT_INITIALIZED;
	if (!lwork || elements < 0)
		return SIM_SOLVER_INVALID_VALUE;
	/* At least one element: some programs take 0 for a refusal. More than an int holds cannot be said. */
	*lwork = elements < 1 ? 1 : elements > 0x7fffffff ? 0x7fffffff : (int)elements;
	return SIM_SOLVER_SUCCESS;
}

static int answer_bytes(const struct sim_solver *handle, double bytes, size_t *device_bytes, size_t *host_bytes)
{
	if (!handle)
		return SIM_SOLVER_NOT_INITIALIZED;
	if (!device_bytes || !host_bytes || bytes < 0)
		return SIM_SOLVER_INVALID_VALUE;
	*device_bytes = (size_t)bytes;
	*host_bytes = 0;
	return SIM_SOLVER_SUCCESS;
}

static int element_bytes(int type)
{
	switch (type) {
	case CUDA_C_64F:
		return 16;
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	default:
		return 4;
	}
}

/* A complex operation is four real ones. */
static int operation_factor(int type)
{
	return type == CUDA_C_32F || type == CUDA_C_64F ? 4 : 1;
}

#define HANDLE const struct sim_solver *handle
#define DATA const void *
#define OUT void *
#define N(count) ((double)(count))
#define STRIP(...) __VA_ARGS__

/*
 * Exported functions are declared by the vendor's header in the program; here
 * each declaration is followed by its definition.
 */
#define DEFINE(name, params, ...)                                                                                      \
	SIM_EXPORT int name(HANDLE, STRIP params);                                                                     \
	int name(HANDLE, STRIP params)                                                                                 \
	{                                                                                                              \
		return __VA_ARGS__;                                                                                    \
	}

#define RUN(name, bytes, factor, params, operations, elements, n_info)                                                 \
	DEFINE(cusolverDn##name, params,                                                                               \
	       sim_solver_submit(handle, (factor) * (operations), (elements), (bytes), info, (n_info)))
#define PAIR_RUN(real, complex, ...)                                                                                   \
	RUN(S##real, 4, 1, __VA_ARGS__)                                                                                \
	RUN(D##real, 8, 1, __VA_ARGS__)                                                                                \
	RUN(C##complex, 8, 4, __VA_ARGS__)                                                                             \
	RUN(Z##complex, 16, 4, __VA_ARGS__)
#define FOUR_RUN(base, ...) PAIR_RUN(base, base, __VA_ARGS__)

#define RUN_RESULT(name, bytes, factor, params, operations, elements, n_info)                                          \
	DEFINE(cusolverDn##name, params,                                                                               \
	       finish_with_result(                                                                                     \
		       handle,                                                                                         \
		       sim_solver_submit(handle, (factor) * (operations), (elements), (bytes), info, (n_info)),        \
		       host_result, (n_info)))
#define FOUR_RUN_RESULT(base, ...)                                                                                     \
	RUN_RESULT(S##base, 4, 1, __VA_ARGS__)                                                                         \
	RUN_RESULT(D##base, 8, 1, __VA_ARGS__)                                                                         \
	RUN_RESULT(C##base, 8, 4, __VA_ARGS__)                                                                         \
	RUN_RESULT(Z##base, 16, 4, __VA_ARGS__)

#define LWORK(name, params, elements) DEFINE(cusolverDn##name, params, answer_lwork(handle, (elements), lwork))
#define PAIR_LWORK(real, complex, ...)                                                                                 \
	LWORK(S##real, __VA_ARGS__)                                                                                    \
	LWORK(D##real, __VA_ARGS__)                                                                                    \
	LWORK(C##complex, __VA_ARGS__)                                                                                 \
	LWORK(Z##complex, __VA_ARGS__)
#define FOUR_LWORK(base, ...) PAIR_LWORK(base, base, __VA_ARGS__)

#define X(name, params, operations, elements, n_info)                                                                  \
	DEFINE(name, params,                                                                                           \
	       sim_solver_submit(handle, operation_factor(type) * (operations), (elements), element_bytes(type), info, \
	                         (n_info)))
#define X_WAIT(name, params, operations, elements, n_info)                                                             \
	SIM_EXPORT int name(HANDLE, STRIP params);                                                                     \
	int name(HANDLE, STRIP params)                                                                                 \
	{                                                                                                              \
		int status_ = sim_solver_submit(handle, operation_factor(type) * (operations), (elements),             \
		                                element_bytes(type), info, (n_info));                                  \
		return status_ == SIM_SOLVER_SUCCESS ? sim_solver_wait(handle) : status_;                              \
	}
#define X_SIZE(name, params, elements)                                                                                 \
	DEFINE(name, params, answer_bytes(handle, (elements)*element_bytes(type), device_bytes, host_bytes))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "sim/cusolver_api.def"
#pragma GCC diagnostic pop

EXPORTED(int cusolverDnCreate(struct sim_solver **handle))
{
	struct sim_solver *made;
	CUresult result;

	if (!handle)
		return SIM_SOLVER_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return SIM_SOLVER_ALLOC_FAILED;
	result = sim_vendor_open(&made->device, "synctally_solver");
	if (result != CUDA_SUCCESS) {
		free(made);
		return status_of(result);
	}
	*handle = made;
	return SIM_SOLVER_SUCCESS;
}

EXPORTED(int cusolverDnDestroy(struct sim_solver *handle))
{
	if (!handle)
		return SIM_SOLVER_NOT_INITIALIZED;
	free(handle);
	return SIM_SOLVER_SUCCESS;
}

EXPORTED(int cusolverDnSetStream(struct sim_solver *handle, CUstream stream))
{
	if (!handle)
		return SIM_SOLVER_NOT_INITIALIZED;
	handle->device.stream = stream;
	return SIM_SOLVER_SUCCESS;
}

EXPORTED(int cusolverDnGetStream(const struct sim_solver *handle, CUstream *stream))
{
	if (!handle)
		return SIM_SOLVER_NOT_INITIALIZED;
	if (!stream)
		return SIM_SOLVER_INVALID_VALUE;
	*stream = handle->device.stream;
	return SIM_SOLVER_SUCCESS;
}

/* Settings of iterative methods: nothing iterates, so they hold nothing. */
#define SETTINGS(kind)                                                                                                 \
	EXPORTED(int cusolverDnCreate##kind(void **settings))                                                          \
	{                                                                                                              \
		if (!settings)                                                                                         \
			return SIM_SOLVER_INVALID_VALUE;                                                               \
		*settings = calloc(1, 1);                                                                              \
		return *settings ? SIM_SOLVER_SUCCESS : SIM_SOLVER_ALLOC_FAILED;                                       \
	}                                                                                                              \
	EXPORTED(int cusolverDnDestroy##kind(void *settings))                                                          \
	{                                                                                                              \
		free(settings);                                                                                        \
		return SIM_SOLVER_SUCCESS;                                                                             \
	}

#define SETTER(name, type)                                                                                             \
	EXPORTED(int name(const void *settings, type value))                                                           \
	{                                                                                                              \
		(void)value;                                                                                           \
		return settings ? SIM_SOLVER_SUCCESS : SIM_SOLVER_INVALID_VALUE;                                       \
	}

SETTINGS(GesvdjInfo)
SETTINGS(SyevjInfo)
SETTINGS(Params)
SETTER(cusolverDnXgesvdjSetTolerance, double)
SETTER(cusolverDnXgesvdjSetMaxSweeps, int)
SETTER(cusolverDnXgesvdjSetSortEig, int)
SETTER(cusolverDnXsyevjSetTolerance, double)
SETTER(cusolverDnXsyevjSetMaxSweeps, int)
SETTER(cusolverDnXsyevjSetSortEig, int)
