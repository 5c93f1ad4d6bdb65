/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - by which ways one object file comes to CUDA
 *
 * From what it imports, what it carries and which texts it holds; nothing of it
 * is run. A way that leaves no such mark (names put together at run time) is
 * not found.
 */
#ifndef SY_ANALYSIS_REACH_H
#define SY_ANALYSIS_REACH_H

#include <stddef.h>
#include <stdint.h>

enum sy_reach {
#define REACH(id, words, seen, why) SY_REACH_##id,
#include "analysis/reaches.def"
#undef REACH
	SY_N_REACHES
};

enum sy_seen { SY_SEEN_YES, SY_SEEN_PARTLY, SY_SEEN_NO };

struct sy_reach_desc {
	const char *words;
	enum sy_seen seen;
	const char *why; /* "" where all is seen */
};
extern const struct sy_reach_desc sy_reach_desc[SY_N_REACHES];

/* The least that any of the ways in the set has; bit n of a set is way n. */
enum sy_seen sy_reach_seen(uint32_t reaches);
const char *sy_seen_word(enum sy_seen seen); /* "yes", "partly", "no" */

enum sy_reach_result {
	SY_REACH_EXAMINED,
	SY_REACH_NOT_ELF,   /* no object file, or of no kind that runs here: not our business */
	SY_REACH_UNREADABLE /* `err` says why */
};

/* Sets *reaches; 0 if the object has nothing to do with CUDA. */
enum sy_reach_result sy_reach_examine(const char *path, uint32_t *reaches, char *err, size_t err_bytes);

#endif
