/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ipc.c - libcuda: memory and events shared with other processes, done by ipc.c */
#include "sim/cuda_face.h"

#include "sim/ipc.h"
#include "sim/lock.h"

#define LOCKED(expression)                                                                                             \
	do {                                                                                                           \
		sim_lock();                                                                                            \
		CUresult result_ = (expression);                                                                       \
		sim_unlock();                                                                                          \
		return result_;                                                                                        \
	} while (0)

SIM_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	SIM_TOUCH();
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	LOCKED(sim_ipc_export_memory(handle, ptr));
}

SIM_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags)
{
	uintptr_t address;

	SIM_TOUCH();
	if (!ptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_ipc_import_memory(&address, &handle);
	sim_unlock();
	if (result == CUDA_SUCCESS)
		*ptr = address;
	return result;
}

SIM_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
	SIM_TOUCH();
	LOCKED(sim_ipc_close_memory(ptr));
}

SIM_EXPORT CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
	SIM_TOUCH();
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	LOCKED(sim_ipc_export_event(handle, event));
}

SIM_EXPORT CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
	SIM_TOUCH();
	if (!event)
		return CUDA_ERROR_INVALID_VALUE;
	LOCKED(sim_ipc_import_event(event, &handle));
}
