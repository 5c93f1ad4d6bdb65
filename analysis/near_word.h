/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_word.h - the known word somebody may have meant
 */
#ifndef SY_ANALYSIS_NEAR_WORD_H
#define SY_ANALYSIS_NEAR_WORD_H

#include <stddef.h>

/* The one of `known` with the fewest letters to change, the first of several; NULL if none is near. */
const char *sy_near_word(const char *word, const char *const *known, size_t n_known);

#endif
