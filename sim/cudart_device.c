/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_device.c - libcudart: devices and their properties, limits, the profiler's switch */
#include "sim/cudart_face.h"

#include <string.h>

SIM_EXPORT cudaError_t cudaGetDeviceCount(int *n)
{
	cudaError_t error = n ? rt_find_driver() : cudaErrorInvalidValue;

	return error == cudaSuccess ? rt_noted(rt_driver()->cuDeviceGetCount[0](n)) : rt_note(error);
}

SIM_EXPORT cudaError_t cudaGetDevice(int *device)
{
	if (!device)
		return rt_note(cudaErrorInvalidValue);
	*device = rt_device();
	return cudaSuccess;
}

static cudaError_t check_device(int device)
{
	int n = 0;
	cudaError_t error = rt_find_driver();

	if (error == cudaSuccess)
		error = rt_error(rt_driver()->cuDeviceGetCount[0](&n));
	return error == cudaSuccess && (device < 0 || device >= n) ? cudaErrorInvalidDevice : error;
}

cudaError_t rt_cudaSetDevice(int device)
{
	cudaError_t error = check_device(device);

	return error == cudaSuccess ? rt_select(device) : error;
}

SIM_EXPORT cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags;
	(void)flags;
	return cudaSetDevice(device);
}

SIM_EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	cudaError_t error = rt_find_driver();

	return error == cudaSuccess ? rt_noted(rt_driver()->cuDevicePrimaryCtxSetFlags[0](rt_device(), flags))
	                            : rt_note(error);
}

SIM_EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	int is_active;
	cudaError_t error = flags ? rt_find_driver() : cudaErrorInvalidValue;

	if (error != cudaSuccess)
		return rt_note(error);
	return rt_noted(rt_driver()->cuDevicePrimaryCtxGetState[0](rt_device(), flags, &is_active));
}

/* The runtime's attributes have the driver's numbers. */
SIM_EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	cudaError_t error = rt_find_driver();

	if (error != cudaSuccess)
		return rt_note(error);
	return rt_noted(rt_driver()->cuDeviceGetAttribute[0](value, (CUdevice_attribute)attribute, device));
}

static int attribute_of(CUdevice_attribute attribute, int device)
{
	int value = 0;

	rt_driver()->cuDeviceGetAttribute[0](&value, attribute, device);
	return value;
}

#define ATTRIBUTE(name) attribute_of(CU_DEVICE_ATTRIBUTE_##name, device)

static void describe_limits(struct cudaDeviceProp *p, int device)
{
	p->sharedMemPerBlock = (size_t)ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK);
	p->sharedMemPerBlockOptin = (size_t)ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	p->sharedMemPerMultiprocessor = (size_t)ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	p->reservedSharedMemPerBlock = (size_t)ATTRIBUTE(RESERVED_SHARED_MEMORY_PER_BLOCK);
	p->totalConstMem = (size_t)ATTRIBUTE(TOTAL_CONSTANT_MEMORY);
	p->regsPerBlock = ATTRIBUTE(MAX_REGISTERS_PER_BLOCK);
	p->regsPerMultiprocessor = ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR);
	p->memPitch = (size_t)ATTRIBUTE(MAX_PITCH);
	p->maxThreadsPerBlock = ATTRIBUTE(MAX_THREADS_PER_BLOCK);
	p->maxThreadsPerMultiProcessor = ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR);
	p->maxBlocksPerMultiProcessor = ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR);
	p->maxThreadsDim[0] = ATTRIBUTE(MAX_BLOCK_DIM_X);
	p->maxThreadsDim[1] = ATTRIBUTE(MAX_BLOCK_DIM_Y);
	p->maxThreadsDim[2] = ATTRIBUTE(MAX_BLOCK_DIM_Z);
	p->maxGridSize[0] = ATTRIBUTE(MAX_GRID_DIM_X);
	p->maxGridSize[1] = ATTRIBUTE(MAX_GRID_DIM_Y);
	p->maxGridSize[2] = ATTRIBUTE(MAX_GRID_DIM_Z);
	p->textureAlignment = (size_t)ATTRIBUTE(TEXTURE_ALIGNMENT);
	p->texturePitchAlignment = (size_t)ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT);
	p->surfaceAlignment = (size_t)ATTRIBUTE(SURFACE_ALIGNMENT);
}

static void describe_abilities(struct cudaDeviceProp *p, int device)
{
	p->major = ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR);
	p->minor = ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
	p->warpSize = ATTRIBUTE(WARP_SIZE);
	p->multiProcessorCount = ATTRIBUTE(MULTIPROCESSOR_COUNT);
	p->memoryBusWidth = ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH);
	p->l2CacheSize = ATTRIBUTE(L2_CACHE_SIZE);
	p->asyncEngineCount = ATTRIBUTE(ASYNC_ENGINE_COUNT);
	p->canMapHostMemory = ATTRIBUTE(CAN_MAP_HOST_MEMORY);
	p->concurrentKernels = ATTRIBUTE(CONCURRENT_KERNELS);
	p->unifiedAddressing = ATTRIBUTE(UNIFIED_ADDRESSING);
	p->managedMemory = ATTRIBUTE(MANAGED_MEMORY);
	p->concurrentManagedAccess = ATTRIBUTE(CONCURRENT_MANAGED_ACCESS);
	p->streamPrioritiesSupported = ATTRIBUTE(STREAM_PRIORITIES_SUPPORTED);
	p->computePreemptionSupported = ATTRIBUTE(COMPUTE_PREEMPTION_SUPPORTED);
	p->cooperativeLaunch = ATTRIBUTE(COOPERATIVE_LAUNCH);
	p->memoryPoolsSupported = ATTRIBUTE(MEMORY_POOLS_SUPPORTED);
	p->hostRegisterSupported = ATTRIBUTE(HOST_REGISTER_SUPPORTED);
	p->canUseHostPointerForRegisteredMem = ATTRIBUTE(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
	p->globalL1CacheSupported = ATTRIBUTE(GLOBAL_L1_CACHE_SUPPORTED);
	p->localL1CacheSupported = ATTRIBUTE(LOCAL_L1_CACHE_SUPPORTED);
	p->pciBusID = ATTRIBUTE(PCI_BUS_ID);
#if CUDART_VERSION < 13000
	p->clockRate = ATTRIBUTE(CLOCK_RATE);
	p->memoryClockRate = ATTRIBUTE(MEMORY_CLOCK_RATE);
	p->deviceOverlap = ATTRIBUTE(GPU_OVERLAP);
#endif
}

static cudaError_t properties(struct cudaDeviceProp *p, int device)
{
	CUuuid uuid;
	cudaError_t error = p ? check_device(device) : cudaErrorInvalidValue;

	if (error != cudaSuccess)
		return error;
	memset(p, 0, sizeof *p);
	describe_limits(p, device);
	describe_abilities(p, device);
	CUresult result = rt_driver()->cuDeviceGetName[0](p->name, (int)sizeof p->name, device);
	if (result == CUDA_SUCCESS)
		result = rt_driver()->cuDeviceTotalMem[0](&p->totalGlobalMem, device);
	if (result == CUDA_SUCCESS)
		result = rt_driver()->cuDeviceGetUuid[0](&uuid, device);
	if (result == CUDA_SUCCESS)
		memcpy(p->uuid.bytes, uuid.bytes, sizeof p->uuid.bytes);
	return rt_error(result);
}

#if CUDART_VERSION >= 13000
SIM_EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
#else
SIM_EXPORT cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device)
#endif
{
	return rt_note(properties(p, device));
}

SIM_EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	cudaError_t error = rt_find_driver();

	return error == cudaSuccess ? rt_noted(rt_driver()->cuDeviceCanAccessPeer[0](can, device, peer))
	                            : rt_note(error);
}

/* Leave is given to contexts; the peer's is its primary one, which the runtime enters for the occasion. */
static cudaError_t with_peer(int peer, CUresult (*what)(CUcontext, unsigned), unsigned flags)
{
	CUcontext context;

	if (check_device(peer) != cudaSuccess || peer == rt_device())
		return cudaErrorInvalidDevice;
	CUresult result = rt_primary(peer, &context);
	return rt_error(result == CUDA_SUCCESS ? what(context, flags) : result);
}

static CUresult disable(CUcontext context, unsigned unused)
{
	(void)unused;
	return rt_driver()->cuCtxDisablePeerAccess[0](context);
}

SIM_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	RT_READY();
	return rt_note(with_peer(peer, rt_driver()->cuCtxEnablePeerAccess[0], flags));
}

SIM_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	RT_READY();
	return rt_note(with_peer(peer, disable, 0));
}

SIM_EXPORT cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device, int peer)
{
	cudaError_t error = rt_find_driver();

	if (error != cudaSuccess)
		return rt_note(error);
	return rt_noted(rt_driver()->cuDeviceGetP2PAttribute[0](value, (CUdevice_P2PAttribute)attribute, device, peer));
}

SIM_EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
	cudaError_t error = rt_find_driver();

	return error == cudaSuccess ? rt_noted(rt_driver()->cuDeviceGetPCIBusId[0](text, bytes, device))
	                            : rt_note(error);
}

SIM_EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
	cudaError_t error = rt_find_driver();

	return error == cudaSuccess ? rt_noted(rt_driver()->cuDeviceGetByPCIBusId[0](device, text)) : rt_note(error);
}

SIM_EXPORT cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	RT_READY();
	return rt_noted(DRV(cuCtxSetLimit)((CUlimit)limit, value));
}

SIM_EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	RT_READY();
	return rt_noted(DRV(cuCtxGetLimit)(value, (CUlimit)limit));
}

SIM_EXPORT cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	RT_READY();
	return rt_noted(DRV(cuCtxSetCacheConfig)((CUfunc_cache)config));
}

SIM_EXPORT cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	RT_READY();
	return rt_noted(DRV(cuCtxGetCacheConfig)((CUfunc_cache *)config));
}

SIM_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}

/* Declared in cuda_profiler_api.h, which the header packages lack. */
SIM_EXPORT cudaError_t cudaProfilerStart(void);
SIM_EXPORT cudaError_t cudaProfilerStart(void)
{
	return cudaSuccess;
}

SIM_EXPORT cudaError_t cudaProfilerStop(void);
SIM_EXPORT cudaError_t cudaProfilerStop(void)
{
	return cudaSuccess;
}
