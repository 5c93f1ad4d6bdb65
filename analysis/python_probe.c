/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_probe.c - which Python a command runs, and where that Python's PyTorch is
 */
#include "analysis/python_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Scripts whose interpreter is a script and so on; the kernel stops there too. */
#define MAX_SCRIPT_DEPTH 4

/* Marks our line among anything that start-up files of the interpreter print. */
#define MARK "synctally-torch="

/*
 * sys.path[0] is the working directory only because of -c; the command itself
 * will not have it there, unless it is -c or -m, where a local torch directory
 * is not what anybody means.
 */
static const char torch_question[] =
	"import sys\n"
	"import importlib.util as u\n"
	"if sys.path and sys.path[0] == '': del sys.path[0]\n"
	"s = u.find_spec('torch')\n"
	"p = list(s.submodule_search_locations or []) if s else []\n"
	"sys.stdout.write('\\n" MARK "' + (p[0] if p else '') + '\\n')\n";

/* Where packages are installed; not the standard library, and not the directory that a script stands in. */
#define DIRECTORY_MARK "synctally-packages="
static const char packages_question[] =
	"import os, sys\n"
	"for p in sys.path:\n"
	"    if os.path.basename(p) in ('site-packages', 'dist-packages') and os.path.isdir(p):\n"
	"        sys.stdout.write('\\n" DIRECTORY_MARK "' + p + '\\n')\n";

static bool is_executable(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool sy_find_executable(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_executable(path);
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (; *name; dirs = end + 1) {
		int length;

		end = strchrnul(dirs, ':');
		length = (int)(end - dirs);
		/* An empty entry means the working directory. */
		if (snprintf(path, PATH_MAX, "%.*s/%s", length ? length : 1, length ? dirs : ".", name) < PATH_MAX &&
		    is_executable(path))
			return true;
		if (!*end)
			break;
	}
	return false;
}

/* python, python3, python3.11, pypy3, with or without a directory */
static bool is_python_name(const char *path)
{
	static const char *const names[] = { "python", "pypy" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (strncmp(name, names[i], length) == 0)
			return name[length + strspn(name + length, "0123456789.tw-")] == '\0';
	}
	return false;
}

/* Cuts `text` at the first of `ends` and returns what follows, or NULL. */
static char *cut(char *text, const char *ends)
{
	char *end = text + strcspn(text, ends);

	if (!*end)
		return NULL;
	*end = '\0';
	return end + 1;
}

/* The interpreter in what follows "#!": a path, or the last word of an env command that is no option. */
static bool find_line_interpreter(char *line, char path[PATH_MAX])
{
	char *rest, *word;

	line += strspn(line, " \t");
	rest = cut(line, " \t");
	word = strrchr(line, '/');
	if (!word || strcmp(word, "/env") != 0)
		return sy_find_executable(line, path);
	while (rest) {
		word = rest + strspn(rest, " \t");
		rest = cut(word, " \t");
		if (word[0] != '-' && word[0] != '\0' && !strchr(word, '='))
			return sy_find_executable(word, path);
	}
	return false;
}

/*
 * Reads a script's first two lines. pip writes "#!/bin/sh" and, on the second
 * line, '''exec' "/long/path/python" "$0" "$@" when a path is too long or has blanks.
 */
static bool find_script_interpreter(const char *script, char path[PATH_MAX])
{
	static const char exec[] = "'''exec' ";
	char first[PATH_MAX + 8], second[PATH_MAX + 32];
	FILE *file = fopen(script, "re");
	bool has_two;

	if (!file)
		return false;
	if (!fgets(first, sizeof(first), file) || strncmp(first, "#!", 2) != 0) {
		fclose(file);
		return false;
	}
	has_two = fgets(second, sizeof(second), file) != NULL;
	fclose(file);
	cut(first, "\r\n");
	if (has_two && strncmp(second, exec, strlen(exec)) == 0) {
		char *from = second + strlen(exec);

		from += *from == '"';
		cut(from, from[-1] == '"' ? "\"\n" : " \n");
		return sy_find_executable(from, path);
	}
	return find_line_interpreter(first + 2, path);
}

/* Follows #! lines until a Python or something that is no script. False if nothing Python was met. */
static bool follow_scripts(char path[PATH_MAX], bool *is_script)
{
	char next[PATH_MAX];
	int depth;

	*is_script = false;
	for (depth = 0; depth < MAX_SCRIPT_DEPTH && !is_python_name(path); depth++) {
		if (!find_script_interpreter(path, next))
			return false;
		*is_script = true;
		snprintf(path, PATH_MAX, "%s", next);
	}
	return is_python_name(path);
}

bool sy_find_program(char *const argv[], struct sy_program *program)
{
	static char *const nothing[] = { NULL };
	char path[PATH_MAX];
	bool is_script;
	size_t i;

	memset(program, 0, sizeof(*program));
	if (!argv[0] || !sy_find_executable(argv[0], program->path))
		return false;
	program->arguments = argv + 1;
	snprintf(path, sizeof(path), "%s", program->path);
	if (follow_scripts(path, &is_script)) {
		program->is_python = true;
		snprintf(program->path, sizeof(program->path), "%s", path);
		/* What follows a script's name is the script's business. */
		if (is_script)
			program->arguments = nothing;
		return true;
	}
	for (i = 1; argv[i]; i++) {
		if (is_python_name(argv[i]) && sy_find_executable(argv[i], path)) {
			snprintf(program->path, sizeof(program->path), "%s", path);
			program->arguments = argv + i + 1;
			program->is_python = true;
			return true;
		}
	}
	return true;
}

/*
 * The interpreter's own options that decide where modules are found, as one
 * word such as -Is, or an empty string.
 */
static void copy_options(char *const *arguments, char *options, size_t options_bytes)
{
	size_t n = 1;

	snprintf(options, options_bytes, "-");
	for (; *arguments && (*arguments)[0] == '-' && (*arguments)[1] && strcmp(*arguments, "--") != 0; arguments++) {
		const char *letter = *arguments + 1;

		if (*letter == '-') {
			/* --check-hash-based-pycs MODE is the only long option with a value. */
			if (strcmp(*arguments, "--check-hash-based-pycs") == 0 && arguments[1])
				arguments++;
			continue;
		}
		for (; *letter && !strchr("cmWX", *letter); letter++) {
			if (strchr("EIPSs", *letter) && n + 1 < options_bytes)
				options[n++] = *letter;
		}
		if (*letter == 'c' || *letter == 'm')
			break;
		/* -X dev, -W ignore: the value may be the next word. */
		if (*letter && !letter[1] && arguments[1])
			arguments++;
	}
	options[n > 1 ? n : 0] = '\0';
}

/* Lets the interpreter answer a question, with the options of the command that change where modules are found. */
static bool ask_python(const struct sy_program *python, const char *code, sy_line_fn *fn, void *context)
{
	char options[16], ask[] = "-c";
	char *argv[5] = { (char *)python->path };
	size_t n = 1;

	copy_options(python->arguments, options, sizeof(options));
	if (options[0])
		argv[n++] = options;
	argv[n++] = ask;
	argv[n++] = (char *)code;
	argv[n] = NULL;
	return sy_ask(python->path, argv, fn, context);
}

static void take_torch(void *context, char *line)
{
	if (strncmp(line, MARK, strlen(MARK)) == 0)
		snprintf(context, PATH_MAX, "%s", line + strlen(MARK));
}

bool sy_find_torch(const struct sy_program *python, char package[PATH_MAX])
{
	package[0] = '\0';
	return ask_python(python, torch_question, take_torch, package);
}

struct directories {
	sy_line_fn *fn;
	void *context;
};

static void take_directory(void *context, char *line)
{
	struct directories *directories = context;

	if (strncmp(line, DIRECTORY_MARK, strlen(DIRECTORY_MARK)) == 0)
		directories->fn(directories->context, line + strlen(DIRECTORY_MARK));
}

bool sy_each_package_directory(const struct sy_program *python, sy_line_fn *fn, void *context)
{
	struct directories directories = { fn, context };

	return ask_python(python, packages_question, take_directory, &directories);
}
