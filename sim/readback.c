/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/readback.h"

#include <string.h>

#include "sim/knobs.h"
#include "sim/ranges.h"
#include "sim/values.h"

/* A prime, so that neighbouring addresses and launches get different marks; as a count, a small tensor. */
#define N_TAGS 4093u

/* Before the first such kernel everything is known; then only what is written anew. */
static struct {
	bool has_unknown;
	uint64_t n_launches;
	struct sim_ranges known;
} readback;

void sim_readback_forget(void)
{
	readback.has_unknown = true;
	readback.n_launches++;
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

uint64_t sim_readback_make_up(uintptr_t address)
{
	uint64_t value;

	if (sim_values_at_caller(&value))
		return value;
	if (sim_knobs()->readback != SIM_READBACK_TAGGED)
		return 0;
	return 1 + (address / 4 * 31 + readback.n_launches * 17) % (N_TAGS - 1);
}

void sim_readback_show(void *to, size_t bytes, uint64_t value)
{
	size_t size = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;

	/* A byte is a flag or a character: "no", unless a value was given for the line. */
	if (size == 1 && sim_knobs()->readback == SIM_READBACK_TAGGED && value > 1)
		value = 0;
	for (size_t i = 0; i < bytes; i += size)
		memcpy((char *)to + i, &value, size);
}
