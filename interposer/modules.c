/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/modules.h"

#include "trace/maps.h"

#include <string.h>
#include <unistd.h>

bool sy_module_of(const void *address, struct sy_module *module)
{
	uint64_t wanted = (uint64_t)(uintptr_t)address;
	struct sy_mapping mapping;
	struct sy_maps maps;
	bool is_found = false;

	module->path[0] = '\0';
	sy_maps_open(&maps, getpid());
	while (!is_found && sy_maps_next(&maps, &mapping)) {
		/* Mappings of one file follow one another; the first of them is where it was loaded. */
		if (*mapping.path && strncmp(mapping.path, module->path, sizeof(module->path) - 1) != 0) {
			strncpy(module->path, mapping.path, sizeof(module->path) - 1);
			module->path[sizeof(module->path) - 1] = '\0';
			module->base = mapping.start;
		}
		is_found = wanted >= mapping.start && wanted < mapping.end && *mapping.path;
	}
	sy_maps_close(&maps);
	return is_found;
}
