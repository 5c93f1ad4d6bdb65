/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at `at`, 0 if it is none. Shortest forms only, no surrogates, up to U+10FFFF. */
static size_t character_bytes(const unsigned char *at, size_t left)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
	uint32_t code = at[0] & (0x7fu >> n);

	if (n == 1)
		return 1;
	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3fu);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	/* C1 controls, as escape sequences are made of on some terminals. */
	return code >= 0xa0 ? n : 0;
}

void sy_text_clean(char *to, const char *from, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)from;
	size_t i = 0;

	while (i < bytes) {
		size_t n = character_bytes(at + i, bytes - i);
		bool is_control = n == 1 && (at[i] < 0x20 || at[i] == 0x7f);

		if (n == 0 || is_control) {
			to[i++] = '?';
			continue;
		}
		memcpy(to + i, from + i, n);
		i += n;
	}
	to[bytes] = '\0';
}
