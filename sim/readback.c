/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/readback.h"

#include "sim/knobs.h"
#include "sim/ranges.h"

/* Before the first such kernel everything is known; then only what is written anew. */
static struct {
	bool has_unknown;
	struct sim_ranges known;
} readback;

void sim_readback_forget(void)
{
	readback.has_unknown = true;
	sim_ranges_clear(&readback.known);
}

void sim_readback_note_write(uintptr_t address, size_t bytes, bool is_known)
{
	if (!readback.has_unknown || bytes == 0)
		return;
	/* Without memory less is known than could be: zeros are shown. */
	if (!is_known || !sim_ranges_add(&readback.known, address, bytes))
		(void)!sim_ranges_subtract(&readback.known, address, bytes);
}

bool sim_readback_is_known(uintptr_t address, size_t bytes)
{
	return !readback.has_unknown || bytes == 0 || sim_knobs()->readback == SIM_READBACK_STALE ||
	       sim_ranges_covers(&readback.known, address, bytes);
}
