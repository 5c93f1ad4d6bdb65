/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/preload.h"

#include "analysis/mem.h"
#include "analysis/simlibs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libsynctally.so"
#define MAX_LIST_BYTES 65536

/* The directory of this program, without the final slash; NULL if it cannot be told. */
static char *own_directory(struct sy_arena *arena)
{
	char *path = sy_mem_alloc(arena, PATH_MAX);
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash = n > 0 ? strrchr(path, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	return path;
}

/* bin/../lib in the tree, bin/../lib/synctally when installed. */
static const char *library_directory(struct sy_arena *arena, struct sy_err *err)
{
	static const char *const places[] = { "../lib", "../lib/synctally" };
	const char *own = own_directory(arena);

	for (size_t i = 0; own && i < sizeof(places) / sizeof(places[0]); i++) {
		char *found = realpath(sy_mem_printf(arena, "%s/%s/" LIBRARY, own, places[i]), NULL);
		char *copy;

		if (!found)
			continue;
		copy = sy_mem_copy(arena, found);
		free(found);
		*strrchr(copy, '/') = '\0';
		return copy;
	}
	sy_err_set(err, "cannot find " LIBRARY " beside this program: directory=%s/../lib", own ? own : "?");
	return NULL;
}

const char *sy_preload_make(char *const command[], bool is_simulated, struct sy_arena *arena, struct sy_err *err)
{
	const char *directory = library_directory(arena, err);
	const char *before = getenv("LD_PRELOAD");
	char *simulated = "";
	char reason[512];

	if (!directory)
		return NULL;
	if (strpbrk(directory, ": \t\n")) {
		sy_err_set(err, "LD_PRELOAD cannot name a path with a blank or a colon: path=%s", directory);
		return NULL;
	}
	if (is_simulated) {
		simulated = sy_mem_alloc(arena, MAX_LIST_BYTES);
		if (sy_simlibs_preload(sy_mem_printf(arena, "%s/sim", directory), command, simulated, MAX_LIST_BYTES,
		                       reason, sizeof(reason)) != 0) {
			sy_err_set(err, "%s", reason);
			return NULL;
		}
	}
	return sy_mem_printf(arena, "%s/" LIBRARY "%s%s%s%s", directory, *simulated ? ":" : "", simulated,
	                     before && *before ? ":" : "", before ? before : "");
}

const char *sy_preload_library(struct sy_arena *arena)
{
	struct sy_err err;
	const char *directory = library_directory(arena, &err);

	return directory ? sy_mem_printf(arena, "%s/" LIBRARY, directory) : NULL;
}

const char *sy_preload_device_directory(struct sy_arena *arena)
{
	struct sy_err err;
	const char *directory = library_directory(arena, &err);

	return directory ? sy_mem_printf(arena, "%s/sim", directory) : NULL;
}
