/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synctally.h - what a C or C++ program may tell synctally
 *
 * The symbol is weak: without the preload library the call does nothing, so a
 * program can keep it in production and needs no library to link.
 */
#ifndef SYNCTALLY_H
#define SYNCTALLY_H

#ifdef __cplusplus
extern "C" {
#endif

/* One training step ended, on the calling thread. Any thread; never blocks, never fails. */
extern void synctally_step(void) __attribute__((weak));

/* The same, safe to call when the preload library is absent. */
static inline void synctally_step_end(void)
{
	if (synctally_step)
		synctally_step();
}

#ifdef __cplusplus
}
#endif

#endif
