/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.h - files that are part of the program (embedded.S)
 */
#ifndef SY_ANALYSIS_EMBEDDED_H
#define SY_ANALYSIS_EMBEDDED_H

/* Each followed by a zero byte, so that it is text. */
extern const char sy_embedded_page[];  /* analysis/page.html */
extern const char sy_embedded_chart[]; /* Chart.js, with its licence */

#endif
