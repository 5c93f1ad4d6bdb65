/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_thread.h - lets the device catch up while the program makes no call
 *
 * A program may wait for a host function (cudaLaunchHostFunc) with a condition
 * variable instead of a CUDA call. Real drivers run such functions on a thread
 * of their own; this is ours. It exists only once a host function was submitted.
 */
#ifndef SIM_DEVICE_THREAD_H
#define SIM_DEVICE_THREAD_H

/* Starts the thread, once. Without a thread, host functions still run whenever the program makes a call. Any thread. */
void sim_device_thread_start(void);

#endif
