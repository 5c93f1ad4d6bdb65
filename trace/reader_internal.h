/* SPDX-License-Identifier: Apache-2.0 */
/* reader_internal.h - what reader.c hands to defs.c: the definition segments of a file */
#ifndef SY_TRACE_READER_INTERNAL_H
#define SY_TRACE_READER_INTERNAL_H

#include "trace/reader.h"

/* A run of definition records, checked to lie in the file. */
struct sy_def_run {
	const unsigned char *at;
	size_t bytes;
	uint32_t thread;
};

/* Indexes the definitions of all runs into `trace`. -1: out of memory. The threads must be in place. */
int sy_defs_index(struct sy_trace *trace, const struct sy_def_run *runs, size_t n_runs);

/* The thread with an index of the file, or NULL. */
struct sy_trace_thread *sy_trace_find_thread(struct sy_trace *trace, uint32_t index);

#endif
