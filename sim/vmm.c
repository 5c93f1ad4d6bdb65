/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/vmm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/device.h"
#include "sim/timeline.h"

#define GRANULARITY SIM_VMM_GRANULARITY_BYTES
#define PAGE ((uintptr_t)4096)
#define HANDLE_BASE ((uintptr_t)0x5500000000)
#define HANDLE_STEP ((uintptr_t)0x80)

/* A wish, as for the memory of a device: equal addresses in equal runs. */
#define WINDOW_WISH ((void *)0x720000000000)
/* Allocators reserve for each stream what the device could hold, and more. */
enum { WINDOW_DEVICES = 16 };
#define WINDOW_SMALLEST ((size_t)64 << 20)

/* A mapping's tag: which physical memory, and two bits of CUmemAccess_flags for each device. */
#define TAG_PHYSICAL UINT64_C(0xffffffff)
#define TAG_ACCESS(ordinal) (32 + 2 * (ordinal))

struct physical {
	struct sim_device *device; /* NULL: the entry is free */
	uintptr_t block;           /* in the heap of the device */
	size_t bytes;
	unsigned n_handles;
	unsigned n_mappings;
	bool is_foreign; /* another process's: no block, no handle, one mapping */
	CUmemAllocationProp prop;
};

static struct {
	uintptr_t base; /* 0 until first asked for */
	size_t bytes;
	char *alias;
	struct sim_ranges reserved;
	struct sim_ranges free;
	struct sim_ranges mapped;
	struct physical *at;
	size_t n;
	size_t capacity;
} vmm;

static bool is_aligned(uintptr_t address, size_t bytes)
{
	return bytes > 0 && address % GRANULARITY == 0 && bytes % GRANULARITY == 0;
}

static bool open_window_of(size_t bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *base = mmap(WINDOW_WISH, bytes + GRANULARITY, PROT_NONE, flags, -1, 0);

	if (base == MAP_FAILED)
		return false;
	void *alias = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
	if (alias == MAP_FAILED) {
		munmap(base, bytes + GRANULARITY);
		return false;
	}
	madvise(alias, bytes, MADV_DONTDUMP);
	uintptr_t aligned = ((uintptr_t)base + GRANULARITY - 1) & ~(GRANULARITY - 1);
	if (!sim_ranges_add(&vmm.free, aligned, bytes)) {
		munmap(base, bytes + GRANULARITY);
		munmap(alias, bytes);
		return false;
	}
	vmm.alias = alias;
	vmm.bytes = bytes;
	__atomic_store_n(&vmm.base, aligned, __ATOMIC_RELEASE);
	return true;
}

/* As large a window as the system grants. */
static bool open_window(void)
{
	size_t bytes = WINDOW_DEVICES * sim_device(0)->memory.bytes;

	if (vmm.base)
		return true;
	while (bytes >= WINDOW_SMALLEST) {
		if (open_window_of(bytes & ~(GRANULARITY - 1)))
			return true;
		bytes /= 2;
	}
	return false;
}

/* The first free place with the alignment; 0 if there is none. */
static uintptr_t place_for(size_t bytes, size_t alignment)
{
	for (size_t i = 0; i < vmm.free.n; i++) {
		const struct sim_range *extent = &vmm.free.at[i];
		uintptr_t address = (extent->base + alignment - 1) & ~(uintptr_t)(alignment - 1);
		size_t skipped = address - extent->base;
		if (skipped <= extent->bytes && bytes <= extent->bytes - skipped)
			return address;
	}
	return 0;
}

CUresult sim_vmm_reserve(uintptr_t *address, size_t bytes, size_t alignment, uintptr_t wish)
{
	if (bytes == 0 || bytes % GRANULARITY != 0 || (alignment & (alignment - 1)) != 0 || wish % GRANULARITY != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!open_window())
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (alignment < GRANULARITY)
		alignment = GRANULARITY;
	/* A wish that can not be met is no error: the driver gives another place. */
	bool is_met = wish && wish % alignment == 0 && sim_ranges_covers(&vmm.free, wish, bytes);
	struct sim_range range = { is_met ? wish : place_for(bytes, alignment), bytes, 0 };
	if (!range.base || !sim_ranges_insert(&vmm.reserved, &range))
		return CUDA_ERROR_OUT_OF_MEMORY;
	(void)!sim_ranges_subtract(&vmm.free, range.base, bytes);
	*address = range.base;
	return CUDA_SUCCESS;
}

/* The first mapping that ends behind the address and begins before the end, or NULL. */
static const struct sim_range *first_mapped(uintptr_t address, size_t bytes)
{
	for (size_t i = 0; i < vmm.mapped.n; i++) {
		const struct sim_range *map = &vmm.mapped.at[i];
		if (map->base < address + bytes && address < map->base + map->bytes)
			return map;
	}
	return NULL;
}

CUresult sim_vmm_free_reserved(uintptr_t address, size_t bytes)
{
	struct sim_range *range = sim_ranges_find(&vmm.reserved, address);

	if (!range || range->base != address || range->bytes != bytes || first_mapped(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	sim_ranges_remove(&vmm.reserved, range);
	(void)!sim_ranges_add(&vmm.free, address, bytes);
	return CUDA_SUCCESS;
}

static struct physical *free_entry(void)
{
	for (size_t i = 0; i < vmm.n; i++)
		if (!vmm.at[i].device)
			return &vmm.at[i];
	if (vmm.n == vmm.capacity) {
		size_t capacity = vmm.capacity ? 2 * vmm.capacity : 64;
		struct physical *at = realloc(vmm.at, capacity * sizeof *at);
		if (!at)
			return NULL;
		vmm.at = at;
		vmm.capacity = capacity;
	}
	return &vmm.at[vmm.n++];
}

static struct physical *find_handle(CUmemGenericAllocationHandle handle)
{
	uintptr_t distance = (uintptr_t)handle - HANDLE_BASE;

	if (distance % HANDLE_STEP != 0 || distance / HANDLE_STEP >= vmm.n)
		return NULL;
	struct physical *physical = &vmm.at[distance / HANDLE_STEP];
	return physical->device && physical->n_handles ? physical : NULL;
}

static void drop_unused(struct physical *physical)
{
	if (physical->n_handles || physical->n_mappings)
		return;
	if (!physical->is_foreign)
		sim_device_memory_free(&physical->device->memory, physical->block);
	memset(physical, 0, sizeof *physical);
}

CUresult sim_vmm_create(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop)
{
	if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || bytes == 0 || bytes % GRANULARITY != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	struct sim_device *device = sim_device(prop->location.id);
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	struct physical *physical = free_entry();
	if (!physical)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*physical = (struct physical){ .bytes = bytes, .n_handles = 1, .prop = *prop };
	physical->block = sim_device_memory_alloc(&device->memory, bytes, SIM_BLOCK_PHYSICAL);
	if (!physical->block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	physical->device = device;
	*handle = HANDLE_BASE + (uintptr_t)(physical - vmm.at) * HANDLE_STEP;
	return CUDA_SUCCESS;
}

CUresult sim_vmm_release(CUmemGenericAllocationHandle handle)
{
	struct physical *physical = find_handle(handle);

	if (!physical)
		return CUDA_ERROR_INVALID_VALUE;
	physical->n_handles--;
	drop_unused(physical);
	return CUDA_SUCCESS;
}

const struct sim_range *sim_vmm_find(uintptr_t address)
{
	return sim_ranges_find(&vmm.mapped, address);
}

static struct physical *mapped_on(const struct sim_range *map)
{
	return &vmm.at[map->tag & TAG_PHYSICAL];
}

CUresult sim_vmm_retain(CUmemGenericAllocationHandle *handle, uintptr_t address)
{
	const struct sim_range *map = sim_vmm_find(address);

	if (!map || mapped_on(map)->is_foreign)
		return CUDA_ERROR_INVALID_VALUE;
	mapped_on(map)->n_handles++;
	*handle = HANDLE_BASE + (uintptr_t)(map->tag & TAG_PHYSICAL) * HANDLE_STEP;
	return CUDA_SUCCESS;
}

CUresult sim_vmm_properties(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
	const struct physical *physical = find_handle(handle);

	if (!physical)
		return CUDA_ERROR_INVALID_VALUE;
	*prop = physical->prop;
	return CUDA_SUCCESS;
}

CUresult sim_vmm_map(uintptr_t address, size_t bytes, CUmemGenericAllocationHandle handle)
{
	struct physical *physical = find_handle(handle);

	if (!physical || !is_aligned(address, bytes) || bytes != physical->bytes ||
	    !sim_ranges_covers(&vmm.reserved, address, bytes) || first_mapped(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	struct sim_range map = { address, bytes, (uint64_t)(physical - vmm.at) };
	if (!sim_ranges_insert(&vmm.mapped, &map))
		return CUDA_ERROR_OUT_OF_MEMORY;
	const struct sim_device_memory *memory = &physical->device->memory;
	if (mmap(sim_vmm_alias(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
	         memory->fd, (off_t)(physical->block - memory->base)) == MAP_FAILED) {
		sim_ranges_remove(&vmm.mapped, sim_ranges_find(&vmm.mapped, address));
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	physical->n_mappings++;
	return CUDA_SUCCESS;
}

/* True if these are the bytes of whole mappings, one beside the other. */
static bool is_whole(uintptr_t address, size_t bytes)
{
	uintptr_t end = address + bytes;

	if (!is_aligned(address, bytes))
		return false;
	while (address < end) {
		const struct sim_range *map = sim_vmm_find(address);
		if (!map || map->base != address || map->bytes > end - address || mapped_on(map)->is_foreign)
			return false;
		address += map->bytes;
	}
	return true;
}

static void unmap_one(struct sim_range *map)
{
	struct physical *physical = mapped_on(map);
	uintptr_t first_page = map->base & ~(PAGE - 1);

	/* If the system refuses, the old pages stay where no valid address leads. */
	(void)!mmap(sim_vmm_alias(first_page), map->base + map->bytes - first_page, PROT_NONE,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	sim_ranges_remove(&vmm.mapped, map);
	physical->n_mappings--;
	drop_unused(physical);
}

CUresult sim_vmm_unmap(uintptr_t address, size_t bytes)
{
	uintptr_t end = address + bytes;

	if (!is_whole(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	sim_timeline_run_ahead(mapped_on(sim_vmm_find(address))->device->ready_ns);
	/* The lock was let go for a moment: another thread may have been here. */
	if (!is_whole(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	while (address < end) {
		struct sim_range *map = sim_ranges_find(&vmm.mapped, address);
		address += map->bytes;
		unmap_one(map);
	}
	return CUDA_SUCCESS;
}

/* A mapping begins where the block does, which may be inside a page; its addresses are reserved in whole pieces. */
CUresult sim_vmm_import(uintptr_t *address, size_t bytes, struct sim_device *device, int fd, uint64_t offset)
{
	size_t skipped = offset & (PAGE - 1), reserved_bytes = (skipped + bytes + GRANULARITY - 1) & ~(GRANULARITY - 1);
	uintptr_t base;
	CUresult result = sim_vmm_reserve(&base, reserved_bytes, 0, 0);

	if (result != CUDA_SUCCESS)
		return result;
	struct physical *physical = free_entry();
	if (physical) {
		*physical = (struct physical){ .device = device, .bytes = bytes, .n_mappings = 1, .is_foreign = true };
		struct sim_range map = { base + skipped, bytes, (uint64_t)(physical - vmm.at) };
		map.tag |= (uint64_t)CU_MEM_ACCESS_FLAGS_PROT_READWRITE << TAG_ACCESS(device->ordinal);
		if (mmap(sim_vmm_alias(base), skipped + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		         (off_t)(offset - skipped)) != MAP_FAILED &&
		    sim_ranges_insert(&vmm.mapped, &map)) {
			*address = map.base;
			return CUDA_SUCCESS;
		}
		memset(physical, 0, sizeof *physical);
	}
	(void)sim_vmm_free_reserved(base, reserved_bytes);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static void end_import(struct sim_range *map)
{
	const struct sim_range *reserved = sim_ranges_find(&vmm.reserved, map->base);
	uintptr_t base = reserved->base;
	size_t bytes = reserved->bytes;

	unmap_one(map);
	(void)sim_vmm_free_reserved(base, bytes);
}

CUresult sim_vmm_end_import(uintptr_t address)
{
	const struct sim_range *map = sim_vmm_find(address);

	if (!map || map->base != address || !mapped_on(map)->is_foreign)
		return CUDA_ERROR_INVALID_VALUE;
	sim_timeline_run_ahead(mapped_on(map)->device->ready_ns);
	struct sim_range *still = sim_ranges_find(&vmm.mapped, address);
	if (still && still->base == address)
		end_import(still);
	return CUDA_SUCCESS;
}

CUresult sim_vmm_set_access(uintptr_t address, size_t bytes, int ordinal, CUmemAccess_flags flags)
{
	uintptr_t end = address + bytes;

	if (!sim_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!is_whole(address, bytes) ||
	    (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
	     flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
		return CUDA_ERROR_INVALID_VALUE;
	while (address < end) {
		struct sim_range *map = sim_ranges_find(&vmm.mapped, address);
		map->tag &= ~(UINT64_C(3) << TAG_ACCESS(ordinal));
		map->tag |= (uint64_t)flags << TAG_ACCESS(ordinal);
		address += map->bytes;
	}
	return CUDA_SUCCESS;
}

CUresult sim_vmm_get_access(unsigned long long *flags, int ordinal, uintptr_t address)
{
	const struct sim_range *map = sim_vmm_find(address);

	if (!sim_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!map)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = map->tag >> TAG_ACCESS(ordinal) & 3;
	return CUDA_SUCCESS;
}

bool sim_vmm_owns(uintptr_t address)
{
	uintptr_t base = __atomic_load_n(&vmm.base, __ATOMIC_ACQUIRE);

	return base && address - base < vmm.bytes;
}

void *sim_vmm_alias(uintptr_t address)
{
	return vmm.alias + (address - vmm.base);
}

struct sim_device *sim_vmm_device(uintptr_t address)
{
	const struct sim_range *map = sim_vmm_find(address);

	return map ? mapped_on(map)->device : NULL;
}

bool sim_vmm_is_valid(uintptr_t address, size_t bytes)
{
	uintptr_t end = address + bytes;

	do {
		const struct sim_range *map = sim_vmm_find(address);
		if (!map || map->tag >> TAG_ACCESS(0) == 0)
			return false;
		address = map->base + map->bytes;
	} while (address < end);
	return true;
}

void sim_vmm_reset(const struct sim_device *device)
{
	for (size_t i = vmm.mapped.n; i-- > 0;)
		if (mapped_on(&vmm.mapped.at[i])->device != device)
			continue;
		else if (mapped_on(&vmm.mapped.at[i])->is_foreign)
			end_import(&vmm.mapped.at[i]);
		else
			unmap_one(&vmm.mapped.at[i]);
	for (size_t i = 0; i < vmm.n; i++)
		if (vmm.at[i].device == device)
			memset(&vmm.at[i], 0, sizeof vmm.at[i]);
}
