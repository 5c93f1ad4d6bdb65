/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_memory.h - host memory the device knows about: pinned, registered, managed
 *
 * Everything else the host has is pageable. All functions: lock held.
 */
#ifndef SIM_HOST_MEMORY_H
#define SIM_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/ranges.h"

/* How a range came to be known; the tag of its range. */
enum sim_host_block { SIM_HOST_PINNED, SIM_HOST_REGISTERED, SIM_HOST_MANAGED };

/* New zeroed memory, or NULL. */
void *sim_host_memory_alloc(size_t bytes, enum sim_host_block kind);

/* Gives back what sim_host_memory_alloc() made. False if there is no such block of this kind. */
bool sim_host_memory_free(const void *address, enum sim_host_block kind);

enum sim_register { SIM_REGISTER_OK, SIM_REGISTER_OVERLAP, SIM_REGISTER_NO_MEMORY };
enum sim_register sim_host_memory_register(const void *address, size_t bytes);
bool sim_host_memory_unregister(const void *address);

/* The known range that holds the address, or NULL. */
const struct sim_range *sim_host_memory_find(const void *address);

#endif
