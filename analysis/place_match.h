/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_match.h - which line of one run (or of a budget) is which line of another
 *
 * Programs change and checkouts move, so equal line numbers are neither needed
 * nor enough. Files are the same if their paths are, or else if they share the
 * most components from the end. Within a file, lines of one function that do
 * the same kind of thing are paired in their order, at the least cost: equal
 * text, or an equal line, costs nothing; a shift and another count cost more.
 */
#ifndef SY_ANALYSIS_PLACE_MATCH_H
#define SY_ANALYSIS_PLACE_MATCH_H

#include <stdint.h>

/* All strings are borrowed. */
struct sy_place {
	const char *file; /* relative to where the program was started, if it lies below */
	const char *function;
	const char *code;    /* the line itself without indentation; NULL not known */
	uint32_t line;       /* 0: not known */
	uint32_t first_line; /* of the function; 0: not known */
	uint8_t class, direction, memory;
	double weight; /* how often, in any unit that is the same on both sides; below 0 not known */
};

#define SY_NO_PLACE UINT32_MAX

/* For each place of `a` its counterpart in `b`, or SY_NO_PLACE. No place of `b` is taken twice. */
void sy_places_match(const struct sy_place *a, uint32_t n_a, const struct sy_place *b, uint32_t n_b, uint32_t *b_of_a);

/*
 * The pairing within one function: `a` and `b` list positions in places that
 * have file, function, class and direction in common, by rising line. Only
 * the entries of `b_of_a` that get a counterpart are written.
 */
struct sy_place_list {
	const struct sy_place *places;
	const uint32_t *at;
	uint32_t n;
};
void sy_places_align(struct sy_place_list a, struct sy_place_list b, uint32_t *b_of_a);

/* How many components two paths share from the end; UINT32_MAX if they are equal. */
uint32_t sy_path_common_tail(const char *a, const char *b);

#endif
