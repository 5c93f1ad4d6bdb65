/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - memory pools: who allocated in stream order, and how much a pool keeps
 *
 * Blocks come from the one heap of a device whatever the pool; a pool is an
 * account. What it keeps for later (reserved beyond used) is not free for
 * cuMemGetInfo(), and is given back when a wait finds more kept than the
 * threshold, on trimming, or when the heap would else be full.
 * Lock held for all.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/device.h"

struct sim_pool;

/* The pool of a handle, or NULL if it is none or was destroyed. */
SIM_EXPORT struct sim_pool *sim_pool_find(CUmemoryPool handle);
SIM_EXPORT CUmemoryPool sim_pool_handle(const struct sim_pool *pool);

/* Each device has a default pool, which nobody can destroy, and a current one. */
SIM_EXPORT struct sim_pool *sim_pool_default(const struct sim_device *device);
SIM_EXPORT struct sim_pool *sim_pool_current(const struct sim_device *device);
SIM_EXPORT CUresult sim_pool_set_current(const struct sim_device *device, struct sim_pool *pool);

/* max_bytes: 0 for no limit. NULL without room for another one. */
SIM_EXPORT struct sim_pool *sim_pool_create(struct sim_device *device, uint64_t max_bytes);
/* What is still allocated from it lives on. CUDA_ERROR_INVALID_VALUE for a default pool. */
SIM_EXPORT CUresult sim_pool_destroy(struct sim_pool *pool);

SIM_EXPORT void sim_pool_trim(struct sim_pool *pool, uint64_t keep_bytes);

/* value: an int for the flags, else a cuuint64_t, as the driver's functions have it. */
SIM_EXPORT CUresult sim_pool_get(const struct sim_pool *pool, CUmemPool_attribute attribute, void *value);
SIM_EXPORT CUresult sim_pool_set(struct sim_pool *pool, CUmemPool_attribute attribute, const void *value);

struct sim_device *sim_pool_device(const struct sim_pool *pool);

/* A number for the tag of a block, and back. */
unsigned sim_pool_number(const struct sim_pool *pool);
struct sim_pool *sim_pool_of_number(unsigned number);

/* A block was allocated or freed. */
bool sim_pool_has_room(const struct sim_pool *pool, size_t bytes);
void sim_pool_account(struct sim_pool *pool, size_t allocated_bytes, size_t freed_bytes);

/* A wait has ended: pools give back what they keep beyond their thresholds. */
void sim_pools_settle(void);

/* The heap has grown: pools give back what they keep if that would not fit beside it. */
void sim_pools_make_room(const struct sim_device *device);

/* What the pools of the device keep and do not use. */
uint64_t sim_pools_kept(const struct sim_device *device);

/* All blocks of the device are gone. */
void sim_pools_reset(const struct sim_device *device);

#endif
