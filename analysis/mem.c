/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *at)
{
	if (!at) {
		fputs("synctally: out of memory\n", stderr);
		exit(2);
	}
	return at;
}

void *sy_mem_alloc(struct sy_arena *arena, size_t bytes)
{
	return must(sy_arena_alloc(arena, bytes));
}

char *sy_mem_copy(struct sy_arena *arena, const char *text)
{
	return strcpy(sy_mem_alloc(arena, strlen(text) + 1), text);
}

char *sy_mem_printf(struct sy_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = sy_mem_alloc(arena, (n < 0 ? 0 : (size_t)n) + 1);
	va_start(args, format);
	if (n > 0)
		vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}

void *sy_mem_grow(void *array, size_t *capacity, size_t n, size_t size)
{
	size_t wanted = *capacity ? *capacity : 16;
	size_t bytes;
	char *grown;

	if (n < *capacity)
		return array;
	while (wanted <= n)
		if (__builtin_mul_overflow(wanted, 2u, &wanted))
			must(NULL);
	if (__builtin_mul_overflow(wanted, size, &bytes))
		must(NULL);
	grown = must(realloc(array, bytes));
	memset(grown + *capacity * size, 0, bytes - *capacity * size);
	*capacity = wanted;
	return grown;
}
