/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h - write a report in one of the formats of renderers.def
 *
 * A renderer for people lays out the report; one for programs may read the
 * profile itself. The same input always gives the same bytes.
 */
#ifndef SY_ANALYSIS_RENDER_H
#define SY_ANALYSIS_RENDER_H

#include "analysis/report.h"

#include <stdio.h>

/* Returns 0, or -1 if writing failed (errno tells why). `is_terminal`: colours and the terminal's width are wanted. */
typedef int sy_render_fn(const struct sy_profile *profile, const struct sy_report *report, FILE *out, bool is_terminal);

#define RENDERER(name) sy_render_fn sy_render_##name;
#include "analysis/renderers.def"
#undef RENDERER

/* The renderer with a name, or NULL. */
sy_render_fn *sy_render_find(const char *name);

/* "text, json" */
const char *sy_render_names(void);

#endif
