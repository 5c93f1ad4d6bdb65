/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.h - from a row of the table to the true function, and from a true
 *          function to our wrapper
 *
 * A function can reach a program by plain linking, by dlsym, or by
 * cuGetProcAddress. Whichever comes first fixes what is "true" for its row;
 * another function under the same name that is asked for by name is handed out
 * unwrapped, and so not seen. A second runtime that is linked to: runtimes.h.
 */
#ifndef SY_INTERPOSER_REAL_H
#define SY_INTERPOSER_REAL_H

#include "api/api.h"

#include <stdbool.h>

typedef void (*sy_fn)(void);

/* The true functions, by row; NULL until somebody needed or found it. Relaxed atomics: all writers write the same. */
extern sy_fn sy_real_fn[SY_N_API];

/*
 * Finds the true function of a row for who calls it from `caller`, wherever the program got it from. Never
 * NULL: a function that is nowhere is stood in for by one that returns
 * cudaErrorNotSupported, which has the same value in both layers.
 */
sy_fn sy_real_find(enum sy_api api, const void *caller);

/* From now on every call of the runtime asks sy_real_find. */
void sy_real_forget_runtime(void);

/*
 * Keeps the library of a function that we call from now on: a program that
 * unloads it and loads it again gets our same wrapper, and would be led into
 * memory that is gone.
 */
void sy_real_keep(const void *function);

/*
 * The same for the CUDA libraries that the program was started with. Keeping
 * allocates, and the first CUDA call may come from a signal handler that
 * interrupted malloc; when the process begins it does not matter.
 */
void sy_real_keep_loaded(void);

/* Our wrapper for dlsym(handle, name), or NULL if the name is not ours or the handle does not have it. */
void *sy_real_replace_symbol(void *handle, const char *name);

/*
 * The pointer to hand out for a driver function obtained from
 * cuGetProcAddress(base, version, flags): our wrapper, or `found` itself.
 */
void *sy_real_replace_proc(const char *base, int cuda_version, bool is_per_thread, void *found);

#endif
