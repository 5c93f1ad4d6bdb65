/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_directory.h - where the traces of one run go: never among those of another
 */
#ifndef SY_ANALYSIS_RUN_DIRECTORY_H
#define SY_ANALYSIS_RUN_DIRECTORY_H

#include "trace/arena.h"
#include "trace/err.h"

/*
 * `wanted` is made if it does not exist and refused if it holds traces; NULL
 * asks for the next free synctally.out/N in the working directory. Returns the
 * absolute path, in the arena, or NULL.
 */
const char *sy_run_directory_make(const char *wanted, struct sy_arena *arena, struct sy_err *err);

/* The value of SYNCTALLY_OUT that puts the traces of a command there, in the arena. */
const char *sy_run_directory_pattern(const char *directory, char *const command[], struct sy_arena *arena);

#endif
