/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/values.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/site.h"
#include "sim/lock.h"
#include "sim/say.h"

enum { MAX_VALUES = 64, MAX_FILE = 256, MAX_DEPTH = 64 };

/* A file matches if it ends in the given path, at a "/" or from its beginning. */
static struct {
	bool is_read;
	unsigned n;
	struct {
		char file[MAX_FILE];
		unsigned line;
		uint64_t value;
	} at[MAX_VALUES];
	sy_python_frame_fn frame;
} values;

static bool add(const char *file, unsigned line, uint64_t value)
{
	if (values.n == MAX_VALUES || strlen(file) >= MAX_FILE)
		return false;
	memcpy(values.at[values.n].file, file, strlen(file) + 1);
	values.at[values.n].line = line;
	values.at[values.n].value = value;
	values.n++;
	return true;
}

static bool parse(const char *text, size_t length)
{
	unsigned line;
	char copy[MAX_FILE];
	char *equals, *colon, *end;

	if (length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	equals = strrchr(copy, '=');
	if (!equals)
		return false;
	*equals = '\0';
	colon = strrchr(copy, ':');
	if (!colon || colon == copy)
		return false;
	*colon = '\0';
	line = (unsigned)strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || *end)
		return false;
	uint64_t value = strtoull(equals + 1, &end, 0);
	return end != equals + 1 && !*end && add(copy, line, value);
}

static void read_values(void)
{
	const char *text = getenv("SYNCTALLY_SIM_VALUES");

	values.is_read = true;
	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (length && !parse(text, length))
			sim_say("SYNCTALLY_SIM_VALUES: not FILE:LINE=INTEGER, ignored: %.*s", (int)length, text);
		text += length + (text[length] != '\0');
	}
	void *symbol = dlsym(RTLD_DEFAULT, SY_PYTHON_FRAME_SYMBOL);
	memcpy(&values.frame, &symbol, sizeof symbol);
	if (!values.frame && values.n) {
		values.n = 0;
		sim_say("SYNCTALLY_SIM_VALUES: ignored: lines are only known with the preload library");
	}
}

static bool is_file(const char *path, const char *wanted)
{
	size_t n = strlen(path), m = strlen(wanted);

	return n >= m && strcmp(path + n - m, wanted) == 0 && (n == m || path[n - m - 1] == '/');
}

void sim_values_suggest(const char *file, unsigned line, uint64_t value)
{
	sim_lock();
	if (!values.is_read)
		read_values();
	if (values.frame)
		(void)add(file, line, value);
	sim_unlock();
}

bool sim_values_at_caller(uint64_t *value)
{
	char file[1024];
	unsigned line;

	if (!values.is_read)
		read_values();
	for (unsigned depth = 0; values.n && depth < MAX_DEPTH; depth++) {
		if (!values.frame(depth, file, sizeof file, &line))
			break;
		for (unsigned i = 0; i < values.n; i++) {
			if (values.at[i].line == line && is_file(file, values.at[i].file)) {
				*value = values.at[i].value;
				return true;
			}
		}
	}
	return false;
}
