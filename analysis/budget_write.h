/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_write.h - a budget from what was measured
 */
#ifndef SY_ANALYSIS_BUDGET_WRITE_H
#define SY_ANALYSIS_BUDGET_WRITE_H

#include "analysis/budget_check.h"

#include <stdio.h>

/*
 * Limits for the sums and for each line as measured, counts multiplied by
 * 1 + slack and rounded up. Whatever else is not measured, as what is accepted
 * and why, is taken over from the budget of the check. 0, or -1 if writing failed.
 */
int sy_budget_write(struct sy_check *check, double slack, FILE *out);

/*
 * The same into a file: a new one unless `may_replace`, and then at once or
 * not at all. 0, or -1.
 */
int sy_budget_write_file(struct sy_check *check, double slack, const char *path, bool may_replace, struct sy_err *err);

#endif
