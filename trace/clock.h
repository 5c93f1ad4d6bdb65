/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - from the ticks of a trace to nanoseconds
 *
 * Two clock pairs, as far apart as the trace has them, give a line. The
 * formula is part of docs/FORMAT.md, so that every reader gets the same values.
 */
#ifndef SY_TRACE_CLOCK_H
#define SY_TRACE_CLOCK_H

#include "trace/format.h"

#include <stdbool.h>

struct sy_clock {
	uint64_t start_ticks;
	double ns_per_tick;
	bool is_identity; /* ticks are nanoseconds */
	bool is_rough;    /* no base, or one under a millisecond: durations are no better than a guess */
};

/* `last_ticks` 0: there is no second pair. */
struct sy_clock sy_clock_make(uint32_t kind, const struct sy_clock_pair *start, uint64_t last_ticks,
                              uint64_t last_monotonic_ns);

/* Nanoseconds of a number of ticks, rounded; at most 2^62. */
uint64_t sy_clock_span_ns(const struct sy_clock *clock, uint64_t ticks);

/* Nanoseconds from the start of the trace to a moment; 0 for one before it. */
uint64_t sy_clock_at_ns(const struct sy_clock *clock, uint64_t ticks);

#endif
