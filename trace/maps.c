/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/maps.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void sy_maps_open(struct sy_maps *maps, pid_t pid)
{
	static const char before[] = "/proc/", behind[] = "/maps";
	char path[sizeof(before) + sizeof(behind) + 12], digits[12];
	size_t n = sizeof(digits), at = sizeof(before) - 1;

	maps->start = maps->end = 0;
	do
		digits[--n] = (char)('0' + pid % 10);
	while ((pid /= 10) > 0);
	memcpy(path, before, at);
	memcpy(path + at, digits + n, sizeof(digits) - n);
	memcpy(path + at + sizeof(digits) - n, behind, sizeof(behind));
	maps->fd = open(path, O_RDONLY | O_CLOEXEC);
}

/* The next line, NUL-terminated, or NULL. A line longer than the buffer is cut. */
static char *next_line(struct sy_maps *maps)
{
	for (;;) {
		char *at = maps->buffer + maps->start;
		char *newline = memchr(at, '\n', maps->end - maps->start);
		ssize_t n;

		if (newline || (maps->start == 0 && maps->end == sizeof(maps->buffer) - 1)) {
			maps->start = newline ? (size_t)(newline - maps->buffer) + 1 : maps->end;
			maps->buffer[newline ? maps->start - 1 : maps->end] = '\0';
			return at;
		}
		memmove(maps->buffer, at, maps->end - maps->start);
		maps->end -= maps->start;
		maps->start = 0;
		n = read(maps->fd, maps->buffer + maps->end, sizeof(maps->buffer) - 1 - maps->end);
		if (n <= 0)
			return NULL;
		maps->end += (size_t)n;
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

bool sy_maps_next(struct sy_maps *maps, struct sy_mapping *mapping)
{
	const char *line = maps->fd < 0 ? NULL : next_line(maps);

	if (!line)
		return false;
	mapping->start = parse_hex(&line);
	line += *line == '-';
	mapping->end = parse_hex(&line);
	mapping->path = strchr(line, '/');
	if (!mapping->path)
		mapping->path = "";
	return true;
}

void sy_maps_close(struct sy_maps *maps)
{
	if (maps->fd >= 0)
		close(maps->fd);
	maps->fd = -1;
}
