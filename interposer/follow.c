/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/follow.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD="
#define SEPARATORS ": " /* of LD_PRELOAD; there is no quoting */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool sy_follow_is_launcher(const char *name)
{
	static const char *const launchers[] = {
#define LAUNCHER(name_text) name_text,
#include "launchers.def"
#undef LAUNCHER
	};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		size_t length = strlen(launchers[i]);
		bool is_beginning = launchers[i][length - 1] == '*';

		if (is_beginning ? strncmp(name, launchers[i], length - 1) == 0 : strcmp(name, launchers[i]) == 0)
			return true;
	}
	return false;
}

/* The file, and the name it was called by: busybox and its like are one file of many names. */
static bool is_launcher(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return sy_follow_is_launcher(base_name(path)) || sy_follow_is_launcher(program_invocation_short_name);
}

/* A path is what the loader was given; a bare name it has looked up, and knows by the path where it was. */
static bool is_own(const char *entry, size_t length, const char *own)
{
	const char *own_name = base_name(own);

	if (memchr(entry, '/', length))
		return strlen(own) == length && memcmp(own, entry, length) == 0;
	return strlen(own_name) == length && memcmp(own_name, entry, length) == 0;
}

bool sy_follow_take_out(char *list, const char *own)
{
	char *at = list + strspn(list, SEPARATORS);

	while (*at) {
		size_t length = strcspn(at, SEPARATORS);

		if (!is_own(at, length, own)) {
			at += length;
			at += strspn(at, SEPARATORS);
			continue;
		}
		if (at[length])
			length++; /* the separator behind it */
		else if (at > list) {
			at--; /* it is the last: the one before it */
			length++;
		}
		memmove(at, at + length, strlen(at + length) + 1);
		at += strspn(at, SEPARATORS);
	}
	return list[strspn(list, SEPARATORS)] == '\0';
}

/* The path under which the loader knows this library. */
static const char *own_path(void)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (map->l_ld == _DYNAMIC)
			return map->l_name;
	return NULL;
}

/*
 * In the strings the kernel gave us, and nothing allocated: setenv is the
 * program's (bash has its own) and would leave a copy that nobody frees. A
 * variable that held nothing but us goes: it was not set before.
 */
void sy_follow_init(bool all)
{
	const char *own = all || is_launcher() ? NULL : own_path();
	char **to = environ;

	if (!own || !environ)
		return;
	for (char **from = environ; *from; from++) {
		char *value = *from + sizeof(VARIABLE) - 1;
		bool is_ours =
			strncmp(*from, VARIABLE, sizeof(VARIABLE) - 1) == 0 && *value && sy_follow_take_out(value, own);

		if (!is_ours)
			*to++ = *from;
	}
	*to = NULL;
}
