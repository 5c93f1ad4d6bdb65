/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pylines.h - from an instruction to its line, in the three encodings CPython
 *             has used
 *
 * Pure functions over the bytes of a code object's line table; the formats are
 * described in CPython's Objects/lnotab_notes.txt (to 3.10) and
 * Objects/locations.md (since 3.11). Each returns 0 for "no line". Reads only
 * inside [table, table + bytes).
 */
#ifndef SY_INTERPOSER_PYLINES_H
#define SY_INTERPOSER_PYLINES_H

#include <stddef.h>
#include <stdint.h>

/* 3.9: co_lnotab; `offset` in bytes. */
uint32_t sy_pylines_lnotab(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t offset);
/* 3.10: co_linetable; `offset` in bytes. */
uint32_t sy_pylines_ranges(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t offset);
/* Since 3.11: co_linetable; `unit` counts two-byte instructions. */
uint32_t sy_pylines_locations(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t unit);

#endif
