/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/site.h"

#include "analysis/mem.h"

#include <ctype.h>
#include <string.h>

/* As the command line has it. */
static const char *own_paths[SY_SITE_PATHS];
static unsigned n_own_paths;
static uint32_t site_depth;

bool sy_site_take_path(const char *part)
{
	if (n_own_paths == SY_SITE_PATHS)
		return false;
	own_paths[n_own_paths++] = part;
	return true;
}

void sy_site_set_depth(uint32_t depth)
{
	site_depth = depth;
}

/* ".../lib/python3.11/..." is the standard library of an installation or of an environment. */
static bool is_standard_library(const char *file)
{
	static const char mark[] = "/python3.";

	for (const char *at = strstr(file, mark); at; at = strstr(at + 1, mark)) {
		const char *end = at + sizeof(mark) - 1;
		bool is_below_lib = (at - file >= 4 && strncmp(at - 4, "/lib", 4) == 0) ||
		                    (at - file >= 6 && strncmp(at - 6, "/lib64", 6) == 0);

		if (!isdigit((unsigned char)*end) || !is_below_lib)
			continue;
		while (isdigit((unsigned char)*end))
			end++;
		if (*end == 't') /* free-threaded builds */
			end++;
		if (*end == '/')
			return true;
	}
	return false;
}

bool sy_site_is_user_file(const char *file)
{
	for (unsigned i = 0; i < n_own_paths; i++)
		if (strstr(file, own_paths[i]))
			return true;
	return strncmp(file, "<frozen ", 8) != 0 && !strstr(file, "/site-packages/") &&
	       !strstr(file, "/dist-packages/") && !is_standard_library(file) && strcmp(file, "?") != 0;
}

static struct sy_site python_site(const struct sy_trace_thread *thread, uint32_t stack, uint32_t depth)
{
	struct sy_trace_frame frame = sy_thread_frame(thread, stack, 0);
	uint32_t outwards = 0;

	for (uint32_t i = 0; i < depth; i++) {
		struct sy_trace_frame outer = sy_thread_frame(thread, stack, i);

		if (!sy_site_is_user_file(outer.file))
			continue;
		frame = outer;
		if (outwards++ == site_depth)
			break;
	}
	return (struct sy_site){ frame.file, frame.function, frame.line, frame.first_line, false };
}

struct sy_site sy_site_of(const struct sy_trace_thread *thread, uint32_t stack, uint32_t native, struct sy_arena *arena)
{
	uint32_t depth = sy_thread_stack_depth(thread, stack);
	struct sy_trace_native place;

	if (depth)
		return python_site(thread, stack, depth);
	if (sy_thread_native_depth(thread, native) == 0)
		return (struct sy_site){ "?", "", 0, 0, true };
	place = sy_thread_native(thread, native, 0);
	return (struct sy_site){ place.module, sy_mem_printf(arena, "+0x%llx", (unsigned long long)place.offset), 0, 0,
		                 true };
}
