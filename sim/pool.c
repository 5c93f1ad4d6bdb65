/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/pool.h"

#include <string.h>

#define HANDLE_BASE ((uintptr_t)0x5400000000)
#define HANDLE_STEP ((uintptr_t)0x80)

/* The first entries are the default pools, each at its device's ordinal. */
enum { MAX_POOLS = 256, FIRST_CREATED = SIM_MAX_DEVICES, N_FLAGS = 3 };

/* What a pool takes from the device at a time. */
#define RESERVE_BYTES (UINT64_C(2) << 20)

struct sim_pool {
	struct sim_device *device; /* NULL: never used */
	bool is_live;
	int flags[N_FLAGS]; /* of reuse, in the order of their attributes */
	uint64_t max_bytes; /* 0: no limit */
	uint64_t threshold;
	uint64_t used, used_high;
	uint64_t reserved, reserved_high;
};

static struct sim_pool pools[MAX_POOLS];
static struct sim_pool *current[SIM_MAX_DEVICES];
static unsigned n_known; /* entries beyond were never used */

static void init(struct sim_pool *pool, struct sim_device *device, uint64_t max_bytes)
{
	if (pool - pools >= n_known)
		n_known = (unsigned)(pool - pools) + 1;
	*pool = (struct sim_pool){ .device = device, .is_live = true, .flags = { 1, 1, 1 }, .max_bytes = max_bytes };
}

struct sim_pool *sim_pool_default(const struct sim_device *device)
{
	struct sim_pool *pool = &pools[device->ordinal];

	if (!pool->device)
		init(pool, sim_device(device->ordinal), 0);
	return pool;
}

struct sim_pool *sim_pool_current(const struct sim_device *device)
{
	struct sim_pool *pool = current[device->ordinal];

	return pool && pool->is_live ? pool : sim_pool_default(device);
}

CUresult sim_pool_set_current(const struct sim_device *device, struct sim_pool *pool)
{
	if (pool->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	current[device->ordinal] = pool;
	return CUDA_SUCCESS;
}

struct sim_pool *sim_pool_find(CUmemoryPool handle)
{
	uintptr_t distance = (uintptr_t)handle - HANDLE_BASE;

	if (distance % HANDLE_STEP != 0 || distance / HANDLE_STEP >= MAX_POOLS)
		return NULL;
	struct sim_pool *pool = &pools[distance / HANDLE_STEP];
	return pool->is_live ? pool : NULL;
}

CUmemoryPool sim_pool_handle(const struct sim_pool *pool)
{
	return (CUmemoryPool)(HANDLE_BASE + (uintptr_t)(pool - pools) * HANDLE_STEP);
}

struct sim_pool *sim_pool_create(struct sim_device *device, uint64_t max_bytes)
{
	for (unsigned i = FIRST_CREATED; i < MAX_POOLS; i++) {
		if (!pools[i].is_live && !pools[i].used) {
			init(&pools[i], device, max_bytes);
			return &pools[i];
		}
	}
	return NULL;
}

CUresult sim_pool_destroy(struct sim_pool *pool)
{
	if (pool < &pools[FIRST_CREATED])
		return CUDA_ERROR_INVALID_VALUE;
	pool->is_live = false;
	pool->reserved = pool->used;
	return CUDA_SUCCESS;
}

void sim_pool_trim(struct sim_pool *pool, uint64_t keep_bytes)
{
	uint64_t least = (pool->used + RESERVE_BYTES - 1) / RESERVE_BYTES * RESERVE_BYTES;

	if (least < keep_bytes)
		least = keep_bytes;
	if (pool->reserved > least)
		pool->reserved = least;
}

/* Where an attribute that counts bytes is kept; NULL for the others. */
static const uint64_t *count_of(const struct sim_pool *pool, CUmemPool_attribute attribute)
{
	switch ((int)attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		return &pool->threshold;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		return &pool->reserved;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		return &pool->reserved_high;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		return &pool->used;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return &pool->used_high;
	default:
		return NULL;
	}
}

static bool is_flag(CUmemPool_attribute attribute)
{
	return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
	       attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult sim_pool_get(const struct sim_pool *pool, CUmemPool_attribute attribute, void *value)
{
	const uint64_t *count = count_of(pool, attribute);

	if (is_flag(attribute))
		memcpy(value, &pool->flags[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], sizeof(int));
	else if (count)
		memcpy(value, count, sizeof *count);
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult sim_pool_set(struct sim_pool *pool, CUmemPool_attribute attribute, const void *value)
{
	uint64_t number;

	if (is_flag(attribute)) {
		memcpy(&pool->flags[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], value, sizeof(int));
		return CUDA_SUCCESS;
	}
	if (!count_of(pool, attribute))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&number, value, sizeof number);
	if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		pool->threshold = number;
	/* The highest so far can be begun anew; what is so now can not be changed. */
	else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && number == 0)
		pool->reserved_high = pool->reserved;
	else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && number == 0)
		pool->used_high = pool->used;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

struct sim_device *sim_pool_device(const struct sim_pool *pool)
{
	return pool->device;
}

unsigned sim_pool_number(const struct sim_pool *pool)
{
	return (unsigned)(pool - pools);
}

struct sim_pool *sim_pool_of_number(unsigned number)
{
	return &pools[number];
}

bool sim_pool_has_room(const struct sim_pool *pool, size_t bytes)
{
	return !pool->max_bytes || (bytes <= pool->max_bytes && pool->used <= pool->max_bytes - bytes);
}

void sim_pools_make_room(const struct sim_device *device)
{
	const struct sim_device_memory *memory = &device->memory;

	if (memory->used_bytes + sim_pools_kept(device) <= memory->bytes)
		return;
	for (unsigned i = 0; i < n_known; i++)
		if (pools[i].device == device)
			sim_pool_trim(&pools[i], 0);
}

void sim_pool_account(struct sim_pool *pool, size_t allocated_bytes, size_t freed_bytes)
{
	pool->used += allocated_bytes;
	pool->used -= freed_bytes < pool->used ? freed_bytes : pool->used;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->used > pool->reserved)
		pool->reserved = (pool->used + RESERVE_BYTES - 1) / RESERVE_BYTES * RESERVE_BYTES;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	sim_pools_make_room(pool->device);
}

void sim_pools_settle(void)
{
	for (unsigned i = 0; i < n_known; i++)
		if (pools[i].reserved > pools[i].used)
			sim_pool_trim(&pools[i], pools[i].threshold);
}

uint64_t sim_pools_kept(const struct sim_device *device)
{
	uint64_t kept = 0;

	for (unsigned i = 0; i < n_known; i++)
		if (pools[i].device == device && pools[i].reserved > pools[i].used)
			kept += pools[i].reserved - pools[i].used;
	return kept;
}

void sim_pools_reset(const struct sim_device *device)
{
	for (unsigned i = 0; i < n_known; i++)
		if (pools[i].device == device)
			pools[i].used = pools[i].reserved = 0;
}
