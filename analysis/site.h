/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - the line of the user's program an event comes from
 *
 * The innermost Python frame that is the user's own code: not a library, not
 * the standard library, not frozen. Without Python, the native caller. What
 * else counts as the user's, and how far out to go, is set once for the
 * process, before the first trace.
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

/* Files whose path contains `part` are the user's own, wherever they lie. The text must stay; false: too many. */
#define SY_SITE_PATHS 16
bool sy_site_take_path(const char *part);
/* 0: the innermost line of the user's; 1: the one that called it, and so on, as far as there are any. */
void sy_site_set_depth(uint32_t depth);

/* Whether a Python file is the user's own code. */
bool sy_site_is_user_file(const char *file);

#endif
