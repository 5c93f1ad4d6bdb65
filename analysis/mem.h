/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - memory for commands: ends the program with status 2 when there is none
 *
 * Only for code of the command line, never in the trainer's process.
 */
#ifndef SY_ANALYSIS_MEM_H
#define SY_ANALYSIS_MEM_H

#include "trace/arena.h"

#include <stddef.h>

/* Zeroed, lives as long as the arena. */
void *sy_mem_alloc(struct sy_arena *arena, size_t bytes);
char *sy_mem_copy(struct sy_arena *arena, const char *text);
char *sy_mem_printf(struct sy_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Grows an array so that element `n` exists: *capacity elements of `size`
 * bytes, new ones zeroed. Returns the array, for free().
 */
void *sy_mem_grow(void *array, size_t *capacity, size_t n, size_t size);

#endif
