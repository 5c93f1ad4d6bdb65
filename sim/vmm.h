/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmm.h - virtual memory management: addresses and physical memory apart
 *
 * A program reserves addresses, creates physical memory, maps one on the other
 * and says who may use it. Addresses come from one window that the host can
 * not read; a second window, the alias, is where the simulator finds the bytes:
 * mapping puts the pages of a device's memory there, unmapping takes them away.
 * Sizes and addresses are multiples of SIM_VMM_GRANULARITY_BYTES.
 * All functions: lock held, except sim_vmm_owns() and sim_vmm_alias().
 */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/knobs.h"

struct sim_device;
struct sim_range;

#define SIM_VMM_GRANULARITY_BYTES ((size_t)2 << 20)

SIM_EXPORT CUresult sim_vmm_reserve(uintptr_t *address, size_t bytes, size_t alignment, uintptr_t wish);
SIM_EXPORT CUresult sim_vmm_free_reserved(uintptr_t address, size_t bytes);

/* The handle counts as one use; sim_vmm_retain() adds one, each mapping holds one. */
SIM_EXPORT CUresult sim_vmm_create(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop);
SIM_EXPORT CUresult sim_vmm_release(CUmemGenericAllocationHandle handle);
SIM_EXPORT CUresult sim_vmm_retain(CUmemGenericAllocationHandle *handle, uintptr_t address);
SIM_EXPORT CUresult sim_vmm_properties(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);

/* All of the physical memory, on reserved addresses on which nothing is mapped. No device may use it yet. */
SIM_EXPORT CUresult sim_vmm_map(uintptr_t address, size_t bytes, CUmemGenericAllocationHandle handle);

/* Whole mappings only. What the device still has to do with the bytes is done first, in no time of the host. */
SIM_EXPORT CUresult sim_vmm_unmap(uintptr_t address, size_t bytes);

SIM_EXPORT CUresult sim_vmm_set_access(uintptr_t address, size_t bytes, int ordinal, CUmemAccess_flags flags);
SIM_EXPORT CUresult sim_vmm_get_access(unsigned long long *flags, int ordinal, uintptr_t address);

/* Part of a file that another process has as the memory of a device. Reserves addresses, maps and gives access. */
CUresult sim_vmm_import(uintptr_t *address, size_t bytes, struct sim_device *device, int fd, uint64_t offset);
CUresult sim_vmm_end_import(uintptr_t address);

/* True for every address of the window. */
bool sim_vmm_owns(uintptr_t address);
void *sim_vmm_alias(uintptr_t address);

/* The mapping that holds the address, or NULL. */
const struct sim_range *sim_vmm_find(uintptr_t address);

/* The device whose memory is mapped there, or NULL. */
struct sim_device *sim_vmm_device(uintptr_t address);

/* True if some device may use all these bytes. */
bool sim_vmm_is_valid(uintptr_t address, size_t bytes);

/* Takes away the mappings of a device's memory, whose heap is about to be emptied. */
void sim_vmm_reset(const struct sim_device *device);

#endif
