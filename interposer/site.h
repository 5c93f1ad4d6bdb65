/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - who makes a call: the Python stack and the native caller, as ids of
 *          definitions in the trace
 *
 * The common case is a look-up in a table of the thread's lane. Only a stack never
 * seen in it before is taken apart and written down.
 */
#ifndef SY_INTERPOSER_SITE_H
#define SY_INTERPOSER_SITE_H

#include <stdint.h>

struct sy_state;
struct sy_thread;

/* Calling thread only. 0: no Python frame, or Python stacks are switched off. */
uint32_t sy_site_python(struct sy_state *state, struct sy_thread *thread);

/* `caller` is a return address in the calling code. 0: switched off. */
uint32_t sy_site_native(struct sy_state *state, struct sy_thread *thread, const void *caller);

#endif
