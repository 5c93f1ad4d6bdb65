/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device_memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define SMALL_ALIGN ((size_t)512)
#define LARGE_ALIGN ((size_t)2 << 20)
#define LARGE_FROM ((size_t)1 << 20)
#define SMALLEST_DEVICE ((size_t)16 << 20)

/*
 * The same place in every run where possible: device addresses then compare
 * equal between runs. A wish only: ThreadSanitizer keeps this range to itself.
 */
#define PREFERRED_BASE ((void *)0x700000000000)

static uintptr_t round_up(uintptr_t value, size_t align)
{
	return (value + align - 1) & ~(uintptr_t)(align - 1);
}

static bool map_views(struct sim_device_memory *memory, size_t bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

	if (ftruncate(memory->fd, (off_t)bytes) != 0)
		return false;
	void *base = mmap(PREFERRED_BASE, bytes, PROT_NONE, flags, -1, 0);
	if (base == MAP_FAILED)
		return false;
	void *alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory->fd, 0);
	if (alias == MAP_FAILED) {
		munmap(base, bytes);
		return false;
	}
	/* A core dump of the program has no use for the device's memory. */
	madvise(alias, bytes, MADV_DONTDUMP);
	memory->base = (uintptr_t)base;
	memory->alias = alias;
	memory->bytes = bytes;
	return true;
}

bool sim_device_memory_map(struct sim_device_memory *memory, size_t bytes)
{
	memory->fd = memfd_create("synctally-sim", MFD_CLOEXEC);
	if (memory->fd < 0)
		return false;
	bytes = round_up(bytes, LARGE_ALIGN);
	while (!map_views(memory, bytes)) {
		bytes = round_up(bytes / 2, LARGE_ALIGN);
		if (bytes < SMALLEST_DEVICE)
			return false;
	}
	return sim_ranges_add(&memory->free, memory->base, bytes);
}

uintptr_t sim_device_memory_alloc(struct sim_device_memory *memory, size_t bytes, enum sim_block kind)
{
	size_t align = bytes >= LARGE_FROM ? LARGE_ALIGN : SMALL_ALIGN;

	if (bytes == 0 || bytes > memory->bytes)
		return 0;
	bytes = round_up(bytes, align);
	for (size_t i = 0; i < memory->free.n; i++) {
		struct sim_range extent = memory->free.at[i];
		uintptr_t address = round_up(extent.base, align);
		size_t skipped = address - extent.base;
		if (extent.bytes < skipped || extent.bytes - skipped < bytes)
			continue;
		struct sim_range block = { address, bytes, kind };
		if (!sim_ranges_insert(&memory->live, &block))
			return 0;
		if (!sim_ranges_subtract(&memory->free, address, bytes)) {
			/* Only the tail of the extent was lost; the block itself is good. */
			memory->used_bytes += extent.base + extent.bytes - address - bytes;
		}
		memory->used_bytes += bytes;
		return address;
	}
	return 0;
}

/* Zeroes the block and gives whole pages back to the system. */
static void scrub(const struct sim_device_memory *memory, uintptr_t address, size_t bytes)
{
	uintptr_t start = address - memory->base;
	uintptr_t first_page = round_up(start, PAGE);
	uintptr_t last_page = (start + bytes) & ~(uintptr_t)(PAGE - 1);

	if (first_page >= last_page || fallocate(memory->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	                                         (off_t)first_page, (off_t)(last_page - first_page)) != 0) {
		memset(memory->alias + start, 0, bytes);
		return;
	}
	memset(memory->alias + start, 0, first_page - start);
	memset(memory->alias + last_page, 0, start + bytes - last_page);
}

bool sim_device_memory_free(struct sim_device_memory *memory, uintptr_t address)
{
	struct sim_range *block = sim_device_memory_find(memory, address);

	if (!block || block->base != address)
		return false;
	size_t bytes = block->bytes;
	sim_ranges_remove(&memory->live, block);
	scrub(memory, address, bytes);
	if (sim_ranges_add(&memory->free, address, bytes))
		memory->used_bytes -= bytes;
	return true;
}

struct sim_range *sim_device_memory_find(const struct sim_device_memory *memory, uintptr_t address)
{
	return sim_ranges_find(&memory->live, address);
}

bool sim_device_memory_owns(const struct sim_device_memory *memory, uintptr_t address)
{
	return address - memory->base < memory->bytes;
}

void *sim_device_memory_alias(const struct sim_device_memory *memory, uintptr_t address)
{
	return memory->alias + (address - memory->base);
}
