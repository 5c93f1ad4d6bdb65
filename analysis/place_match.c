/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/place_match.h"

#include "analysis/index.h"
#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- within one function ------------------------------------------------------------ */

/*
 * Costs of the pairing. Two places pair if that is cheaper than leaving both
 * alone: on the same line whatever the count, elsewhere only if the count is
 * about the same. A readback that came from 24 others is not one of them.
 */
#define COST_ALONE 0.8
#define COST_OTHER_TEXT 0.9
#define COST_SHIFT_LEAST 0.4
#define COST_SHIFT_MORE 0.6 /* reached at MAX_SHIFT lines */
#define COST_OTHER_COUNT 1.5
#define COST_OTHER_MEMORY 0.05
#define MAX_SHIFT 50.0

/* Beyond this many cells only equal lines pair. */
#define MAX_CELLS (1u << 22)

static double shift_cost(const struct sy_place *a, const struct sy_place *b)
{
	double shift = a->line > b->line ? a->line - b->line : b->line - a->line;

	if (a->line == b->line)
		return 0;
	if (a->first_line && b->first_line && a->line - a->first_line == b->line - b->first_line)
		return 0;
	return COST_SHIFT_LEAST + COST_SHIFT_MORE * (shift > MAX_SHIFT ? 1 : shift / MAX_SHIFT);
}

static double pair_cost(const struct sy_place *a, const struct sy_place *b)
{
	double most = a->weight > b->weight ? a->weight : b->weight;
	double least = a->weight > b->weight ? b->weight : a->weight;
	double cost = least >= 0 && most > 0 ? COST_OTHER_COUNT * (most - least) / most : 0;

	if (a->memory != b->memory)
		cost += COST_OTHER_MEMORY;
	if (!a->code || !b->code)
		return cost + shift_cost(a, b);
	/* Equal text may stand there several times: then the shift decides after all. */
	return cost + (strcmp(a->code, b->code) == 0 ? shift_cost(a, b) / 100 : COST_OTHER_TEXT + shift_cost(a, b));
}

static void align_equal_lines(struct sy_place_list a, struct sy_place_list b, uint32_t *b_of_a)
{
	for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
		uint32_t x = a.places[a.at[i]].line, y = b.places[b.at[j]].line;

		if (x == y)
			b_of_a[a.at[i]] = b.at[j];
		i += x <= y;
		j += y <= x;
	}
}

/* best[i][j]: the least cost of pairing what comes from i and j on; rows of b.n + 1. */
static void fill_costs(struct sy_place_list a, struct sy_place_list b, double *best)
{
	size_t width = (size_t)b.n + 1;

	for (uint32_t i = a.n + 1; i-- > 0;) {
		for (uint32_t j = b.n + 1; j-- > 0;) {
			double *cell = &best[i * width + j], pair;

			*cell = COST_ALONE * ((a.n - i) + (b.n - j));
			if (i < a.n && cell[width] + COST_ALONE < *cell)
				*cell = cell[width] + COST_ALONE;
			if (j < b.n && cell[1] + COST_ALONE < *cell)
				*cell = cell[1] + COST_ALONE;
			if (i == a.n || j == b.n)
				continue;
			pair = cell[width + 1] + pair_cost(&a.places[a.at[i]], &b.places[b.at[j]]);
			if (pair < *cell)
				*cell = pair;
		}
	}
}

void sy_places_align(struct sy_place_list a, struct sy_place_list b, uint32_t *b_of_a)
{
	size_t width = (size_t)b.n + 1;
	struct sy_arena arena = { NULL };
	double *best;

	if (a.n == 0 || b.n == 0)
		return;
	if (((uint64_t)a.n + 1) * width > MAX_CELLS) {
		align_equal_lines(a, b, b_of_a);
		return;
	}
	best = sy_mem_alloc(&arena, ((size_t)a.n + 1) * width * sizeof(*best));
	fill_costs(a, b, best);
	for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
		const double *cell = &best[i * width + j];

		/* The same sums as above, so they compare equal. */
		if (*cell == cell[width + 1] + pair_cost(&a.places[a.at[i]], &b.places[b.at[j]])) {
			b_of_a[a.at[i++]] = b.at[j++];
		} else if (*cell == cell[width] + COST_ALONE) {
			i++;
		} else if (*cell == cell[1] + COST_ALONE) {
			j++;
		} else {
			break; /* nothing pairs from here on */
		}
	}
	sy_arena_free(&arena);
}

/* ---- files ------------------------------------------------------------------------------ */

uint32_t sy_path_common_tail(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);
	uint32_t n = 0;

	if (strcmp(a, b) == 0)
		return UINT32_MAX;
	if (x == 0 || y == 0)
		return 0;
	while (x > 0 && y > 0 && a[x - 1] == b[y - 1]) {
		n += a[x - 1] == '/';
		x--;
		y--;
	}
	/* One of them ended: that counts as a whole component if the other goes on behind a slash. */
	if ((x == 0 && y > 0 && b[y - 1] == '/') || (y == 0 && x > 0 && a[x - 1] == '/'))
		n++;
	return n;
}

static uint32_t depth_of(const char *path)
{
	uint32_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

struct file_pair {
	uint32_t a, b;
	uint32_t common, depth_difference;
};

static int by_likeness(const void *x, const void *y)
{
	const struct file_pair *p = x, *q = y;

	if (p->common != q->common)
		return p->common > q->common ? -1 : 1;
	if (p->depth_difference != q->depth_difference)
		return p->depth_difference < q->depth_difference ? -1 : 1;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return p->b < q->b ? -1 : p->b > q->b;
}

struct files {
	struct sy_index keys;
	const char **names;
	size_t capacity;
	uint32_t *of_place;
};

static void list_files(struct files *files, const struct sy_place *places, uint32_t n, struct sy_arena *arena)
{
	files->of_place = sy_mem_alloc(arena, n * sizeof(*files->of_place));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = sy_index_add(&files->keys, places[i].file, strlen(places[i].file));

		files->names = sy_mem_grow(files->names, &files->capacity, number, sizeof(*files->names));
		files->names[number] = places[i].file;
		files->of_place[i] = number;
	}
}

static struct file_pair *list_pairs(const struct files *a, const struct files *b, size_t *n)
{
	struct file_pair *pairs = NULL;
	size_t capacity = 0;

	for (uint32_t i = 0; i < a->keys.n; i++) {
		for (uint32_t j = 0; j < b->keys.n; j++) {
			uint32_t common = sy_path_common_tail(a->names[i], b->names[j]);
			uint32_t x = depth_of(a->names[i]), y = depth_of(b->names[j]);

			if (!common)
				continue;
			pairs = sy_mem_grow(pairs, &capacity, *n, sizeof(*pairs));
			pairs[(*n)++] = (struct file_pair){ i, j, common, x > y ? x - y : y - x };
		}
	}
	if (*n)
		qsort(pairs, *n, sizeof(*pairs), by_likeness);
	return pairs;
}

/* For each file of `a` the one of `b`, or SY_NO_PLACE. */
static uint32_t *match_files(const struct files *a, const struct files *b, struct sy_arena *arena)
{
	uint32_t *b_of_a = sy_mem_alloc(arena, a->keys.n * sizeof(*b_of_a));
	unsigned char *is_taken = sy_mem_alloc(arena, b->keys.n);
	size_t n = 0;
	struct file_pair *pairs = list_pairs(a, b, &n);

	for (uint32_t i = 0; i < a->keys.n; i++)
		b_of_a[i] = SY_NO_PLACE;
	for (size_t i = 0; i < n; i++) {
		if (b_of_a[pairs[i].a] != SY_NO_PLACE || is_taken[pairs[i].b])
			continue;
		b_of_a[pairs[i].a] = pairs[i].b;
		is_taken[pairs[i].b] = 1;
	}
	free(pairs);
	return b_of_a;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Places by group, then line; the groups of both sides are numbered alike. */
struct member {
	uint32_t group, line, place;
};

static int by_group(const void *x, const void *y)
{
	const struct member *p = x, *q = y;

	if (p->group != q->group)
		return p->group < q->group ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return p->place < q->place ? -1 : p->place > q->place;
}

/* The second time lines count and functions do not: a function that only changed its name. */
static uint32_t group_of(struct sy_index *groups, const struct sy_place *place, uint32_t file, bool by_line)
{
	char key[2048];
	uint32_t head[3] = { file, by_line ? place->line : 0, (uint32_t)(place->class << 8 | place->direction) };
	size_t n = by_line ? 0 : strlen(place->function);

	if (n > sizeof(key) - sizeof(head))
		n = sizeof(key) - sizeof(head);
	memcpy(key, head, sizeof(head));
	memcpy(key + sizeof(head), place->function, n);
	return sy_index_add(groups, key, sizeof(head) + n);
}

struct side {
	const struct sy_place *places;
	uint32_t n;
	const uint32_t *file; /* of each place, numbered as in `b` */
	const unsigned char *is_done;
	struct member *members;
	uint32_t n_members;
	uint32_t *at;
};

static void gather(struct side *side, struct sy_index *groups, bool by_line, struct sy_arena *arena)
{
	side->members = sy_mem_alloc(arena, side->n * sizeof(*side->members));
	side->at = sy_mem_alloc(arena, side->n * sizeof(*side->at));
	side->n_members = 0;
	for (uint32_t i = 0; i < side->n; i++)
		if (!side->is_done[i] && side->file[i] != SY_NO_PLACE)
			side->members[side->n_members++] =
				(struct member){ group_of(groups, &side->places[i], side->file[i], by_line),
				                 side->places[i].line, i };
	if (side->n_members)
		qsort(side->members, side->n_members, sizeof(*side->members), by_group);
	for (uint32_t i = 0; i < side->n_members; i++)
		side->at[i] = side->members[i].place;
}

static uint32_t end_of_group(const struct side *side, uint32_t from)
{
	uint32_t end = from;

	while (end < side->n_members && side->members[end].group == side->members[from].group)
		end++;
	return end;
}

static void match_groups(struct side *a, struct side *b, bool by_line, uint32_t *b_of_a, struct sy_arena *arena)
{
	struct sy_index groups = { .n = 0 };
	uint32_t i = 0, j = 0;

	gather(a, &groups, by_line, arena);
	gather(b, &groups, by_line, arena);
	while (i < a->n_members && j < b->n_members) {
		uint32_t x = a->members[i].group, y = b->members[j].group;
		uint32_t end_i = end_of_group(a, i), end_j = end_of_group(b, j);

		if (x == y)
			sy_places_align((struct sy_place_list){ a->places, a->at + i, end_i - i },
			                (struct sy_place_list){ b->places, b->at + j, end_j - j }, b_of_a);
		i = x <= y ? end_i : i;
		j = y <= x ? end_j : j;
	}
	sy_index_free(&groups);
}

static uint32_t *files_as_in_b(const struct files *a, const uint32_t *b_of_file, uint32_t n, struct sy_arena *arena)
{
	uint32_t *file = sy_mem_alloc(arena, n * sizeof(*file));

	for (uint32_t i = 0; i < n; i++)
		file[i] = b_of_file[a->of_place[i]];
	return file;
}

void sy_places_match(const struct sy_place *a, uint32_t n_a, const struct sy_place *b, uint32_t n_b, uint32_t *b_of_a)
{
	struct sy_arena arena = { NULL };
	struct files files_a = { .names = NULL }, files_b = { .names = NULL };
	unsigned char *done_a = sy_mem_alloc(&arena, n_a), *done_b = sy_mem_alloc(&arena, n_b);
	struct side side_a, side_b;

	list_files(&files_a, a, n_a, &arena);
	list_files(&files_b, b, n_b, &arena);
	side_a = (struct side){
		.places = a,
		.n = n_a,
		.file = files_as_in_b(&files_a, match_files(&files_a, &files_b, &arena), n_a, &arena),
		.is_done = done_a,
	};
	side_b = (struct side){ .places = b, .n = n_b, .file = files_b.of_place, .is_done = done_b };
	for (uint32_t i = 0; i < n_a; i++)
		b_of_a[i] = SY_NO_PLACE;
	for (int by_line = 0; by_line < 2; by_line++) {
		match_groups(&side_a, &side_b, by_line, b_of_a, &arena);
		for (uint32_t i = 0; i < n_a; i++) {
			if (b_of_a[i] == SY_NO_PLACE)
				continue;
			done_a[i] = 1;
			done_b[b_of_a[i]] = 1;
		}
	}
	sy_index_free(&files_a.keys);
	sy_index_free(&files_b.keys);
	free(files_a.names);
	free(files_b.names);
	sy_arena_free(&arena);
}
