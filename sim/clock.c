/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/clock.h"

#include <stdatomic.h>
#include <time.h>

#include "api/clock.h"

/* The kernel wakes a sleeper late by up to this much; the rest of a wait is spun. */
#define SPIN_NS 60000u
#define NS_PER_S 1000000000u

/* Starts at 1: 0 is the answer "there is no virtual clock". */
static _Atomic uint64_t virtual_now = 1;

SIM_EXPORT uint64_t synctally_virtual_clock_ns(void);

bool sim_clock_is_virtual(void)
{
	return sim_knobs()->clock == SIM_CLOCK_VIRTUAL;
}

uint64_t sim_clock_machine(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t sim_clock_now(void)
{
	return sim_clock_is_virtual() ? atomic_load_explicit(&virtual_now, memory_order_acquire) : sim_clock_machine();
}

uint64_t synctally_virtual_clock_ns(void)
{
	return sim_clock_is_virtual() ? sim_clock_now() : 0;
}

void sim_clock_charge(uint64_t ns)
{
	if (sim_clock_is_virtual())
		atomic_fetch_add_explicit(&virtual_now, ns, memory_order_acq_rel);
}

static void move_to(uint64_t until_ns)
{
	uint64_t now = atomic_load_explicit(&virtual_now, memory_order_acquire);

	while (now < until_ns && !atomic_compare_exchange_weak_explicit(&virtual_now, &now, until_ns,
	                                                                memory_order_acq_rel, memory_order_acquire))
		continue;
}

static void sleep_until(uint64_t until_ns)
{
	uint64_t now = sim_clock_machine();

	if (until_ns > now + SPIN_NS) {
		uint64_t wake = until_ns - SPIN_NS;
		struct timespec t = { (time_t)(wake / NS_PER_S), (long)(wake % NS_PER_S) };
		/* Interrupted by a signal: go back to sleep until the same absolute time. */
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0 && sim_clock_machine() < wake)
			continue;
	}
	while (sim_clock_machine() < until_ns)
		__builtin_ia32_pause();
}

void sim_clock_wait_until(uint64_t until_ns)
{
	if (sim_clock_is_virtual())
		move_to(until_ns);
	else
		sleep_until(until_ns);
}
