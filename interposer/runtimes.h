/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes.h - processes with several CUDA runtimes
 *
 * A library for CUDA 12 in a program for CUDA 13 brings its own libcudart, and
 * registers its kernels there. Plain linking leads both to our wrapper, which
 * has to pass each call on to the runtime that its caller was linked to. That is
 * only asked for once a second runtime is known: one that was there at the
 * start, or one in which a library registers kernels when it is loaded. (A
 * library loaded later that has no kernels is taken for a user of the first.)
 */
#ifndef SY_INTERPOSER_RUNTIMES_H
#define SY_INTERPOSER_RUNTIMES_H

#include "interposer/real.h"

#include <stdbool.h>

/* Atomic; then sy_real_fn has no function of the runtime, so that each call asks here. */
extern bool sy_runtimes_are_many;

/* Notes the runtimes that the process was started with, after the first was kept (real.h). Before main. */
void sy_runtimes_init(void);

/* An object from which functions are called, by its struct link_map; noted if it is a runtime. The first is the default. */
void sy_runtimes_note(const void *link_map);

/* The function of a runtime row for who calls it from that address; NULL: the caller's runtime does not have it. */
sy_fn sy_runtimes_find(enum sy_api api, const void *caller);

#endif
