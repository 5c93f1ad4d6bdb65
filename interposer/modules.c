/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/modules.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The lines of a file, read piecewise into a small buffer: the stack here is the program's. */
struct lines {
	int fd;
	size_t start, end;
	char buffer[1024];
};

/* The next line, NUL-terminated, or NULL. A line longer than the buffer is cut. */
static char *next_line(struct lines *lines)
{
	for (;;) {
		char *at = lines->buffer + lines->start;
		char *newline = memchr(at, '\n', lines->end - lines->start);
		ssize_t n;

		if (newline || (lines->start == 0 && lines->end == sizeof(lines->buffer) - 1)) {
			lines->start = newline ? (size_t)(newline - lines->buffer) + 1 : lines->end;
			lines->buffer[newline ? lines->start - 1 : lines->end] = '\0';
			return at;
		}
		memmove(lines->buffer, at, lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
		n = read(lines->fd, lines->buffer + lines->end, sizeof(lines->buffer) - 1 - lines->end);
		if (n <= 0)
			return NULL;
		lines->end += (size_t)n;
	}
}

static uint64_t parse_hex(const char **text)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

bool sy_module_of(const void *address, struct sy_module *module)
{
	uint64_t wanted = (uint64_t)(uintptr_t)address;
	struct lines lines = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	bool is_found = false;
	const char *line;

	module->path[0] = '\0';
	while (lines.fd >= 0 && !is_found && (line = next_line(&lines)) != NULL) {
		uint64_t start = parse_hex(&line), end;
		const char *path;

		line += *line == '-';
		end = parse_hex(&line);
		path = strchr(line, '/');
		/* Mappings of one file follow one another; the first of them is where it was loaded. */
		if (path && strncmp(path, module->path, sizeof(module->path) - 1) != 0) {
			strncpy(module->path, path, sizeof(module->path) - 1);
			module->path[sizeof(module->path) - 1] = '\0';
			module->base = start;
		}
		is_found = wanted >= start && wanted < end && path;
	}
	if (lines.fd >= 0)
		close(lines.fd);
	return is_found;
}
