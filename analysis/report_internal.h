/* SPDX-License-Identifier: Apache-2.0 */
/* report_internal.h - the parts a report is put together from: tables, notes */
#ifndef SY_ANALYSIS_REPORT_INTERNAL_H
#define SY_ANALYSIS_REPORT_INTERNAL_H

#include "analysis/report.h"

/* At most SY_REPORT_MAX_TABLES; the columns must outlive the report. A row is table->n_columns empty cells. */
struct sy_table *sy_report_add_table(struct sy_report *report, const char *title, const struct sy_column *columns,
                                     unsigned n_columns);
struct sy_cell *sy_report_add_row(struct sy_table *table);
struct sy_cell sy_cell_text(const char *value);
struct sy_cell sy_cell_count(double value);
struct sy_cell sy_cell_ns(double value);

void sy_report_note(struct sy_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sy_report_notes(struct sy_report *report, const struct sy_profile *profile);
/* Most empty waits first; n is that of profile->payers.keys. */
const struct sy_payer_pair **sy_report_sort_payers(struct sy_arena *arena, const struct sy_profile *profile);

/* Who pays for the empty waits; one step in order. */
void sy_report_payers(struct sy_report *report, const struct sy_profile *profile);
void sy_report_order(struct sy_report *report, const struct sy_profile *profile);
void sy_report_tables(struct sy_report *report, const struct sy_profile *profile, enum sy_by by);

/* "train.py:42", relative to where the program was started; native: module and offset. */
const char *sy_report_place(struct sy_report *report, const struct sy_profile *profile, const struct sy_site *site);

#endif
