/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/clock.h"

#define ROUGH_BASE_NS 1000000u
#define MAX_NS (1ull << 62)

struct sy_clock sy_clock_make(uint32_t kind, const struct sy_clock_pair *start, uint64_t last_ticks,
                              uint64_t last_monotonic_ns)
{
	struct sy_clock clock = { .start_ticks = start->ticks,
		                  .ns_per_tick = 1.0,
		                  .is_identity = kind != SY_CLOCK_TSC };

	if (clock.is_identity)
		return clock;
	clock.is_rough = true;
	if (last_ticks > start->ticks && last_monotonic_ns > start->monotonic_ns) {
		double base_ns = (double)(last_monotonic_ns - start->monotonic_ns);

		clock.ns_per_tick = base_ns / (double)(last_ticks - start->ticks);
		clock.is_rough = base_ns < ROUGH_BASE_NS;
	}
	return clock;
}

uint64_t sy_clock_span_ns(const struct sy_clock *clock, uint64_t ticks)
{
	double ns;

	if (clock->is_identity)
		return ticks < MAX_NS ? ticks : MAX_NS;
	ns = (double)ticks * clock->ns_per_tick + 0.5;
	return ns < (double)MAX_NS ? (uint64_t)ns : MAX_NS;
}

uint64_t sy_clock_at_ns(const struct sy_clock *clock, uint64_t ticks)
{
	return ticks <= clock->start_ticks ? 0 : sy_clock_span_ns(clock, ticks - clock->start_ticks);
}
