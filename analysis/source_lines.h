/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.h - lines of the user's program, if its source is at hand
 *
 * Read once per file, regular files of reasonable size only. What is returned
 * is safe to show and lives as long as the sources.
 */
#ifndef SY_ANALYSIS_SOURCE_LINES_H
#define SY_ANALYSIS_SOURCE_LINES_H

#include "analysis/index.h"

struct sy_source_file;

/* Zeroed is empty. */
struct sy_sources {
	struct sy_arena arena;
	struct sy_index keys;
	struct sy_source_file *files; /* by number of the key */
	size_t capacity;
};

/* The line (1 is the first) without indentation, at most SY_SOURCE_LINE_BYTES long; NULL if it is not at hand. */
#define SY_SOURCE_LINE_BYTES 160
const char *sy_source_line(struct sy_sources *sources, const char *path, uint32_t line);

/* REASON of a comment "# sync-ok: REASON" on the line, or alone on the line above; NULL if there is none. */
const char *sy_source_reason(struct sy_sources *sources, const char *path, uint32_t line);

void sy_sources_free(struct sy_sources *sources);

/* Copies text of any origin into the arena: safe to show, cut behind whole characters to `max_bytes`. */
const char *sy_source_clean(struct sy_arena *arena, const char *text, size_t bytes, size_t max_bytes);

#endif
