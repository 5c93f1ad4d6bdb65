/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - the one lock of the simulated device
 *
 * Guards every module of the core except the clock, the ledger and the knobs.
 * It is not held while a host function runs or a thread waits in real time.
 */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include "sim/knobs.h"

#include <stdbool.h>
#include <stdint.h>

SIM_EXPORT void sim_lock(void);
SIM_EXPORT void sim_unlock(void);

/* Condition "the device finished running something, or an operation is no longer open". All with the lock held. */
void sim_lock_wait(void);
void sim_lock_wake(void);

/* sim_lock_wait() until that time of the machine's monotonic clock at the latest; false if it was that. */
bool sim_lock_wait_until(uint64_t until_ns);

#endif
