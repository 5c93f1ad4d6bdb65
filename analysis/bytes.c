/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - a byte buffer that grows
 */
#include "analysis/bytes.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct sy_bytes *buffer, size_t n)
{
	size_t wanted, room = buffer->room ? buffer->room : 256;
	unsigned char *grown;

	if (buffer->has_failed || __builtin_add_overflow(buffer->used, n, &wanted))
		return false;
	if (wanted <= buffer->room)
		return true;
	while (room < wanted) {
		if (__builtin_mul_overflow(room, (size_t)2, &room))
			return false;
	}
	grown = realloc(buffer->data, room);
	if (!grown)
		return false;
	buffer->data = grown;
	buffer->room = room;
	return true;
}

size_t sy_bytes_put(struct sy_bytes *buffer, const void *from, size_t n)
{
	size_t at = buffer->used;

	if (!make_room(buffer, n)) {
		buffer->has_failed = true;
		return at;
	}
	if (n && from)
		memcpy(buffer->data + at, from, n);
	else if (n)
		memset(buffer->data + at, 0, n);
	buffer->used += n;
	return at;
}

size_t sy_bytes_put_text(struct sy_bytes *buffer, const char *text)
{
	return sy_bytes_put(buffer, text, strlen(text) + 1);
}

void sy_bytes_align(struct sy_bytes *buffer, size_t alignment)
{
	size_t over = buffer->used % alignment;

	if (over)
		sy_bytes_put(buffer, NULL, alignment - over);
}

void sy_bytes_free(struct sy_bytes *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
