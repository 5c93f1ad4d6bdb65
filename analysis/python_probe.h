/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_probe.h - which Python a command runs, and where that Python's PyTorch is
 */
#ifndef SY_ANALYSIS_PYTHON_PROBE_H
#define SY_ANALYSIS_PYTHON_PROBE_H

#include "analysis/ask.h"

#include <limits.h>
#include <stdbool.h>

/* A program file, and the words of the command that follow it. */
struct sy_program {
	char path[PATH_MAX];
	char *const *arguments; /* NULL-terminated, without the program itself; borrowed */
	bool is_python;
};

/*
 * Resolves the command's program: through PATH, through the #! lines of
 * scripts, and past wrappers such as env, timeout or nice when a later word is
 * a Python. False if argv[0] cannot be found. A shell script or another
 * program is found and is no Python.
 */
bool sy_find_program(char *const argv[], struct sy_program *program);

/* Resolves a name as the shell would. False if there is no such executable. */
bool sy_find_executable(const char *name, char path[PATH_MAX]);

/*
 * Asks the interpreter where its torch package is, without importing it, with
 * the user's environment and the interpreter options of the command that
 * change where modules are found. `package` is left empty if it has none. False if the
 * interpreter could not be run.
 */
bool sy_find_torch(const struct sy_program *python, char package[PATH_MAX]);

/*
 * The directories in which that interpreter finds installed packages, asked in
 * the same way. False if it could not be run.
 */
bool sy_each_package_directory(const struct sy_program *python, sy_line_fn *fn, void *context);

#endif
