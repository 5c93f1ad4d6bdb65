/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub_code.h - machine code of functions that refuse, or give a fixed answer
 *
 * x86-64, System V calling convention. The functions keep no state and touch
 * only the registers a callee may change, whatever their true prototype is.
 */
#ifndef SY_ANALYSIS_STUB_CODE_H
#define SY_ANALYSIS_STUB_CODE_H

#include "analysis/bytes.h"
#include "analysis/elf_write.h"

#include <stdint.h>

enum sy_stub_kind {
	SY_STUB_REFUSE,       /* tell the import (library, function), return `value` */
	SY_STUB_VALUE,        /* return `value`; says nothing, as all below */
	SY_STUB_TEXT,         /* return a pointer to a constant text */
	SY_STUB_OUT_INT,      /* *argument[arg] = value, as int; return 0 */
	SY_STUB_OUT_TWO_INTS, /* *argument[arg] = value, *argument[arg + 1] = value2; return 0 */
	SY_STUB_OUT_TEXT,     /* *argument[arg] = pointer to a constant text; return 0 */
	SY_STUB_EMPTY_TEXT,   /* (char *text, size_t bytes): make it empty */
	SY_STUB_PROPERTY,     /* (0 major | 1 minor | 2 patch, int *): value, value2, value3; else return `arg` */
	SY_STUB_OBJECT,       /* not a function: `value` bytes of zeros */
};

struct sy_stub {
	const char *name;    /* borrowed; must live until the library is written */
	const char *version; /* version node or NULL; borrowed */
	enum sy_stub_kind kind;
	int arg; /* 0 to 2 */
	int32_t value, value2, value3;
};

/*
 * Appends to `image` a shared library that exports the stubs. `import` is the
 * function, int (const char *library, const char *function), told of refusals;
 * a process without it gets the bare return value. 0, or -1 without memory or
 * with too many version nodes. Any thread.
 */
int sy_stub_library(const char *soname, const char *import, const struct sy_stub *stubs, size_t n_stubs,
                    struct sy_bytes *image);

#endif
