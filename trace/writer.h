/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - create a trace file and claim segments in it
 *
 * Runs inside the trainer, so: libc only, no allocation, no lock, no thread,
 * nothing to flush, no descriptor kept open (a program that closes descriptors
 * it does not know must not make us write into its own files). A failure is an
 * errno value for the caller to report; it never ends anything.
 */
#ifndef SY_TRACE_WRITER_H
#define SY_TRACE_WRITER_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SY_WRITER_PATH_BYTES 4096

/* One trace being written. Zeroed is "not open". */
struct sy_writer {
	struct sy_file_header *header; /* shared mapping of the header block; NULL: not open */

	dev_t device; /* which file the path must still lead to */
	ino_t inode;
	char path[SY_WRITER_PATH_BYTES]; /* absolute */
};

/*
 * Creates the file (it must not exist), fills its header from `initial` (magic,
 * version and live fields are set here) and maps the header block.
 * Returns 0 or an errno value. One thread.
 */
int sy_writer_open(struct sy_writer *writer, const char *path, const struct sy_file_header *initial);

/*
 * Claims, backs with disk space, maps and pre-faults a segment; `bytes` is a
 * multiple of SY_BLOCK_BYTES. Returns its mapping, or NULL with the reason in
 * *error (errno value). Any thread. The mapping belongs to the caller.
 */
struct sy_segment_header *sy_writer_segment(struct sy_writer *writer, enum sy_segment_kind kind, uint32_t bytes,
                                            uint32_t thread, uint32_t sequence, uint32_t tid, const char *name,
                                            int *error);

/* Gives a mapping back; what was written stays in the file. */
void sy_writer_release(struct sy_segment_header *segment);

/*
 * Appends one definition to a segment of definitions, or, with a NULL segment,
 * to the process definitions of the header block (one thread at a time).
 * The payload is the concatenation of `n_parts` parts. Returns false if it does
 * not fit; the segment is then unchanged.
 */
struct sy_part {
	const void *data;
	size_t bytes;
};
bool sy_writer_define(struct sy_writer *writer, struct sy_segment_header *segment, enum sy_def_kind kind, uint32_t id,
                      const struct sy_part *parts, unsigned n_parts);

#endif
