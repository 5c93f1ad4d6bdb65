/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_launch.c - libcudart: launches, kernels, libraries, symbols */
#include "sim/cudart_face.h"

#include <string.h>

/* The driver launches kernels through the same type as functions. */
static cudaError_t launch(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes, cudaStream_t stream)
{
	return rt_error(DRV(cuLaunchKernel)((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
	                                    (unsigned)shared_bytes, stream, args, NULL));
}

cudaError_t rt_cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                cudaStream_t stream)
{
	CUkernel kernel;
	cudaError_t error = rt_kernel_of_stub(&kernel, func);

	return error == cudaSuccess ? launch(kernel, grid, block, args, shared_bytes, stream) : error;
}

cudaError_t rt_cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                           cudaStream_t stream)
{
	CUkernel kernel;
	cudaError_t error = rt_kernel_of_stub(&kernel, func);

	if (error != cudaSuccess)
		return error;
	return rt_error(DRV(cuLaunchCooperativeKernel)((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
	                                               block.z, (unsigned)shared_bytes, stream, args));
}

/* Launch attributes tune kernels that compute; they are not passed on. */
cudaError_t rt_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
	CUkernel kernel;

	if (!config)
		return cudaErrorInvalidValue;
	cudaError_t error = rt_kernel_of_stub(&kernel, func);
	if (error != cudaSuccess)
		return error;
	CUlaunchConfig driver_config = { .gridDimX = config->gridDim.x,
		                         .gridDimY = config->gridDim.y,
		                         .gridDimZ = config->gridDim.z,
		                         .blockDimX = config->blockDim.x,
		                         .blockDimY = config->blockDim.y,
		                         .blockDimZ = config->blockDim.z,
		                         .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
		                         .hStream = config->stream };
	return rt_error(DRV(cuLaunchKernelEx)(&driver_config, (CUfunction)kernel, args, NULL));
}

#if CUDART_VERSION >= 13000
cudaError_t rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                                  cudaStream_t stream)
{
	return launch((CUkernel)kernel, grid, block, args, shared_bytes, stream);
}
#endif

SIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
SIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
	RT_READY();
	return kernel ? rt_note(rt_kernel_of_stub((CUkernel *)kernel, stub)) : rt_note(cudaErrorInvalidValue);
}

SIM_EXPORT cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
	return __cudaGetKernel(kernel, stub);
}

SIM_EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub)
{
	return __cudaGetKernel((cudaKernel_t *)function, stub);
}

static int kernel_attribute(CUkernel kernel, CUfunction_attribute attribute)
{
	int value = 0;

	DRV(cuKernelGetAttribute)(&value, attribute, kernel, 0);
	return value;
}

SIM_EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func)
{
	CUkernel kernel;

	RT_READY();
	if (!attributes)
		return rt_note(cudaErrorInvalidValue);
	cudaError_t error = rt_kernel_of_stub(&kernel, func);
	if (error != cudaSuccess)
		return rt_note(error);
	memset(attributes, 0, sizeof *attributes);
	attributes->maxThreadsPerBlock = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	attributes->numRegs = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
	attributes->ptxVersion = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION);
	attributes->binaryVersion = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
	attributes->maxDynamicSharedSizeBytes =
		kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
	attributes->preferredShmemCarveout =
		kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
	return cudaSuccess;
}

SIM_EXPORT cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
	CUkernel kernel;

	RT_READY();
	cudaError_t error = rt_kernel_of_stub(&kernel, func);
	if (error == cudaSuccess)
		error = rt_error(DRV(cuKernelSetAttribute)((CUfunction_attribute)attribute, value, kernel, 0));
	return rt_note(error);
}

SIM_EXPORT cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
	CUkernel kernel;

	RT_READY();
	(void)config;
	return rt_note(rt_kernel_of_stub(&kernel, func));
}

SIM_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *func, int block,
                                                                              size_t shared_bytes, unsigned flags)
{
	CUkernel kernel;

	RT_READY();
	cudaError_t error = rt_kernel_of_stub(&kernel, func);
	if (error == cudaSuccess)
		error = rt_error(DRV(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(n, (CUfunction)kernel, block,
		                                                                           shared_bytes, flags));
	return rt_note(error);
}

SIM_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *func, int block,
                                                                     size_t shared_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, func, block, shared_bytes, 0);
}

SIM_EXPORT cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol)
{
	CUdeviceptr address;
	size_t bytes;

	RT_READY();
	cudaError_t error = ptr ? rt_address_of_symbol(&address, &bytes, symbol) : cudaErrorInvalidValue;
	if (error == cudaSuccess)
		*ptr = (void *)address;
	return rt_note(error);
}

SIM_EXPORT cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	CUdeviceptr address;

	RT_READY();
	return rt_note(bytes ? rt_address_of_symbol(&address, bytes, symbol) : cudaErrorInvalidValue);
}

SIM_EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit,
                                           void **jit_values, unsigned n_jit, enum cudaLibraryOption *options,
                                           void **values, unsigned n)
{
	RT_READY();
	(void)jit;
	(void)jit_values;
	(void)n_jit;
	(void)options;
	(void)values;
	(void)n;
	return rt_noted(DRV(cuLibraryLoadData)((CUlibrary *)library, code, NULL, NULL, 0, NULL, NULL, 0));
}

SIM_EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	RT_READY();
	return rt_noted(DRV(cuLibraryUnload)((CUlibrary)library));
}

SIM_EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	RT_READY();
	return rt_noted(DRV(cuLibraryGetKernel)((CUkernel *)kernel, (CUlibrary)library, name));
}

SIM_EXPORT cudaError_t cudaLibraryGetGlobal(void **ptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
	RT_READY();
	return rt_noted(DRV(cuLibraryGetGlobal)((CUdeviceptr *)ptr, bytes, (CUlibrary)library, name));
}

SIM_EXPORT cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value,
                                                       int device)
{
	RT_READY();
	return rt_noted(DRV(cuKernelSetAttribute)((CUfunction_attribute)attribute, value, (CUkernel)kernel, device));
}

cudaError_t rt_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t func, void *data)
{
	return rt_error(DRV(cuLaunchHostFunc)(stream, func, data));
}

/* CUresult and cudaError_t are passed alike, and the codes are the same. */
cudaError_t rt_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t func, void *data, unsigned flags)
{
	CUstreamCallback driver_func;

	memcpy(&driver_func, &func, sizeof driver_func);
	return rt_error(DRV(cuStreamAddCallback)(stream, driver_func, data, flags));
}
