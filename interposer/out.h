/* SPDX-License-Identifier: Apache-2.0 */
/* out.h - where the trace goes, and what it says about the process that wrote it */
#ifndef SY_INTERPOSER_OUT_H
#define SY_INTERPOSER_OUT_H

#include "trace/writer.h"

struct sy_state;

/* Notes the working directory of the start, since the program may change it. Before main. */
void sy_out_init(void);

/* Opens the trace at the place SYNCTALLY_OUT asks for; an existing file is never touched. 0 or an errno value. */
int sy_out_open(struct sy_writer *writer, const struct sy_file_header *header);

/* The path for messages: of the open trace, or the one that was tried. */
const char *sy_out_path(const struct sy_state *state);

/* Command line, working directory and the part of the environment that explains a run, as META definitions. */
void sy_out_note_process(struct sy_state *state);

#endif
