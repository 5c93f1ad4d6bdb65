/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procaddr.h - cuGetProcAddress, the door through which everything built on a
 *              static runtime reaches the driver
 */
#ifndef SY_INTERPOSER_PROCADDR_H
#define SY_INTERPOSER_PROCADDR_H

/* Our wrapper in the place of a true cuGetProcAddress or cuGetProcAddress_v2 named `name`, or `found` itself. */
void *sy_procaddr_replace(const char *name, void *found);

#endif
