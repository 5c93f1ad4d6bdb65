/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a byte buffer that grows
 *
 * For building a small file in memory. Running out of memory is remembered and
 * asked for once, at the end, so that callers can append without a test each
 * time. Not for text shown to people and not for large data.
 */
#ifndef SY_ANALYSIS_BYTES_H
#define SY_ANALYSIS_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Start from all zero. `data` belongs to the buffer; freed by sy_bytes_free(). */
struct sy_bytes {
	unsigned char *data;
	size_t used;
	size_t room;
	bool has_failed; /* an append found no memory; the contents are incomplete */
};

/* Appends `n` bytes and returns where they begin. NULL `from` appends zeros. */
size_t sy_bytes_put(struct sy_bytes *buffer, const void *from, size_t n);
/* Appends a string with its final zero and returns where it begins. */
size_t sy_bytes_put_text(struct sy_bytes *buffer, const char *text);
/* Appends zeros until the length is a multiple of `alignment`. */
void sy_bytes_align(struct sy_bytes *buffer, size_t alignment);
void sy_bytes_free(struct sy_bytes *buffer);

#endif
