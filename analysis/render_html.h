/* SPDX-License-Identifier: Apache-2.0 */
/* render_html.h - the part of the HTML report that has a file of its own */
#ifndef SY_ANALYSIS_RENDER_HTML_H
#define SY_ANALYSIS_RENDER_HTML_H

#include "analysis/report.h"

#include <stdio.h>

/* What the charts are drawn from, as JSON that may stand in an element <script>. */
void sy_html_data(const struct sy_profile *profile, const struct sy_report *report, FILE *out);

#endif
