/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory.h"

#include <stdlib.h>

#include "sim/host_memory.h"
#include "sim/lock.h"
#include "sim/scope.h"
#include "sim/timeline.h"

static struct sim_device_memory *device_memory(void)
{
	return &sim_device(0)->memory;
}

enum sim_memory_kind sim_memory_kind(uintptr_t address)
{
	if (sim_device_memory_owns(device_memory(), address))
		return SIM_MEMORY_DEVICE;
	const struct sim_range *range = sim_host_memory_find((const void *)address);
	if (!range)
		return SIM_MEMORY_PAGEABLE;
	return range->tag == SIM_HOST_MANAGED ? SIM_MEMORY_MANAGED : SIM_MEMORY_PINNED;
}

const struct sim_range *sim_memory_find(uintptr_t address)
{
	if (sim_device_memory_owns(device_memory(), address))
		return sim_device_memory_find(device_memory(), address);
	return sim_host_memory_find((const void *)address);
}

bool sim_memory_is_valid(uintptr_t address, size_t bytes)
{
	if (!sim_device_memory_owns(device_memory(), address))
		return true;
	const struct sim_range *block = sim_device_memory_find(device_memory(), address);
	return block && bytes <= block->base + block->bytes - address;
}

void *sim_memory_view(uintptr_t address)
{
	if (sim_device_memory_owns(device_memory(), address))
		return sim_device_memory_alias(device_memory(), address);
	return (void *)address;
}

CUresult sim_memory_alloc_device(uintptr_t *address, size_t bytes)
{
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	uintptr_t block = sim_device_memory_alloc(device_memory(), bytes, SIM_BLOCK_PLAIN);
	sim_unlock();
	if (!block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address = block;
	return CUDA_SUCCESS;
}

CUresult sim_memory_alloc_ordered(uintptr_t *address, size_t bytes, CUstream handle)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream) {
		uintptr_t block = sim_device_memory_alloc(device_memory(), bytes, SIM_BLOCK_ORDERED);
		result = block ? sim_timeline_submit(stream, 0, NULL) : CUDA_ERROR_OUT_OF_MEMORY;
		if (result == CUDA_SUCCESS)
			*address = block;
		else if (block)
			sim_device_memory_free(device_memory(), block);
	}
	sim_unlock();
	return result;
}

CUresult sim_memory_alloc_host(void **address, size_t bytes, bool is_managed)
{
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	void *block = sim_host_memory_alloc(bytes, is_managed ? SIM_HOST_MANAGED : SIM_HOST_PINNED);
	sim_unlock();
	if (!block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address = block;
	return CUDA_SUCCESS;
}

/* What every kind of free has in common: the account of pending work, and the wait. */
static void leave_to_device(bool waits)
{
	const struct sim_device *device = sim_device(0);

	sim_scope_note_pending(sim_streams_device_pending(device));
	if (waits)
		sim_timeline_wait(device->ready_ns);
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
	const struct sim_range *block = address ? sim_memory_find(address) : NULL;
	if (!block || block->base != address) {
		leave_to_device(false);
	} else if (sim_memory_kind(address) == SIM_MEMORY_DEVICE) {
		/* Memory from cudaMallocAsync is no reason to wait (R15). */
		leave_to_device(block->tag == SIM_BLOCK_PLAIN && sim_knobs()->free_waits);
		result = sim_device_memory_free(device_memory(), address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	} else {
		size_t bytes = block->bytes;
		leave_to_device(sim_knobs()->free_waits);
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
	sim_device_memory_free(device_memory(), ((struct free_op *)op)->address);
}

CUresult sim_memory_free_ordered(uintptr_t address, CUstream handle)
{
	struct free_op *op = calloc(1, sizeof *op);
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->op.apply = apply_free;
	op->address = address;
	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	struct sim_range *block = sim_device_memory_find(device_memory(), address);
	if (!stream) {
		result = CUDA_ERROR_INVALID_HANDLE;
	} else if (block && block->base == address && block->tag != SIM_BLOCK_ENDING) {
		block->tag = SIM_BLOCK_ENDING;
		result = sim_timeline_submit(stream, 0, &op->op);
		op = NULL;
	}
	sim_unlock();
	free(op);
	return result;
}

CUresult sim_memory_free_host(void *address)
{
	sim_lock();
	const struct sim_range *block = sim_host_memory_find(address);
	bool is_ours = block && block->base == (uintptr_t)address && block->tag == SIM_HOST_PINNED;
	size_t bytes = is_ours ? block->bytes : 0;
	leave_to_device(is_ours && sim_knobs()->free_host_waits);
	if (is_ours) {
		sim_timeline_cancel((uintptr_t)address, bytes);
		is_ours = sim_host_memory_free(address, SIM_HOST_PINNED);
	}
	sim_unlock();
	return is_ours ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_memory_register(void *address, size_t bytes)
{
	if (!address || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	enum sim_register result = sim_host_memory_register(address, bytes);
	sim_unlock();
	if (result == SIM_REGISTER_OVERLAP)
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	return result == SIM_REGISTER_OK ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_memory_unregister(void *address)
{
	sim_lock();
	const struct sim_range *range = sim_host_memory_find(address);
	bool is_ours = range && range->base == (uintptr_t)address && range->tag == SIM_HOST_REGISTERED;
	size_t bytes = is_ours ? range->bytes : 0;
	leave_to_device(is_ours && sim_knobs()->unregister_waits);
	if (is_ours) {
		sim_timeline_cancel((uintptr_t)address, bytes);
		is_ours = sim_host_memory_unregister(address);
	}
	sim_unlock();
	return is_ours ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

void sim_memory_facts(uintptr_t address, struct sim_memory_facts *facts)
{
	sim_lock();
	const struct sim_range *range = sim_memory_find(address);
	facts->kind = range ? sim_memory_kind(address) : SIM_MEMORY_PAGEABLE;
	facts->base = range ? range->base : 0;
	facts->bytes = range ? range->bytes : 0;
	sim_unlock();
}

void sim_memory_info(size_t *free_bytes, size_t *total_bytes)
{
	sim_lock();
	*free_bytes = device_memory()->bytes - device_memory()->used_bytes;
	*total_bytes = device_memory()->bytes;
	sim_unlock();
}
