/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/source_lines.h"

#include "analysis/mem.h"
#include "trace/text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES (16u << 20)
#define MAX_REASON_BYTES 400

struct sy_source_file {
	bool is_read;
	char *text; /* NULL: not at hand; otherwise with a NUL behind it */
	size_t bytes;
	size_t *starts; /* of each line */
	size_t n_lines, capacity;
};

/* A FIFO or a device named in a trace must not hang us, so only regular files are read. */
static void read_file(struct sy_source_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	ssize_t n = 0;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
	    status.st_size <= MAX_FILE_BYTES)
		file->text = calloc(1, (size_t)status.st_size + 1);
	while (file->text && (n = read(fd, file->text + file->bytes, (size_t)status.st_size - file->bytes)) > 0)
		file->bytes += (size_t)n;
	close(fd);
}

static void find_lines(struct sy_source_file *file)
{
	for (size_t at = 0; file->text && at < file->bytes;) {
		const char *end = memchr(file->text + at, '\n', file->bytes - at);

		file->starts = sy_mem_grow(file->starts, &file->capacity, file->n_lines, sizeof(*file->starts));
		file->starts[file->n_lines++] = at;
		at = end ? (size_t)(end - file->text) + 1 : file->bytes;
	}
}

/* The bytes of a line without its end; NULL if there is none. */
static const char *raw_line(struct sy_sources *sources, const char *path, uint32_t line, size_t *bytes)
{
	uint32_t number = sy_index_add(&sources->keys, path, strlen(path));
	struct sy_source_file *file;
	const char *from;

	sources->files = sy_mem_grow(sources->files, &sources->capacity, number, sizeof(*sources->files));
	file = &sources->files[number];
	if (!file->is_read) {
		file->is_read = true;
		read_file(file, path);
		find_lines(file);
	}
	if (line == 0 || line > file->n_lines)
		return NULL;
	from = file->text + file->starts[line - 1];
	*bytes = (line < file->n_lines ? file->starts[line] : file->bytes) - file->starts[line - 1];
	while (*bytes && isspace((unsigned char)from[*bytes - 1]))
		--*bytes;
	while (*bytes && isspace((unsigned char)*from)) {
		from++;
		--*bytes;
	}
	return from;
}

const char *sy_source_clean(struct sy_arena *arena, const char *text, size_t bytes, size_t max_bytes)
{
	char *clean;

	if (bytes > max_bytes)
		for (bytes = max_bytes; bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80; bytes--)
			;
	clean = sy_mem_alloc(arena, bytes + 1);
	sy_text_clean(clean, text, bytes);
	return clean;
}

const char *sy_source_line(struct sy_sources *sources, const char *path, uint32_t line)
{
	size_t bytes = 0;
	const char *from = raw_line(sources, path, line, &bytes);

	return from && bytes ? sy_source_clean(&sources->arena, from, bytes, SY_SOURCE_LINE_BYTES) : NULL;
}

/* Behind "# sync-ok:" in the line; NULL if that is not there. */
static const char *reason_in(struct sy_sources *sources, const char *from, size_t bytes)
{
	static const char mark[] = "sync-ok:";
	const char *at = memmem(from, bytes, mark, sizeof(mark) - 1);
	const char *end = from + bytes, *before = at;

	while (before && before > from && before[-1] == ' ')
		before--;
	if (!at || before == from || (before[-1] != '#' && before[-1] != '/'))
		return NULL;
	at += sizeof(mark) - 1;
	while (at < end && *at == ' ')
		at++;
	/* Without a reason it does not count: why is what the next reader needs. */
	return at < end ? sy_source_clean(&sources->arena, at, (size_t)(end - at), MAX_REASON_BYTES) : NULL;
}

const char *sy_source_reason(struct sy_sources *sources, const char *path, uint32_t line)
{
	size_t bytes = 0;
	const char *from = raw_line(sources, path, line, &bytes);
	const char *reason = from ? reason_in(sources, from, bytes) : NULL;

	if (reason || !from || line < 2)
		return reason;
	from = raw_line(sources, path, line - 1, &bytes);
	return from && bytes && *from == '#' ? reason_in(sources, from, bytes) : NULL;
}

void sy_sources_free(struct sy_sources *sources)
{
	for (uint32_t i = 0; i < sources->keys.n; i++) {
		free(sources->files[i].text);
		free(sources->files[i].starts);
	}
	free(sources->files);
	sy_index_free(&sources->keys);
	sy_arena_free(&sources->arena);
	memset(sources, 0, sizeof(*sources));
}
