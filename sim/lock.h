/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - the one lock of the simulated device
 *
 * Guards every module of the core except the clock, the ledger and the knobs.
 * It is not held while a host function runs or a thread waits in real time.
 */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

void sim_lock(void);
void sim_unlock(void);

/* Condition "the device finished running a host function". Both with the lock held. */
void sim_lock_wait(void);
void sim_lock_wake(void);

#endif
