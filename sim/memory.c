/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory.h"

#include <stdlib.h>

#include "sim/capture.h"
#include "sim/graph_memory.h"
#include "sim/host_memory.h"
#include "sim/lock.h"
#include "sim/pool.h"
#include "sim/scope.h"
#include "sim/timeline.h"
#include "sim/vmm.h"

/* The block of that device's heap that holds the address, as far as the program may know of it. */
static struct sim_range *find_block(const struct sim_device *device, uintptr_t address)
{
	struct sim_range *block = sim_device_memory_find(&device->memory, address);

	return block && SIM_BLOCK_KIND(block->tag) != SIM_BLOCK_PHYSICAL ? block : NULL;
}

enum sim_memory_kind sim_memory_kind(uintptr_t address)
{
	if (sim_device_of(address) || sim_vmm_owns(address))
		return SIM_MEMORY_DEVICE;
	const struct sim_range *range = sim_host_memory_find((const void *)address);
	if (!range)
		return SIM_MEMORY_PAGEABLE;
	return range->tag == SIM_HOST_MANAGED ? SIM_MEMORY_MANAGED : SIM_MEMORY_PINNED;
}

struct sim_device *sim_memory_device(uintptr_t address)
{
	struct sim_device *device = sim_device_of(address);

	return device || !sim_vmm_owns(address) ? device : sim_vmm_device(address);
}

const struct sim_range *sim_memory_find(uintptr_t address)
{
	const struct sim_device *device = sim_device_of(address);

	if (device)
		return find_block(device, address);
	if (sim_vmm_owns(address))
		return sim_vmm_find(address);
	return sim_host_memory_find((const void *)address);
}

bool sim_memory_is_valid(uintptr_t address, size_t bytes)
{
	const struct sim_device *device = sim_device_of(address);

	if (!device)
		return !sim_vmm_owns(address) || sim_vmm_is_valid(address, bytes);
	const struct sim_range *block = find_block(device, address);
	return block && bytes <= block->base + block->bytes - address;
}

void *sim_memory_view(uintptr_t address)
{
	const struct sim_device *device = sim_device_of(address);

	if (device)
		return sim_device_memory_alias(&device->memory, address);
	if (sim_vmm_owns(address))
		return sim_vmm_alias(address);
	return (void *)address;
}

CUresult sim_memory_alloc_device(uintptr_t *address, size_t bytes)
{
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_capture_unsafe();
	uintptr_t block = 0;
	if (result == CUDA_SUCCESS)
		block = sim_device_memory_alloc(&sim_device_current()->memory, bytes, SIM_BLOCK_PLAIN);
	if (block)
		sim_pools_make_room(sim_device_current());
	sim_unlock();
	if (!block)
		return result == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : result;
	*address = block;
	return CUDA_SUCCESS;
}

static CUresult alloc_captured(struct sim_stream *stream, uintptr_t *address, size_t bytes)
{
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .memory = { .bytes = bytes } };
	bool is_captured;

	node.memory.block = sim_graph_memory_new(bytes, &node.memory.address);
	if (!node.memory.block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = sim_capture_submit(stream, &node, &is_captured);
	sim_graph_memory_drop(node.memory.block);
	if (result == CUDA_SUCCESS)
		*address = node.memory.address;
	return result;
}

/* A block of the heap ends, and its pool hears of it. */
static void free_block(struct sim_device *device, uintptr_t address)
{
	const struct sim_range *block = sim_device_memory_find(&device->memory, address);

	/* Resetting the device has freed it already. */
	if (!block || block->base != address)
		return;
	struct sim_range was = *block;
	sim_device_memory_free(&device->memory, address);
	if (SIM_BLOCK_KIND(was.tag) == SIM_BLOCK_ORDERED || SIM_BLOCK_KIND(was.tag) == SIM_BLOCK_ENDING)
		sim_pool_account(sim_pool_of_number(SIM_BLOCK_POOL(was.tag)), 0, was.bytes);
}

/* From the pool, or from the device's current one where none is named. */
static uintptr_t alloc_from(struct sim_pool *pool, size_t bytes)
{
	struct sim_device_memory *memory = &sim_pool_device(pool)->memory;

	if (!sim_pool_has_room(pool, bytes))
		return 0;
	uintptr_t address = sim_device_memory_alloc(memory, bytes, SIM_BLOCK_ORDERED);
	if (!address)
		return 0;
	struct sim_range *block = sim_device_memory_find(memory, address);
	block->tag |= (uint64_t)sim_pool_number(pool) << 8;
	sim_pool_account(pool, block->bytes, 0);
	return address;
}

static CUresult alloc_on(struct sim_stream *stream, struct sim_pool *pool, uintptr_t *address, size_t bytes)
{
	bool is_captured;

	if (sim_is_capturing(stream))
		return alloc_captured(stream, address, bytes);
	CUresult result = sim_capture_submit(stream, NULL, &is_captured);
	if (result != CUDA_SUCCESS)
		return result;
	uintptr_t block = alloc_from(pool ? pool : sim_pool_current(stream->device), bytes);
	result = block ? sim_timeline_submit(stream, 0, NULL) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		*address = block;
	else if (block)
		free_block(sim_device_of(block), block);
	return result;
}

CUresult sim_memory_alloc_ordered(uintptr_t *address, size_t bytes, CUmemoryPool pool_handle, CUstream handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	struct sim_pool *pool = pool_handle ? sim_pool_find(pool_handle) : NULL;
	if (pool_handle && !pool)
		result = CUDA_ERROR_INVALID_VALUE;
	else if (stream)
		result = alloc_on(stream, pool, address, bytes);
	sim_unlock();
	return result;
}

CUresult sim_memory_alloc_host(void **address, size_t bytes, bool is_managed)
{
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult result = sim_capture_unsafe();
	void *block = NULL;
	if (result == CUDA_SUCCESS)
		block = sim_host_memory_alloc(bytes, is_managed ? SIM_HOST_MANAGED : SIM_HOST_PINNED);
	sim_unlock();
	if (!block)
		return result == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : result;
	*address = block;
	return CUDA_SUCCESS;
}

/* What every kind of free has in common: the account of pending work, and the wait. */
static void leave_to_device(const struct sim_device *device, bool waits)
{
	sim_scope_note_pending(sim_streams_device_pending(device));
	if (waits)
		(void)sim_timeline_wait_device(device);
}

/* Host memory belongs to no device: the wait is for the one the thread works with. */
static void leave_host_memory(bool waits)
{
	leave_to_device(sim_device_current(), waits);
}

static CUresult free_managed(uintptr_t address, size_t bytes)
{
	sim_timeline_cancel(address, bytes);
	return sim_host_memory_free((void *)address, SIM_HOST_MANAGED) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_memory_free_device(uintptr_t address)
{
	CUresult result = address ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;

	sim_lock();
	CUresult refused = sim_capture_unsafe();
	const struct sim_range *block = address ? sim_memory_find(address) : NULL;
	struct sim_device *device = sim_device_of(address);
	if (refused != CUDA_SUCCESS) {
		result = refused;
	} else if (!block || block->base != address || sim_vmm_owns(address)) {
		leave_host_memory(false);
	} else if (device && SIM_BLOCK_KIND(block->tag) == SIM_BLOCK_GRAPH) {
		leave_to_device(device, false);
		result = sim_graph_memory_end(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	} else if (device) {
		/* Memory from cudaMallocAsync is no reason to wait (R15). */
		leave_to_device(device, SIM_BLOCK_KIND(block->tag) == SIM_BLOCK_PLAIN && sim_knobs()->free_waits);
		free_block(device, address);
		result = CUDA_SUCCESS;
	} else {
		size_t bytes = block->bytes;
		leave_host_memory(sim_knobs()->free_waits);
		result = free_managed(address, bytes);
	}
	sim_unlock();
	return result;
}

struct free_op {
	struct sim_op op;
	uintptr_t address;
};

static void apply_free(struct sim_op *op)
{
	uintptr_t address = ((const struct free_op *)op)->address;

	free_block(sim_device_of(address), address);
}

static CUresult free_on(struct sim_stream *stream, uintptr_t address)
{
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE, .memory = { .address = address } };
	const struct sim_device *device = sim_device_of(address);
	struct sim_range *block = device ? find_block(device, address) : NULL;
	bool is_captured;

	CUresult result = sim_capture_submit(stream, &node, &is_captured);
	if (result != CUDA_SUCCESS || is_captured)
		return result;
	if (!block || block->base != address || SIM_BLOCK_KIND(block->tag) == SIM_BLOCK_ENDING)
		return CUDA_ERROR_INVALID_VALUE;
	if (SIM_BLOCK_KIND(block->tag) == SIM_BLOCK_GRAPH)
		return sim_graph_memory_end(address) ? sim_timeline_submit(stream, 0, NULL) : CUDA_ERROR_INVALID_VALUE;
	struct free_op *op = calloc(1, sizeof *op);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->op.apply = apply_free;
	op->address = address;
	block->tag = SIM_BLOCK_ENDING | (uint64_t)SIM_BLOCK_POOL(block->tag) << 8;
	return sim_timeline_submit(stream, 0, &op->op);
}

CUresult sim_memory_free_ordered(uintptr_t address, CUstream handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream)
		result = free_on(stream, address);
	sim_unlock();
	return result;
}

CUresult sim_memory_free_host(void *address)
{
	sim_lock();
	CUresult refused = sim_capture_unsafe();
	const struct sim_range *block = refused == CUDA_SUCCESS ? sim_host_memory_find(address) : NULL;
	bool is_ours = block && block->base == (uintptr_t)address && block->tag == SIM_HOST_PINNED;
	size_t bytes = is_ours ? block->bytes : 0;
	leave_host_memory(is_ours && sim_knobs()->free_host_waits);
	if (is_ours) {
		sim_timeline_cancel((uintptr_t)address, bytes);
		is_ours = sim_host_memory_free(address, SIM_HOST_PINNED);
	}
	sim_unlock();
	if (refused != CUDA_SUCCESS)
		return refused;
	return is_ours ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_memory_register(void *address, size_t bytes)
{
	if (!address || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	CUresult refused = sim_capture_unsafe();
	enum sim_register result = SIM_REGISTER_NO_MEMORY;
	if (refused == CUDA_SUCCESS)
		result = sim_host_memory_register(address, bytes);
	sim_unlock();
	if (refused != CUDA_SUCCESS)
		return refused;
	if (result == SIM_REGISTER_OVERLAP)
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	return result == SIM_REGISTER_OK ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_memory_unregister(void *address)
{
	sim_lock();
	CUresult refused = sim_capture_unsafe();
	const struct sim_range *range = refused == CUDA_SUCCESS ? sim_host_memory_find(address) : NULL;
	bool is_ours = range && range->base == (uintptr_t)address && range->tag == SIM_HOST_REGISTERED;
	size_t bytes = is_ours ? range->bytes : 0;
	leave_host_memory(is_ours && sim_knobs()->unregister_waits);
	if (is_ours) {
		sim_timeline_cancel((uintptr_t)address, bytes);
		is_ours = sim_host_memory_unregister(address);
	}
	sim_unlock();
	if (refused != CUDA_SUCCESS)
		return refused;
	return is_ours ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

void sim_memory_facts(uintptr_t address, struct sim_memory_facts *facts)
{
	sim_lock();
	const struct sim_range *range = sim_memory_find(address);
	facts->kind = range ? sim_memory_kind(address) : SIM_MEMORY_PAGEABLE;
	facts->base = range ? range->base : 0;
	facts->bytes = range ? range->bytes : 0;
	const struct sim_device *device = sim_memory_device(address);
	facts->ordinal = device ? device->ordinal : 0;
	facts->pool = NULL;
	if (range && sim_device_of(address) && SIM_BLOCK_KIND(range->tag) == SIM_BLOCK_ORDERED)
		facts->pool = sim_pool_handle(sim_pool_of_number(SIM_BLOCK_POOL(range->tag)));
	sim_unlock();
}

static void info(const struct sim_device *device, size_t *free_bytes, size_t *total_bytes)
{
	sim_lock();
	uint64_t taken = device->memory.used_bytes + sim_pools_kept(device);
	*free_bytes = taken < device->memory.bytes ? device->memory.bytes - taken : 0;
	*total_bytes = device->memory.bytes;
	sim_unlock();
}

void sim_memory_info(size_t *free_bytes, size_t *total_bytes)
{
	info(sim_device_current(), free_bytes, total_bytes);
}

bool sim_memory_info_of(int physical, size_t *free_bytes, size_t *total_bytes)
{
	if (!sim_device_is_started())
		return false;
	for (int i = 0; i < sim_n_devices(); i++) {
		if (sim_device(i)->physical == physical) {
			info(sim_device(i), free_bytes, total_bytes);
			return true;
		}
	}
	return false;
}
