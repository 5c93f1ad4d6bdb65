/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_note.h - run.json beside the traces: what `synctally run` was asked to count
 *
 * So that a later `synctally report DIR` says the same as the report at the
 * end of the run.
 */
#ifndef SY_ANALYSIS_RUN_NOTE_H
#define SY_ANALYSIS_RUN_NOTE_H

#include "analysis/steps.h"
#include "trace/err.h"

#define SY_RUN_NOTE_NAME "run.json"

/* Writes directory/run.json. */
int sy_run_note_write(const char *directory, char *const command[], struct sy_step_range range, struct sy_err *err);

/* The range noted beside a trace; all steps if there is no note. */
struct sy_step_range sy_run_note_read(const char *trace_path);

#endif
