/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - the line of the user's program an event comes from
 *
 * The innermost Python frame that is the user's own code: not a library, not
 * the standard library, not frozen. Without Python, the native caller.
 */
#ifndef SY_ANALYSIS_SITE_H
#define SY_ANALYSIS_SITE_H

#include "trace/reader.h"

#include <stdbool.h>

struct sy_site {
	const char *file; /* Python: the file as the interpreter names it; native: path of the module; "?" unknown */
	const char *function; /* native: "+0x1234", the offset in the module; "" unknown */
	uint32_t line;        /* 0: not known */
	uint32_t first_line;  /* of the function; 0: not known */
	bool is_native;
};

/* Strings belong to the trace or to the arena. */
struct sy_site sy_site_of(const struct sy_trace_thread *thread, uint32_t stack, uint32_t native,
                          struct sy_arena *arena);

/* Whether a Python file is the user's own code. */
bool sy_site_is_user_file(const char *file);

#endif
