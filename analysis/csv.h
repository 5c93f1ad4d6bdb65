/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - text in a file of comma-separated values, as RFC 4180 has it
 */
#ifndef SY_ANALYSIS_CSV_H
#define SY_ANALYSIS_CSV_H

#include <stdio.h>

/* Quoted. What a spreadsheet would take for a formula gets an apostrophe in front. */
void sy_csv_put(FILE *out, const char *text);

#endif
