/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.c - the simulated libnccl: version, errors, memory, and what is refused
 */
#include "sim/nccl_exports.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/say.h"
#include "sim/torch_pin.h"

static __thread char last_failure[256];

int sim_nccl_fail(int result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_failure, sizeof last_failure, format, args);
	va_end(args);
	sim_say("NCCL: %s", last_failure);
	return result;
}

/* The one that PyTorch was built against: it asks nothing else of it, and tells it in its own messages. */
int ncclGetVersion(int *version)
{
	int parts[3] = { 2, 99, 0 };

	if (!version)
		return SIM_NCCL_INVALID_ARGUMENT;
	sim_torch_pin(__builtin_return_address(0), "nccl", parts);
	*version = parts[0] * 10000 + parts[1] * 100 + parts[2];
	return SIM_NCCL_SUCCESS;
}

const char *ncclGetErrorString(int result)
{
	static const char *const texts[] = {
		"no error",
		"unhandled cuda error",
		"unhandled system error",
		"internal error",
		"invalid argument",
		"invalid usage",
		"remote process exited or there was a network error",
		"NCCL operation in progress",
	};

	return result >= 0 && (size_t)result < sizeof texts / sizeof texts[0] ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(const struct sim_comm *comm)
{
	(void)comm;
	return last_failure;
}

/* Registered buffers only save the real library work. */
int ncclCommRegister(comm_t comm, void *buffer, size_t bytes, void **handle)
{
	(void)bytes;
	if (!comm || !handle)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no communicator", __func__);
	*handle = buffer;
	return SIM_NCCL_SUCCESS;
}

int ncclCommDeregister(comm_t comm, void *handle)
{
	(void)handle;
	return comm ? SIM_NCCL_SUCCESS : sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no communicator", __func__);
}

int ncclMemAlloc(void **address, size_t bytes)
{
	CUresult result = address ? sim_vendor_alloc(address, bytes) : CUDA_ERROR_INVALID_VALUE;

	return result == CUDA_SUCCESS ? SIM_NCCL_SUCCESS
	                              : sim_nccl_fail(SIM_NCCL_CUDA_ERROR, "%s: CUDA error %d", __func__, (int)result);
}

int ncclMemFree(void *address)
{
	CUresult result = sim_vendor_free(address);

	return result == CUDA_SUCCESS ? SIM_NCCL_SUCCESS
	                              : sim_nccl_fail(SIM_NCCL_CUDA_ERROR, "%s: CUDA error %d", __func__, (int)result);
}

/* What needs kernels of the program's own, and the rest of what PyTorch imports. */
#define REFUSE(name)                                                                                                   \
	SIM_EXPORT int name(void);                                                                                     \
	int name(void)                                                                                                 \
	{                                                                                                              \
		sim_refuse(#name);                                                                                     \
		return SIM_NCCL_INVALID_USAGE;                                                                         \
	}
REFUSE(ncclCommWindowRegister)
REFUSE(ncclCommWindowDeregister)
REFUSE(ncclCommShrink)
REFUSE(ncclCommGrow)
REFUSE(ncclCommRevoke)
REFUSE(ncclCommSuspend)
REFUSE(ncclCommResume)
REFUSE(ncclCommMemStats)
REFUSE(ncclDevCommCreate)
REFUSE(ncclDevCommDestroy)
REFUSE(ncclGetLsaMultimemDevicePointer)
REFUSE(ncclGetPeerDevicePointer)
REFUSE(ncclPutSignal)
REFUSE(ncclSignal)
REFUSE(ncclWaitSignal)
