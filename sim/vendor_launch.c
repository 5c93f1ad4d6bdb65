/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_launch.c - how the simulated NVIDIA libraries submit their work
 */
#include "sim/vendor_launch.h"

#include "sim/kernel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

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
	CUresult (*set_words)(CUdeviceptr words, unsigned value, size_t n_words, CUstream stream);
	CUresult (*wait_stream)(CUstream stream);
	CUresult (*wait_context)(void);
	CUresult (*get_context_device)(CUdevice *device);
	CUresult (*copy)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
	CUresult (*alloc)(CUdeviceptr *address, size_t bytes);
	CUresult (*free)(CUdeviceptr address);
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

	if (get_proc(name, &address, DRIVER_VERSION, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL) != CUDA_SUCCESS ||
	    !address)
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
		{ "cuMemsetD32Async", &driver.set_words },
		{ "cuStreamSynchronize", &driver.wait_stream },
		{ "cuCtxSynchronize", &driver.wait_context },
		{ "cuCtxGetDevice", &driver.get_context_device },
		{ "cuMemcpyAsync", &driver.copy },
		{ "cuMemAlloc", &driver.alloc },
		{ "cuMemFree", &driver.free },
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

/* Asked in every call that uses the driver: a handle may have been made by another library's copy of this file. */
static bool has_driver(void)
{
	pthread_once(&driver_once, find_driver);
	return driver.is_complete;
}

CUresult sim_vendor_choose(int ordinal)
{
	CUdevice device;
	CUcontext context;
	CUresult result = has_driver() ? driver.init(0) : CUDA_ERROR_NOT_INITIALIZED;

	if (result == CUDA_SUCCESS)
		result = driver.get_device(&device, ordinal);
	if (result == CUDA_SUCCESS)
		result = driver.retain_primary(&context, device);
	return result == CUDA_SUCCESS ? driver.set_context(context) : result;
}

/* The thread's context; if it has none, device 0's, as a runtime call would make it. */
static CUresult find_context(CUcontext *context)
{
	CUresult result = driver.get_context(context);

	if (result == CUDA_SUCCESS && *context)
		return CUDA_SUCCESS;
	result = sim_vendor_choose(0);
	return result == CUDA_SUCCESS ? driver.get_context(context) : result;
}

CUresult sim_vendor_open(struct sim_vendor *vendor, const char *kernel)
{
	static const char image[] = "synctally vendor kernels";
	CUmodule module;
	CUresult result;

	if (!has_driver())
		return CUDA_ERROR_NOT_INITIALIZED;
	result = find_context(&vendor->context);
	if (result == CUDA_SUCCESS)
		result = driver.load_module(&module, image);
	if (result == CUDA_SUCCESS)
		result = driver.get_function(&vendor->kernel, module, kernel);
	return result;
}

static uint64_t device_time(const struct sim_vendor_work *work)
{
	double compute_ns = work->operations / (double)sim_knobs()->gflops;
	double rate = (double)sim_knobs()->d2d_rate;
	double move_ns = rate > 0 ? work->bytes * 1000.0 / rate : 0;

	return sim_knobs()->kernel_ns + (uint64_t)(compute_ns > move_ns ? compute_ns : move_ns);
}

CUresult sim_vendor_launch(const struct sim_vendor *vendor, CUstream stream, const struct sim_vendor_work *work)
{
	CUresult result;

	if (!has_driver())
		return CUDA_ERROR_NOT_INITIALIZED;
	sim_launch_takes(device_time(work));
	result = driver.launch(vendor->kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL);
	if (result == CUDA_ERROR_INVALID_CONTEXT && driver.set_context(vendor->context) == CUDA_SUCCESS)
		result = driver.launch(vendor->kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL);
	return result;
}

CUresult sim_vendor_clear(const struct sim_vendor *vendor, CUstream stream, void *words, size_t n_words)
{
	CUresult result;

	if (!words || n_words == 0)
		return CUDA_SUCCESS;
	if (!has_driver())
		return CUDA_ERROR_NOT_INITIALIZED;
	result = driver.set_words((CUdeviceptr)(uintptr_t)words, 0, n_words, stream);
	if (result == CUDA_ERROR_INVALID_CONTEXT && driver.set_context(vendor->context) == CUDA_SUCCESS)
		result = driver.set_words((CUdeviceptr)(uintptr_t)words, 0, n_words, stream);
	return result;
}

CUresult sim_vendor_wait_stream(CUstream stream)
{
	return has_driver() ? driver.wait_stream(stream) : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sim_vendor_wait_context(void)
{
	return has_driver() ? driver.wait_context() : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sim_vendor_ordinal(int *ordinal)
{
	CUdevice device;
	CUresult result = has_driver() ? driver.get_context_device(&device) : CUDA_ERROR_NOT_INITIALIZED;

	if (result == CUDA_SUCCESS)
		*ordinal = device;
	return result;
}

CUresult sim_vendor_copy(const struct sim_vendor *vendor, CUstream stream, uintptr_t to, uintptr_t from, size_t bytes)
{
	CUresult result;

	if (!has_driver())
		return CUDA_ERROR_NOT_INITIALIZED;
	result = driver.copy(to, from, bytes, stream);
	if (result == CUDA_ERROR_INVALID_CONTEXT && driver.set_context(vendor->context) == CUDA_SUCCESS)
		result = driver.copy(to, from, bytes, stream);
	return result;
}

CUresult sim_vendor_alloc(void **address, size_t bytes)
{
	CUdeviceptr block = 0;
	CUresult result = has_driver() ? driver.alloc(&block, bytes) : CUDA_ERROR_NOT_INITIALIZED;

	if (result == CUDA_SUCCESS)
		*address = (void *)(uintptr_t)block;
	return result;
}

CUresult sim_vendor_free(void *address)
{
	return has_driver() ? driver.free((CUdeviceptr)(uintptr_t)address) : CUDA_ERROR_NOT_INITIALIZED;
}
