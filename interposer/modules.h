/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h - which file a code address was mapped from
 *
 * From trace/maps.h, not from the loader, whose lock another thread may hold for
 * as long as a constructor runs.
 */
#ifndef SY_INTERPOSER_MODULES_H
#define SY_INTERPOSER_MODULES_H

#include <stdbool.h>
#include <stdint.h>

struct sy_module {
	uint64_t base;  /* lowest address at which the file is mapped */
	char path[512]; /* cut if longer */
};

/* False: no /proc, or the address belongs to no file. Costs tens of microseconds; for addresses not seen before. */
bool sy_module_of(const void *address, struct sy_module *module);

#endif
