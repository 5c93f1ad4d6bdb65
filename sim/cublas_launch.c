/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas_launch.c - handles, and the way from a BLAS call to the driver
 *
 * The real libraries hold a static runtime that finds the driver with dlopen
 * and asks it for entry points. So does this one: whoever watches the driver
 * sees the same calls.
 */
#include "sim/cublas.h"

#include "sim/kernel.h"

#include <dlfcn.h>
#include <library_types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Guess, not a measurement: half precision tensor cores of a mid-range data-centre device. */
#define OPERATIONS_PER_NS 100.0

#ifndef SIM_BLAS_MAJOR
#define SIM_BLAS_MAJOR 13
#endif

/* The driver, as the program's process has it. */
static struct {
	CUresult (*get_context)(CUcontext *context);
	CUresult (*set_context)(CUcontext context);
	CUresult (*init)(unsigned flags);
	CUresult (*get_device)(CUdevice *device, int ordinal);
	CUresult (*retain_primary)(CUcontext *context, CUdevice device);
	CUresult (*load_module)(CUmodule *module, const void *image);
	CUresult (*get_function)(CUfunction *function, CUmodule module, const char *name);
	CUresult (*launch)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
	                   unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
	                   void **extra);
	CUresult (*wait_stream)(CUstream stream);
	CUresult (*wait_context)(void);
	bool is_complete;
} driver;

static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

/* The functions below are asked for as of this version: their prototypes above are those. */
#define DRIVER_VERSION 12000

typedef CUresult (*get_proc_fn)(const char *name, void **address, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *found);

/* One entry point. `slot` is the address of a function pointer, which ISO C does not let one convert to. */
static bool find_entry(get_proc_fn get_proc, const char *name, void *slot)
{
	void *address = NULL;

	if (get_proc(name, &address, DRIVER_VERSION, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL) != CUDA_SUCCESS || !address)
		return false;
	memcpy(slot, &address, sizeof(address));
	return true;
}

static void find_driver(void)
{
	const struct {
		const char *name;
		void *slot;
	} entries[] = {
		{ "cuCtxGetCurrent", &driver.get_context },
		{ "cuCtxSetCurrent", &driver.set_context },
		{ "cuInit", &driver.init },
		{ "cuDeviceGet", &driver.get_device },
		{ "cuDevicePrimaryCtxRetain", &driver.retain_primary },
		{ "cuModuleLoadData", &driver.load_module },
		{ "cuModuleGetFunction", &driver.get_function },
		{ "cuLaunchKernel", &driver.launch },
		{ "cuStreamSynchronize", &driver.wait_stream },
		{ "cuCtxSynchronize", &driver.wait_context },
	};
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *address;
	get_proc_fn get_proc;
	size_t i;

	address = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
	if (!address)
		return;
	memcpy(&get_proc, &address, sizeof(get_proc));
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (!find_entry(get_proc, entries[i].name, entries[i].slot))
			return;
	}
	driver.is_complete = true;
}

/* Asked in every call that uses the driver: a handle may have been made by the other library's copy of this file. */
static bool has_driver(void)
{
	pthread_once(&driver_once, find_driver);
	return driver.is_complete;
}

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

/* The thread's context; if it has none, device 0's, as a runtime call would make it. */
static CUresult find_context(CUcontext *context)
{
	CUdevice device;
	CUresult result = driver.get_context(context);

	if (result == CUDA_SUCCESS && *context)
		return CUDA_SUCCESS;
	result = driver.init(0);
	if (result == CUDA_SUCCESS)
		result = driver.get_device(&device, 0);
	if (result == CUDA_SUCCESS)
		result = driver.retain_primary(context, device);
	if (result == CUDA_SUCCESS)
		result = driver.set_context(*context);
	return result;
}

int sim_blas_create(struct sim_blas **handle)
{
	static const char image[] = "synctally BLAS kernels";
	struct sim_blas *made;
	CUmodule module;
	CUresult result;

	if (!handle)
		return SIM_BLAS_INVALID_VALUE;
	if (!has_driver())
		return SIM_BLAS_NOT_INITIALIZED;
	made = calloc(1, sizeof(*made));
	if (!made)
		return SIM_BLAS_ALLOC_FAILED;
	result = find_context(&made->context);
	if (result == CUDA_SUCCESS)
		result = driver.load_module(&module, image);
	if (result == CUDA_SUCCESS)
		result = driver.get_function(&made->kernel, module, "synctally_blas");
	if (result != CUDA_SUCCESS) {
		free(made);
		return status_of(result);
	}
	*handle = made;
	return SIM_BLAS_SUCCESS;
}

int sim_blas_destroy(struct sim_blas *handle)
{
	if (!handle || !has_driver())
		return SIM_BLAS_NOT_INITIALIZED;
	driver.wait_context();
	free(handle);
	return SIM_BLAS_SUCCESS;
}

/* The slower of computing and of moving the operands once; 0 is "a kernel's own time". */
static uint64_t device_time(const struct sim_blas_work *work)
{
	double m = (double)work->m, n = (double)work->n, k = (double)work->k, batch = (double)work->batch;
	double compute_ns = work->factor * m * n * k * batch / OPERATIONS_PER_NS;
	double bytes = work->element_bytes * batch * (m * k + k * n + 2 * m * n);
	double rate = (double)sim_knobs()->d2d_rate;
	double move_ns = rate > 0 ? bytes * 1000.0 / rate : 0;

	return sim_knobs()->kernel_ns + (uint64_t)(compute_ns > move_ns ? compute_ns : move_ns);
}

int sim_blas_submit(struct sim_blas *handle, CUstream stream, const struct sim_blas_work *work)
{
	CUresult result;

	if (!handle || !has_driver())
		return SIM_BLAS_NOT_INITIALIZED;
	if (work->m < 0 || work->n < 0 || work->k < 0 || work->batch < 0)
		return SIM_BLAS_INVALID_VALUE;
	if (work->m == 0 || work->n == 0 || work->batch == 0)
		return SIM_BLAS_SUCCESS;
	sim_launch_takes(device_time(work));
	result = driver.launch(handle->kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL);
	if (result == CUDA_ERROR_INVALID_CONTEXT && driver.set_context(handle->context) == CUDA_SUCCESS)
		result = driver.launch(handle->kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL);
	return status_of(result);
}

int sim_blas_submit_result(struct sim_blas *handle, const struct sim_blas_work *work, void *result, size_t result_bytes)
{
	int status;

	if (!handle)
		return SIM_BLAS_NOT_INITIALIZED;
	if (!result)
		return SIM_BLAS_INVALID_VALUE;
	status = sim_blas_submit(handle, handle->stream, work);
	if (status != SIM_BLAS_SUCCESS || handle->pointer_mode == SIM_BLAS_DEVICE_POINTERS)
		return status;
	status = status_of(driver.wait_stream(handle->stream));
	if (status == SIM_BLAS_SUCCESS)
		memset(result, 0, result_bytes);
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
