/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/host_memory.h"

#include <sys/mman.h>

#define PAGE ((size_t)4096)

static struct sim_ranges known;

void *sim_host_memory_alloc(size_t bytes, enum sim_host_block kind)
{
	if (bytes == 0 || bytes > SIZE_MAX - PAGE)
		return NULL;
	bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (address == MAP_FAILED)
		return NULL;
	struct sim_range range = { (uintptr_t)address, bytes, kind };
	if (!sim_ranges_insert(&known, &range)) {
		munmap(address, bytes);
		return NULL;
	}
	return address;
}

static struct sim_range *find_start(const void *address, enum sim_host_block kind)
{
	struct sim_range *range = sim_ranges_find(&known, (uintptr_t)address);

	return range && range->base == (uintptr_t)address && range->tag == kind ? range : NULL;
}

bool sim_host_memory_free(const void *address, enum sim_host_block kind)
{
	struct sim_range *range = find_start(address, kind);

	if (!range)
		return false;
	munmap((void *)range->base, range->bytes);
	sim_ranges_remove(&known, range);
	return true;
}

enum sim_register sim_host_memory_register(const void *address, size_t bytes)
{
	struct sim_range range = { (uintptr_t)address, bytes, SIM_HOST_REGISTERED };

	for (size_t i = 0; i < known.n; i++)
		if (known.at[i].base < range.base + bytes && range.base < known.at[i].base + known.at[i].bytes)
			return SIM_REGISTER_OVERLAP;
	return sim_ranges_insert(&known, &range) ? SIM_REGISTER_OK : SIM_REGISTER_NO_MEMORY;
}

bool sim_host_memory_unregister(const void *address)
{
	struct sim_range *range = find_start(address, SIM_HOST_REGISTERED);

	if (!range)
		return false;
	sim_ranges_remove(&known, range);
	return true;
}

const struct sim_range *sim_host_memory_find(const void *address)
{
	return sim_ranges_find(&known, (uintptr_t)address);
}
