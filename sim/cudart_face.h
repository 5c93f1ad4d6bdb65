/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart_face.h - what the files of libcudart.so.N share
 *
 * Functions with a row in api/cuda_api.def are implemented as rt_NAME here and
 * exported, in all spellings, by cudart_face.c. The runtime reaches the device
 * only as the real one does: dlopen("libcuda.so.1"), dlsym, and
 * cuGetProcAddress(). From libsimcore it takes the scopes of the ledger, the
 * refusals, and the names of kernels that C programs registered.
 */
#ifndef SIM_CUDART_FACE_H
#define SIM_CUDART_FACE_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "api/api.h"
#include "sim/scope.h"

#define SY_DECLARE_DRV(name, params)
#define SY_DECLARE_RT(name, params) cudaError_t rt_##name params;
#define API(lib, name, spelling, class, params, args, facts) SY_DECLARE_##lib(name, params)
#include "api/cuda_api.def"
#undef API
#undef SY_DECLARE_RT
#undef SY_DECLARE_DRV

/* Entry 1 of each is the per-thread spelling, where there is one. */
struct rt_driver {
#define DRIVER(name, same_type) __typeof__(&same_type) name[2];
#define DRIVER_AT(name, same_type, version) __typeof__(&same_type) name[2];
#include "sim/cudart_driver.def"
#undef DRIVER
#undef DRIVER_AT
};

/* Finds the driver, once. cudaErrorInsufficientDriver without one. */
cudaError_t rt_find_driver(void);

/* The driver's functions; only after rt_find_driver() has succeeded. */
const struct rt_driver *rt_driver(void);

/* rt_find_driver(), and a context current in this thread: the program's, or the primary one of rt_device(). */
cudaError_t rt_ready(void);

/* What cudaGetDevice() says. */
int rt_device(void);

/* Makes the primary context of an existing device the current one. */
cudaError_t rt_select(int device);

/* The primary context of a device, which the runtime then keeps in use. */
CUresult rt_primary(int device, CUcontext *context);

/* The driver function in the spelling of the call being served. */
#define DRV(name) (rt_driver()->name[sim_scope_is_per_thread()])

/* Remembers a failure for cudaGetLastError(); returns its argument. "Not ready" is an answer, not a failure. */
cudaError_t rt_note(cudaError_t error);

/* Result codes have the same numbers on both sides. */
static inline cudaError_t rt_error(CUresult result)
{
	return (cudaError_t)result;
}

/* For functions without a row: their failure, remembered. */
static inline cudaError_t rt_noted(CUresult result)
{
	return rt_note(rt_error(result));
}

/* Opens every function without a row that needs a context. */
#define RT_READY()                                                                                                     \
	do {                                                                                                           \
		cudaError_t ready_ = rt_ready();                                                                       \
		if (ready_ != cudaSuccess)                                                                             \
			return rt_note(ready_);                                                                        \
	} while (0)

/* The kernel behind a host stub. cudaErrorInvalidDeviceFunction if nobody registered it. */
cudaError_t rt_kernel_of_stub(CUkernel *kernel, const void *stub);

/* The other way round; NULL for a kernel that the runtime did not make. */
const void *rt_stub_of_kernel(CUfunction kernel);

/* A 3D copy as the driver gets it; arrays are refused. */
cudaError_t rt_driver_box(CUDA_MEMCPY3D *p, const struct cudaMemcpy3DParms *parms);

/* What stream 0 means in a per-thread spelling. */
static inline cudaStream_t rt_per_thread(cudaStream_t stream)
{
	return stream ? stream : cudaStreamPerThread;
}

/* The device address of a variable's host shadow. cudaErrorInvalidSymbol if nobody registered it. */
cudaError_t rt_address_of_symbol(CUdeviceptr *address, size_t *bytes, const void *symbol);

/* Exported under the per-thread spelling as well, where that makes no difference. */
#define RT_ALSO_PTSZ(name) extern SIM_EXPORT __typeof__(name) name##_ptsz __attribute__((alias(#name)));

#endif
