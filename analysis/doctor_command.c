/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_command.c - what a command would load: its program, the libraries of that, and the packages of its Python */
#include "analysis/doctor.h"
#include "analysis/mem.h"
#include "analysis/python_probe.h"

#include <string.h>

#define LOADER "/lib64/ld-linux-x86-64.so.2"

/*
 * A line of the loader's list: "name => path (address)" or "path (address)".
 * A library that is not found is for the run to say.
 */
static void add_listed(void *context, char *line)
{
	struct sy_doctor *doctor = context;
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line, *end;

	path += strspn(path, " \t");
	end = strstr(path, " (0x");
	if (*path != '/' || !end)
		return;
	*end = '\0';
	sy_doctor_add(doctor, path, path, false);
}

/* By the loader itself, which does not run the program; another program's loader, or none, lists nothing. */
static void list_libraries(struct sy_doctor *doctor, const char *program)
{
	char list[] = "--list";
	char *argv[] = { (char *)LOADER, list, (char *)program, NULL };

	(void)sy_ask(LOADER, argv, add_listed, doctor);
}

static void add_packages(void *context, char *line)
{
	struct sy_doctor *doctor = context;
	struct sy_err ignored;

	(void)sy_doctor_path(doctor, line, &ignored); /* a directory of the search path that is not there */
}

int sy_doctor_command(struct sy_doctor *doctor, char *const argv[], struct sy_err *err)
{
	struct sy_program program;

	if (!sy_find_program(argv, &program))
		return sy_err_set(err, "the program was not found: name=%s", argv[0]);
	doctor->program = sy_mem_copy(&doctor->arena, program.path);
	sy_doctor_add(doctor, program.path, doctor->program, true);
	list_libraries(doctor, program.path);
	if (program.is_python && !sy_each_package_directory(&program, add_packages, doctor))
		return sy_err_set(err, "the interpreter could not be run: path=%s", program.path);
	return 0;
}
