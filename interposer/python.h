/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - the Python stack of the calling thread, without the GIL
 *
 * A thread's own frames stand still while it is in a CUDA call, so they are
 * read directly, at offsets that depend on the version of CPython
 * (python_layout.def). Nothing is linked: the interpreter is found by name in
 * the process. Before the first walk, and with the GIL held, what the offsets
 * yield is compared with what the interpreter's own functions say; on any
 * difference, and for versions and builds we have no offsets for, Python stacks
 * stay off and that is said once. Wrong lines are never written.
 */
#ifndef SY_INTERPOSER_PYTHON_H
#define SY_INTERPOSER_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SY_PYTHON_DEPTH 64 /* frames kept of a stack, innermost first */

/* One frame as read. Valid while the frame runs. */
struct sy_python_frame {
	uint64_t code;  /* address of the code object */
	uint64_t instr; /* where in it, in the version's own measure */
	uint64_t stamp; /* changes when a freed code object's address is used again */
};

struct sy_python_line {
	const char *file, *function; /* UTF-8, not terminated; in buffers of this structure or in the interpreter */
	size_t file_bytes, function_bytes;
	uint32_t line;       /* 0: the instruction belongs to no line */
	uint32_t first_line; /* of the function */
	char file_buffer[1024], function_buffer[256];
};

/* The layout has been checked and walks may be made. */
bool sy_python_is_ready(void);

/* The calling thread's frames. Returns how many. */
unsigned sy_python_walk(struct sy_python_frame *frames, unsigned capacity);

/* Where a frame just walked stands. */
void sy_python_line(const struct sy_python_frame *frame, struct sy_python_line *line);

/* Looks for an interpreter. True: one is mapped (perhaps not yet initialized) and its functions were found. */
bool sy_python_find(void);

/* Compares the layout with the interpreter's own word. GIL held, a Python frame running. Once decided, stays. */
void sy_python_check(void);

#endif
