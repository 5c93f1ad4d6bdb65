/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inputs.h"

#include "analysis/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".trace"

static void add(struct sy_inputs *inputs, const char *path)
{
	inputs->paths = sy_mem_grow(inputs->paths, &inputs->capacity, inputs->n, sizeof(*inputs->paths));
	inputs->paths[inputs->n++] = path;
}

static int is_trace(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name), suffix = sizeof(SUFFIX) - 1;

	return n > suffix && strcmp(entry->d_name + n - suffix, SUFFIX) == 0;
}

/* By bytes: the same order in every locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_directory(struct sy_inputs *inputs, const char *path, struct sy_err *err)
{
	size_t length = strlen(path);
	const char *slash = length && path[length - 1] == '/' ? "" : "/";
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_trace, by_name);

	if (n < 0)
		return sy_err_set(err, "cannot read the directory: path=%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		add(inputs, sy_mem_printf(&inputs->arena, "%s%s%s", path, slash, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return n ? 0 : sy_err_set(err, "no traces in the directory: path=%s", path);
}

int sy_inputs_add(struct sy_inputs *inputs, const char *path, struct sy_err *err)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return sy_err_set(err, "cannot read the trace: path=%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return add_directory(inputs, path, err);
	add(inputs, sy_mem_copy(&inputs->arena, path));
	return 0;
}

void sy_inputs_free(struct sy_inputs *inputs)
{
	free(inputs->paths);
	sy_arena_free(&inputs->arena);
	memset(inputs, 0, sizeof(*inputs));
}
