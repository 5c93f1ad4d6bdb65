/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time stamps, in ticks of the cheapest trustworthy clock
 *
 * The time stamp counter where the kernel itself trusts it, else
 * CLOCK_MONOTONIC; a simulated device's clock where there is one (api/clock.h).
 */
#ifndef SY_INTERPOSER_CLOCK_H
#define SY_INTERPOSER_CLOCK_H

#include "api/clock.h"
#include "trace/format.h"

#include <stdint.h>
#include <time.h>

extern enum sy_clock_kind sy_clock_kind;
extern sy_virtual_clock_fn sy_clock_virtual;
/* NULL: nothing in this process makes anything up. */
extern sy_made_up_fn sy_clock_made_up;

/* Looks for a simulated device. Before main. */
void sy_clock_find(void);

/* Chooses the clock. Before the first event of a process. */
void sy_clock_choose(void);

/* The moment on all clocks. */
void sy_clock_read(struct sy_clock_pair *pair);

static inline uint64_t sy_clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t sy_clock_ticks(void)
{
#if defined(__x86_64__)
	if (sy_clock_kind == SY_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#endif
	if (sy_clock_kind == SY_CLOCK_VIRTUAL)
		return sy_clock_virtual();
	return sy_clock_monotonic_ns();
}

#endif
