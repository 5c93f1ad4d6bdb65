/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas_launch.c - handles, and what a BLAS call costs
 */
#include "sim/cublas.h"

#include <library_types.h>
#include <stdlib.h>
#include <string.h>

#ifndef SIM_BLAS_MAJOR
#define SIM_BLAS_MAJOR 13
#endif

static int status_of(CUresult result)
{
	switch (result) {
	case CUDA_SUCCESS:
		return SIM_BLAS_SUCCESS;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_INVALID_CONTEXT:
		return SIM_BLAS_NOT_INITIALIZED;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return SIM_BLAS_ALLOC_FAILED;
	default:
		return SIM_BLAS_EXECUTION_FAILED;
	}
}

int sim_blas_create(struct sim_blas **handle)
{
	struct sim_blas *made;
	CUresult result;

	if (!handle)
		return SIM_BLAS_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return SIM_BLAS_ALLOC_FAILED;
	result = sim_vendor_open(&made->device, "synctally_blas");
	if (result != CUDA_SUCCESS) {
		free(made);
		return status_of(result);
	}
	*handle = made;
	return SIM_BLAS_SUCCESS;
}

int sim_blas_destroy(struct sim_blas *handle)
{
	if (!handle || sim_vendor_wait_context() == CUDA_ERROR_NOT_INITIALIZED)
		return SIM_BLAS_NOT_INITIALIZED;
	free(handle);
	return SIM_BLAS_SUCCESS;
}

int sim_blas_submit(struct sim_blas *handle, CUstream stream, const struct sim_blas_work *work)
{
	double m = (double)work->m, n = (double)work->n, k = (double)work->k, batch = (double)work->batch;
	const struct sim_vendor_work cost = { work->factor * m * n * k * batch,
		                              work->element_bytes * batch * (m * k + k * n + 2 * m * n) };

	if (!handle)
		return SIM_BLAS_NOT_INITIALIZED;
	if (work->m < 0 || work->n < 0 || work->k < 0 || work->batch < 0)
		return SIM_BLAS_INVALID_VALUE;
	if (work->m == 0 || work->n == 0 || work->batch == 0)
		return SIM_BLAS_SUCCESS;
	return status_of(sim_vendor_launch(&handle->device, stream, &cost));
}

int sim_blas_submit_result(struct sim_blas *handle, const struct sim_blas_work *work, void *result, size_t result_bytes)
{
	int status;

	if (!handle)
		return SIM_BLAS_NOT_INITIALIZED;
	if (!result)
		return SIM_BLAS_INVALID_VALUE;
	status = sim_blas_submit(handle, handle->device.stream, work);
	if (status != SIM_BLAS_SUCCESS || handle->pointer_mode == SIM_BLAS_DEVICE_POINTERS)
		return status;
	status = status_of(sim_vendor_wait_stream(handle->device.stream));
	if (status == SIM_BLAS_SUCCESS)
		memset(result, 0, result_bytes);
	return status;
}

int sim_blas_submit_info(struct sim_blas *handle, const struct sim_blas_work *work, int *host_info, void *device_info)
{
	int status;

	if (!handle)
		return SIM_BLAS_NOT_INITIALIZED;
	status = sim_blas_submit(handle, handle->device.stream, work);
	if (status == SIM_BLAS_SUCCESS)
		status = status_of(
			sim_vendor_clear(&handle->device, handle->device.stream, device_info, (size_t)work->batch));
	if (status == SIM_BLAS_SUCCESS && host_info)
		*host_info = 0;
	return status;
}

int sim_blas_element_bytes(int data_type)
{
	switch (data_type) {
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	case CUDA_C_64F:
		return 16;
	case CUDA_R_32F:
	case CUDA_R_32I:
		return 4;
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	default:
		return 1;
	}
}

int sim_blas_version(void)
{
	return SIM_BLAS_MAJOR * 10000 + (SIM_BLAS_MAJOR >= 13 ? 100 : 800);
}

const char *sim_blas_status_name(int status)
{
	switch (status) {
	case SIM_BLAS_SUCCESS:
		return "CUBLAS_STATUS_SUCCESS";
	case SIM_BLAS_NOT_INITIALIZED:
		return "CUBLAS_STATUS_NOT_INITIALIZED";
	case SIM_BLAS_ALLOC_FAILED:
		return "CUBLAS_STATUS_ALLOC_FAILED";
	case SIM_BLAS_INVALID_VALUE:
		return "CUBLAS_STATUS_INVALID_VALUE";
	case SIM_BLAS_EXECUTION_FAILED:
		return "CUBLAS_STATUS_EXECUTION_FAILED";
	case SIM_BLAS_INTERNAL_ERROR:
		return "CUBLAS_STATUS_INTERNAL_ERROR";
	case SIM_BLAS_NOT_SUPPORTED:
		return "CUBLAS_STATUS_NOT_SUPPORTED";
	default:
		return "an unknown cuBLAS status";
	}
}
