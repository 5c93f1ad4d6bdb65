/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - make text of a trace safe to show
 *
 * A trace may be damaged or made by hand: bytes that are not UTF-8 and control
 * characters become '?', so that neither a terminal nor a JSON reader is harmed.
 */
#ifndef SY_TRACE_TEXT_H
#define SY_TRACE_TEXT_H

#include <stddef.h>

/* Copies `bytes` bytes and a NUL; `to` has room for bytes + 1. */
void sy_text_clean(char *to, const char *from, size_t bytes);

#endif
