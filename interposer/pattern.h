/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - does a text match a pattern? '*' stands for any characters, '?' for one byte. */
#ifndef SY_INTERPOSER_PATTERN_H
#define SY_INTERPOSER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* The pattern is the first `n` bytes at `pattern`. fnmatch() allocates, and has a view on brackets. */
bool sy_pattern_matches(const char *pattern, size_t n, const char *text);

#endif
