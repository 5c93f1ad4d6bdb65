/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - what kind of memory an address is, on the host or on a device
 *
 * All functions: lock held, except sim_memory_view().
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/device.h"

enum sim_memory_kind { SIM_MEMORY_NONE, SIM_MEMORY_PAGEABLE, SIM_MEMORY_PINNED, SIM_MEMORY_MANAGED, SIM_MEMORY_DEVICE };

/* Device for every address of a device's range, allocated or not. */
enum sim_memory_kind sim_memory_kind(uintptr_t address);

/* The device whose memory an address is, or NULL. */
struct sim_device *sim_memory_device(uintptr_t address);

/* The block or known host range that holds the address, or NULL. */
const struct sim_range *sim_memory_find(uintptr_t address);

/* True unless the bytes lie in a device's range and not inside one of its blocks. */
bool sim_memory_is_valid(uintptr_t address, size_t bytes);

/* Where the simulator itself reads and writes that address. */
SIM_EXPORT void *sim_memory_view(uintptr_t address);

/*
 * Allocation and release, as the driver face needs them. These take the lock.
 * Free functions note pending work in the scope, wait as the knobs say, and
 * certify nothing.
 */
SIM_EXPORT CUresult sim_memory_alloc_device(uintptr_t *address, size_t bytes);
/* pool: NULL for the current one of the stream's device. */
SIM_EXPORT CUresult sim_memory_alloc_ordered(uintptr_t *address, size_t bytes, CUmemoryPool pool, CUstream stream);
SIM_EXPORT CUresult sim_memory_alloc_host(void **address, size_t bytes, bool is_managed);
SIM_EXPORT CUresult sim_memory_free_device(uintptr_t address);
SIM_EXPORT CUresult sim_memory_free_ordered(uintptr_t address, CUstream stream);
SIM_EXPORT CUresult sim_memory_free_host(void *address);
SIM_EXPORT CUresult sim_memory_register(void *address, size_t bytes);
SIM_EXPORT CUresult sim_memory_unregister(void *address);

/* What a program may ask about an address; kind is PAGEABLE and the rest 0 for memory nobody announced. */
struct sim_memory_facts {
	enum sim_memory_kind kind;
	uintptr_t base;
	size_t bytes;
	int ordinal;       /* of its device; 0 for memory of the host */
	CUmemoryPool pool; /* NULL if it is of none */
};
SIM_EXPORT void sim_memory_facts(uintptr_t address, struct sim_memory_facts *facts);

/* Of the current device. */
SIM_EXPORT void sim_memory_info(size_t *free_bytes, size_t *total_bytes);

/* The same of a device by its physical number (identity.h). False if this process does not see it or has started none. */
SIM_EXPORT bool sim_memory_info_of(int physical, size_t *free_bytes, size_t *total_bytes);

#endif
