/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what time it is for the program and for the simulated device
 *
 * Real: the machine's monotonic clock. Virtual: one clock for the whole
 * process, moved only by API calls, waits and synctally_sim_host_work(). All
 * times are nanoseconds; the clock never goes back. Any thread.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/knobs.h"

/* The machine's monotonic clock, whichever clock the program sees. */
SIM_EXPORT uint64_t sim_clock_machine(void);

SIM_EXPORT bool sim_clock_is_virtual(void);
SIM_EXPORT uint64_t sim_clock_now(void);

/* Virtual: the host was busy for this long. Real: does nothing, the host's own time has passed. */
SIM_EXPORT void sim_clock_charge(uint64_t ns);

/* Holds the calling thread until then: sleeps (real) or moves the clock (virtual). No lock may be held. */
SIM_EXPORT void sim_clock_wait_until(uint64_t until_ns);

#endif
