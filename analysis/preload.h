/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload.h - find our libraries, and the LD_PRELOAD that puts them before a command's own
 */
#ifndef SY_ANALYSIS_PRELOAD_H
#define SY_ANALYSIS_PRELOAD_H

#include "trace/arena.h"
#include "trace/err.h"

#include <stdbool.h>

/*
 * The value of LD_PRELOAD for a command: libsynctally.so, with `is_simulated`
 * the simulated device, and then what LD_PRELOAD holds now. The libraries are
 * those of the tree or the installation this program runs from. In the arena;
 * NULL with the reason in `err`.
 */
const char *sy_preload_make(char *const command[], bool is_simulated, struct sy_arena *arena, struct sy_err *err);

/* Our own library's path. NULL: not found. */
const char *sy_preload_library(struct sy_arena *arena);

/* Where the simulated device's libraries are, for programs that want a path instead of a name. NULL: not found. */
const char *sy_preload_device_directory(struct sy_arena *arena);

#endif
