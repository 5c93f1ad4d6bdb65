/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/near_word.h"

#include <string.h>

#define MAX_LENGTH 63

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned d = a < b ? a : b;

	return d < c ? d : c;
}

/* Letters to change, add or leave out (Levenshtein). Both words are at most MAX_LENGTH long. */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned row[MAX_LENGTH + 1];

	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; *a; a++, i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			unsigned above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1, diagonal + (*a != b[j - 1]));
			diagonal = above;
		}
	}
	return row[n];
}

const char *sy_near_word(const char *word, const char *const *known, size_t n_known)
{
	size_t length = strlen(word);
	unsigned best = (unsigned)(length < 4 ? 2 : 1 + length / 2);
	const char *nearest = NULL;

	if (length > MAX_LENGTH)
		return NULL;
	for (size_t i = 0; i < n_known; i++) {
		unsigned there = strlen(known[i]) <= MAX_LENGTH ? distance(word, known[i]) : best;

		if (there < best) {
			best = there;
			nearest = known[i];
		}
	}
	return nearest;
}
