/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_driver.c - libcudart: finding the driver, entering its primary context, remembering errors */
#include "sim/cudart_face.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "sim/device.h"

/* The CUDA version whose forms cudart_driver.def lists: cuGetProcAddress() picks by version, and some changed since. */
enum { DRIVER_ABI = 12000 };

static struct rt_driver driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaError_t found = cudaErrorInsufficientDriver;
static _Atomic unsigned retained; /* bit N: the runtime uses the primary context of device N */

static __thread bool is_ready;
static __thread int selected; /* by cudaSetDevice(), of the calling thread */
static __thread cudaError_t last_error;

/* dlsym() gives an object pointer; POSIX promises that it holds a function's address. */
static __typeof__(&cuGetProcAddress_v2) find_entry(void)
{
	__typeof__(&cuGetProcAddress_v2) entry = NULL;
	void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	void *address = handle ? dlsym(handle, "cuGetProcAddress_v2") : NULL;

	memcpy(&entry, &address, sizeof entry);
	return entry;
}

static void find(void)
{
	static const struct {
		const char *name;
		size_t offset;
		int version;
	} wanted[] = {
#define DRIVER(name, same_type) { #name, offsetof(struct rt_driver, name), DRIVER_ABI },
#define DRIVER_AT(name, same_type, version) { #name, offsetof(struct rt_driver, name), version },
#include "sim/cudart_driver.def"
#undef DRIVER
#undef DRIVER_AT
	};
	static const cuuint64_t flags[2] = { CU_GET_PROC_ADDRESS_LEGACY_STREAM,
		                             CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM };
	__typeof__(&cuGetProcAddress_v2) entry = find_entry();

	if (!entry)
		return;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		for (unsigned spelling = 0; spelling < 2; spelling++) {
			void *address;
			if (entry(wanted[i].name, &address, wanted[i].version, flags[spelling], NULL) != CUDA_SUCCESS)
				return;
			memcpy((char *)&driver + wanted[i].offset + spelling * sizeof address, &address,
			       sizeof address);
		}
	}
	found = rt_error(driver.cuInit[0](0));
}

cudaError_t rt_find_driver(void)
{
	pthread_once(&once, find);
	return found;
}

const struct rt_driver *rt_driver(void)
{
	return &driver;
}

/* The runtime keeps one use of each primary context, whatever the number of threads. */
CUresult rt_primary(int device, CUcontext *context)
{
	CUresult result = driver.cuDevicePrimaryCtxRetain[0](context, device);

	if (result == CUDA_SUCCESS && atomic_fetch_or(&retained, 1u << device) & 1u << device)
		result = driver.cuDevicePrimaryCtxRelease[0](device);
	return result;
}

static CUresult enter_primary(int device)
{
	CUcontext context;
	CUresult result = rt_primary(device, &context);

	return result == CUDA_SUCCESS ? driver.cuCtxSetCurrent[0](context) : result;
}

/* A context that the program made current stays. */
static CUresult enter(void)
{
	CUcontext context;
	CUresult result = driver.cuCtxGetCurrent[0](&context);

	if (result != CUDA_SUCCESS || (context && atomic_load(&retained)))
		return result;
	return context ? CUDA_SUCCESS : enter_primary(selected);
}

/* The device of the current context, whoever made it current; else the one that would be entered. */
int rt_device(void)
{
	int chosen = sim_device_chosen();

	return chosen >= 0 ? chosen : selected;
}

cudaError_t rt_select(int device)
{
	cudaError_t error = rt_find_driver();

	if (error != cudaSuccess)
		return error;
	selected = device;
	if (sim_device_chosen() == device && is_ready)
		return cudaSuccess;
	is_ready = false;
	error = rt_error(enter_primary(device));
	is_ready = error == cudaSuccess;
	return error;
}

cudaError_t rt_ready(void)
{
	if (is_ready)
		return cudaSuccess;
	cudaError_t error = rt_find_driver();
	if (error == cudaSuccess)
		error = rt_error(enter());
	is_ready = error == cudaSuccess;
	return error;
}

cudaError_t rt_note(cudaError_t error)
{
	if (error != cudaSuccess && error != cudaErrorNotReady)
		last_error = error;
	return error;
}

SIM_EXPORT cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

SIM_EXPORT cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

static const struct {
	cudaError_t code;
	const char *name;
	const char *text;
} errors[] = {
#define SIM_ERROR(code, driver_name, runtime_name, text) { (cudaError_t)code, runtime_name, text },
#include "sim/errors.def"
#undef SIM_ERROR
};

enum { N_ERRORS = sizeof errors / sizeof errors[0] };

SIM_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	for (unsigned i = 0; i < N_ERRORS; i++)
		if (errors[i].code == error)
			return errors[i].text;
	return "unrecognized error code";
}

SIM_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
	for (unsigned i = 0; i < N_ERRORS; i++)
		if (errors[i].code == error)
			return errors[i].name;
	return "unrecognized error code";
}

SIM_EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
	if (!version)
		return rt_note(cudaErrorInvalidValue);
	*version = 0;
	return rt_find_driver() == cudaSuccess ? rt_noted(rt_driver()->cuDriverGetVersion[0](version)) : cudaSuccess;
}

SIM_EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return rt_note(cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return cudaSuccess;
}

static cudaError_t entry_point(const char *symbol, void **func, unsigned version, cuuint64_t flags,
                               enum cudaDriverEntryPointQueryResult *status)
{
	CUdriverProcAddressQueryResult found_status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	cudaError_t error = rt_find_driver();

	if (error != cudaSuccess || !symbol || !func)
		return rt_note(error != cudaSuccess ? error : cudaErrorInvalidValue);
	CUresult result = rt_driver()->cuGetProcAddress[0](symbol, func, (int)version, flags, &found_status);
	if (status)
		*status = (enum cudaDriverEntryPointQueryResult)found_status;
	/* A name that is not there is an answer, in *status. */
	return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : rt_noted(result);
}

SIM_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **func, unsigned version,
                                                        unsigned long long flags,
                                                        enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(symbol, func, version, flags, status);
}

SIM_EXPORT cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **func, unsigned version,
                                                             unsigned long long flags,
                                                             enum cudaDriverEntryPointQueryResult *status)
{
	cuuint64_t spelled = flags ? flags : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

	return entry_point(symbol, func, version, spelled, status);
}

/* Version 13 dropped this declaration; programs of version 12 import it. */
SIM_EXPORT cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **func, unsigned long long flags,
                                               enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(symbol, func, CUDART_VERSION, flags, status);
}

SIM_EXPORT cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **func, unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *status)
{
	return cudaGetDriverEntryPointByVersion_ptsz(symbol, func, CUDART_VERSION, flags, status);
}
