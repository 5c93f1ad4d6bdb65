/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.h - memory and events that processes of one machine and user share
 *
 * A handle, which the program carries over, names a file of the exporting
 * process: the memory of a device, or the page of an event. The importing one
 * opens it under /proc, so it works as long as the exporter lives.
 * Lock held for all.
 */
#ifndef SIM_IPC_H
#define SIM_IPC_H

#include <cuda.h>
#include <stdint.h>

#include "sim/knobs.h"

/* The whole block that the address is in. CUDA_ERROR_INVALID_VALUE if it is none of cuMemAlloc(). */
SIM_EXPORT CUresult sim_ipc_export_memory(CUipcMemHandle *handle, uintptr_t address);

/*
 * The block, at an address of this process. CUDA_ERROR_INVALID_CONTEXT in the
 * process that exported it, CUDA_ERROR_INVALID_VALUE if that has ended or the
 * handle is none.
 */
SIM_EXPORT CUresult sim_ipc_import_memory(uintptr_t *address, const CUipcMemHandle *handle);
SIM_EXPORT CUresult sim_ipc_close_memory(uintptr_t address);

SIM_EXPORT CUresult sim_ipc_export_event(CUipcEventHandle *handle, CUevent event);
SIM_EXPORT CUresult sim_ipc_import_event(CUevent *event, const CUipcEventHandle *handle);

#endif
