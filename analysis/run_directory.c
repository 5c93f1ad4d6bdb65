/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_directory.h"

#include "analysis/inputs.h"
#include "analysis/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARENT "synctally.out"
#define MAX_RUNS 100000u

/* mkdir -p */
static int make_all(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			return -1;
		*at = '/';
	}
	return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -1;
}

static const char *use_wanted(const char *wanted, struct sy_arena *arena, struct sy_err *err)
{
	struct sy_inputs old = { .n = 0 };
	struct sy_err ignored;
	struct stat status;
	bool holds_traces;

	if (make_all(sy_mem_copy(arena, wanted)) != 0) {
		sy_err_set(err, "cannot make the directory: path=%s: %s", wanted, strerror(errno));
		return NULL;
	}
	if (stat(wanted, &status) != 0 || !S_ISDIR(status.st_mode)) {
		sy_err_set(err, "not a directory: path=%s", wanted);
		return NULL;
	}
	holds_traces = sy_inputs_add(&old, wanted, &ignored) == 0;
	sy_inputs_free(&old);
	if (holds_traces) {
		sy_err_set(err, "the directory holds traces of another run: path=%s", wanted);
		return NULL;
	}
	return wanted;
}

static const char *next_free(struct sy_arena *arena, struct sy_err *err)
{
	if (mkdir(PARENT, 0777) != 0 && errno != EEXIST) {
		sy_err_set(err, "cannot make the directory: path=" PARENT ": %s", strerror(errno));
		return NULL;
	}
	for (unsigned n = 1; n < MAX_RUNS; n++) {
		const char *path = sy_mem_printf(arena, PARENT "/%u", n);

		if (mkdir(path, 0777) == 0)
			return path;
		if (errno != EEXIST)
			break;
	}
	sy_err_set(err, "cannot make a directory for this run: path=" PARENT ": %s", strerror(errno));
	return NULL;
}

const char *sy_run_directory_make(const char *wanted, struct sy_arena *arena, struct sy_err *err)
{
	const char *made = wanted ? use_wanted(wanted, arena, err) : next_free(arena, err);
	char *absolute;
	const char *copy;

	if (!made)
		return NULL;
	absolute = realpath(made, NULL);
	if (!absolute || access(absolute, W_OK | X_OK) != 0) {
		sy_err_set(err, "cannot write in the directory: path=%s: %s", made, strerror(errno));
		free(absolute);
		return NULL;
	}
	copy = sy_mem_copy(arena, absolute);
	free(absolute);
	return copy;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The command's name; for `python [-options] script.py` the script's, without its ending. */
static char *name_of(char *const command[], struct sy_arena *arena)
{
	const char *name = base_name(command[0]);
	char *copy;

	if (strncmp(name, "python", 6) == 0)
		for (int i = 1; command[i]; i++) {
			size_t n = strlen(command[i]);

			if (command[i][0] == '-' && strcmp(command[i], "-m") != 0 && strcmp(command[i], "-c") != 0)
				continue;
			if (n > 3 && strcmp(command[i] + n - 3, ".py") == 0)
				name = base_name(command[i]);
			break;
		}
	copy = sy_mem_copy(arena, *name ? name : "program");
	if (strlen(copy) > 3 && strcmp(copy + strlen(copy) - 3, ".py") == 0)
		copy[strlen(copy) - 3] = '\0';
	for (char *at = copy; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-+", *at))
			*at = '_';
	if (strlen(copy) > 64)
		copy[64] = '\0';
	return copy;
}

const char *sy_run_directory_pattern(const char *directory, char *const command[], struct sy_arena *arena)
{
	const char *name = name_of(command, arena);
	char *escaped = sy_mem_alloc(arena, 2 * strlen(directory) + 1);
	char *to = escaped;

	/* A % in the path is not one of ours. */
	for (const char *at = directory; *at; at++) {
		*to++ = *at;
		if (*at == '%')
			*to++ = '%';
	}
	return sy_mem_printf(arena, "%s/%s.%%h.%%p.trace", escaped, name);
}
