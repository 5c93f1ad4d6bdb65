/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/pattern.h"

bool sy_pattern_matches(const char *pattern, size_t n, const char *text)
{
	size_t at = 0, star = n; /* n: none yet */
	const char *resume = text;

	while (*text) {
		if (at < n && pattern[at] == '*') {
			star = at++;
			resume = text;
		} else if (at < n && (pattern[at] == '?' || pattern[at] == *text)) {
			at++;
			text++;
		} else if (star < n) { /* the last '*' takes one more */
			at = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (at < n && pattern[at] == '*')
		at++;
	return at == n;
}
