/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_ipc.c - libcudart: memory and events shared with other processes; the handles are the driver's */
#include "sim/cudart_face.h"

#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "one handle");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "one handle");

SIM_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *ptr)
{
	RT_READY();
	return rt_noted(DRV(cuIpcGetMemHandle)((CUipcMemHandle *)(void *)handle, (CUdeviceptr)(uintptr_t)ptr));
}

SIM_EXPORT cudaError_t cudaIpcOpenMemHandle(void **ptr, cudaIpcMemHandle_t handle, unsigned flags)
{
	CUipcMemHandle driver_handle;

	RT_READY();
	memcpy(&driver_handle, &handle, sizeof driver_handle);
	return rt_noted(DRV(cuIpcOpenMemHandle)((CUdeviceptr *)(void *)ptr, driver_handle, flags));
}

SIM_EXPORT cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
	RT_READY();
	return rt_noted(DRV(cuIpcCloseMemHandle)((CUdeviceptr)(uintptr_t)ptr));
}

SIM_EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
	RT_READY();
	return rt_noted(DRV(cuIpcGetEventHandle)((CUipcEventHandle *)(void *)handle, event));
}

SIM_EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
	CUipcEventHandle driver_handle;

	RT_READY();
	memcpy(&driver_handle, &handle, sizeof driver_handle);
	return rt_noted(DRV(cuIpcOpenEventHandle)(event, driver_handle));
}
