/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.c - a CUDA runtime to be linked into a program
 *
 * Stands in for libcudart_static.a: nobody can bind to its functions, and it
 * finds the driver by dlopen, dlsym and cuGetProcAddress_v2, and in no other way.
 * (NVlabs/NVBit #134, NVIDIA/cudf #22214: what watches only libcudart sees nothing.)
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef CUresult (*proc_fn)(const char *symbol, void **function, int version, cuuint64_t flags,
                            CUdriverProcAddressQueryResult *status);
typedef void (*any_fn)(void);

/* Once per name; tests call from one thread first. */
static any_fn driver(const char *name)
{
	static proc_fn proc;
	union {
		void *object;
		proc_fn proc;
		any_fn function;
	} found = { NULL };
	CUdriverProcAddressQueryResult status;

	if (!proc) {
		void *handle = dlopen("libcuda.so.1", RTLD_NOW);

		found.object = handle ? dlsym(handle, "cuGetProcAddress_v2") : NULL;
		if (!found.object)
			abort();
		proc = found.proc;
	}
	found.object = NULL;
	if (proc(name, &found.object, CUDART_VERSION, 0, &status) != CUDA_SUCCESS || !found.object)
		abort();
	return found.function;
}

#define DRIVER(name, ...) (((CUresult(*)(__VA_ARGS__))driver(#name)))

static cudaError_t begin(void)
{
	static _Thread_local _Bool is_ready;
	CUcontext context;
	CUdevice device;

	if (is_ready)
		return cudaSuccess;
	if (DRIVER(cuInit, unsigned)(0) != CUDA_SUCCESS ||
	    DRIVER(cuDeviceGet, CUdevice *, int)(&device, 0) != CUDA_SUCCESS ||
	    DRIVER(cuDevicePrimaryCtxRetain, CUcontext *, CUdevice)(&context, device) != CUDA_SUCCESS ||
	    DRIVER(cuCtxSetCurrent, CUcontext)(context) != CUDA_SUCCESS)
		return cudaErrorInitializationError;
	is_ready = 1;
	return cudaSuccess;
}

#define RUN(call) (begin() != cudaSuccess ? cudaErrorInitializationError : (cudaError_t)(call))

cudaError_t cudaMalloc(void **at, size_t bytes)
{
	return RUN(DRIVER(cuMemAlloc, void **, size_t)(at, bytes));
}

cudaError_t cudaFree(void *at)
{
	return RUN(DRIVER(cuMemFree, void *)(at));
}

cudaError_t cudaMallocHost(void **at, size_t bytes)
{
	return RUN(DRIVER(cuMemHostAlloc, void **, size_t, unsigned)(at, bytes, 0));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	if (kind == cudaMemcpyDeviceToHost)
		return RUN(DRIVER(cuMemcpyDtoH, void *, const void *, size_t)(to, from, bytes));
	if (kind == cudaMemcpyHostToDevice)
		return RUN(DRIVER(cuMemcpyHtoD, void *, const void *, size_t)(to, from, bytes));
	return RUN(DRIVER(cuMemcpyDtoD, void *, const void *, size_t)(to, from, bytes));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	if (kind == cudaMemcpyDeviceToHost)
		return RUN(DRIVER(cuMemcpyDtoHAsync, void *, const void *, size_t, CUstream)(to, from, bytes, stream));
	return RUN(DRIVER(cuMemcpyHtoDAsync, void *, const void *, size_t, CUstream)(to, from, bytes, stream));
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
	return RUN(DRIVER(cuMemsetD8Async, void *, unsigned char, size_t, CUstream)(at, (unsigned char)value, bytes,
	                                                                            stream));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return RUN(DRIVER(cuStreamCreate, CUstream *, unsigned)(stream, 0));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	return RUN(DRIVER(cuStreamSynchronize, CUstream)(stream));
}

cudaError_t cudaDeviceSynchronize(void)
{
	CUcontext context = NULL;

	/* Under CUDA 13 the name means the version that takes a context. */
	return begin() != cudaSuccess || DRIVER(cuCtxGetCurrent, CUcontext *)(&context) != CUDA_SUCCESS
	               ? cudaErrorInitializationError
	               : RUN(DRIVER(cuCtxSynchronize, CUcontext)(context));
}
