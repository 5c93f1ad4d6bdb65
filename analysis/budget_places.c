/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_places.c - the lines of a run, and which entries of a budget mean them
 */
#include "analysis/budget_check.h"

#include "analysis/mem.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- paths --------------------------------------------------------------------------------- */

bool sy_path_fits(const char *pattern, const char *path)
{
	size_t n = 1;
	const char *tail = path + strlen(path);

	if (*pattern == '/')
		return fnmatch(pattern, path, FNM_PATHNAME) == 0;
	for (const char *at = pattern; *at; at++)
		n += *at == '/';
	while (tail > path && (tail[-1] != '/' || --n > 0))
		tail--;
	return n <= 1 && fnmatch(pattern, tail, FNM_PATHNAME) == 0;
}

/* What follows `root` in a path; NULL if the path does not lie below it. */
static const char *below(const char *root, const char *path)
{
	size_t n = root ? strlen(root) : 0;

	return n > 1 && strncmp(path, root, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* As GitHub and the reader of a log know it: relative to the checkout, or to where the program was started. */
static const char *shown_path(struct sy_check *check, const struct sy_site *site, const char *full)
{
	const char *workspace = getenv("GITHUB_WORKSPACE"), *slash = strrchr(site->file, '/');
	const char *relative = below(workspace, full);
	char here[PATH_MAX];

	if (site->is_native)
		return slash ? slash + 1 : site->file;
	if (!relative && getcwd(here, sizeof(here)))
		relative = below(here, full);
	if (!relative)
		relative = below(check->profile->cwd, full);
	return sy_source_clean(&check->arena, relative ? relative : site->file,
	                       strlen(relative ? relative : site->file), PATH_MAX);
}

static const char *full_path(struct sy_check *check, const struct sy_site *site)
{
	if (*site->file == '/' || !check->profile->cwd)
		return site->file;
	return sy_mem_printf(&check->arena, "%s/%s", check->profile->cwd, site->file);
}

/* ---- places ---------------------------------------------------------------------------------- */

static double mean_count(const struct sy_profile *profile, const struct sy_row *row)
{
	return (double)row->tally[SY_PART_STEPS].count / (profile->n_samples ? (double)profile->n_samples : 1);
}

/* Source where the recording says it is or, in another checkout, where it is from here. */
static void read_source(struct sy_check *check, struct sy_check_place *place)
{
	const char *paths[2] = { place->full, place->place.file };

	if (place->row->site.is_native)
		return;
	for (int i = 0; i < 2 && !place->place.code; i++) {
		place->place.code = sy_source_line(&check->sources, paths[i], place->place.line);
		place->accepted = sy_source_reason(&check->sources, paths[i], place->place.line);
	}
}

static void add_place(struct sy_check *check, const struct sy_row *row)
{
	struct sy_check_place *place = &check->places[check->n_places++];

	place->row = row;
	place->full = full_path(check, &row->site);
	place->place = (struct sy_place){ .file = shown_path(check, &row->site, place->full),
		                          .function = row->site.function,
		                          .line = row->site.line,
		                          .class = (uint8_t)row->class,
		                          .direction = row->direction,
		                          .weight = mean_count(check->profile, row) };
	read_source(check, place);
}

static void list_places(struct sy_check *check)
{
	const struct sy_profile *profile = check->profile;
	struct sy_index keys = { .n = 0 };

	check->places = sy_mem_alloc(&check->arena, profile->n_rows * sizeof(*check->places));
	check->place_of_row = sy_mem_alloc(&check->arena, profile->n_rows * sizeof(*check->place_of_row));
	for (uint32_t i = 0; i < profile->n_rows; i++) {
		const struct sy_row *row = profile->sorted[i];
		struct sy_arena scratch = { NULL };
		const char *key = sy_mem_printf(&scratch, "%u %d %u %s %s", row->site.line, row->class, row->direction,
		                                row->site.file, row->site.function);
		uint32_t number = sy_index_add(&keys, key, strlen(key));

		sy_arena_free(&scratch);
		if (number == check->n_places)
			add_place(check, row);
		else
			check->places[number].place.weight += mean_count(profile, row);
		check->place_of_row[row - profile->rows] = number;
	}
	sy_index_free(&keys);
}

/* ---- which entry means which ------------------------------------------------------------------ */

bool sy_check_covers(const struct sy_check *check, size_t entry, uint32_t place)
{
	return check->covers[entry * check->n_places + place];
}

static bool is_of_lines(const struct sy_budget_entry *entry)
{
	return entry->scope == SY_SCOPE_LINE || entry->scope == SY_SCOPE_ACCEPT;
}

/* The one file whose path the pattern fits: 0 none, 1, or 2 for more. */
static unsigned n_files_that_fit(const struct sy_check *check, const char *pattern)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < check->n_places; i++) {
		const char *path = check->places[i].full;

		if (!sy_path_fits(pattern, path) || (first && strcmp(first, path) == 0))
			continue;
		if (first)
			return 2;
		first = path;
	}
	return first != NULL;
}

/* Where no file lies where the budget has it, the only one of that name is meant: it was moved, or is a copy. */
static void choose_files(struct sy_check *check)
{
	const struct sy_budget *budget = check->budget;

	check->file_of_entry = sy_mem_alloc(&check->arena, budget->n * sizeof(*check->file_of_entry));
	for (size_t i = 0; i < budget->n; i++) {
		const char *file = budget->entries[i].file;
		const char *slash = is_of_lines(&budget->entries[i]) ? strrchr(file, '/') : NULL;

		check->file_of_entry[i] = file;
		if (slash && n_files_that_fit(check, file) == 0 && n_files_that_fit(check, slash + 1) == 1)
			check->file_of_entry[i] = slash + 1;
	}
}

/* Everything but the line and the function. */
static bool may_be_in(const struct sy_check *check, size_t number, const struct sy_check_place *at)
{
	const struct sy_budget_entry *entry = &check->budget->entries[number];

	if (entry->class >= 0 && entry->class != at->place.class)
		return false;
	return sy_path_fits(check->file_of_entry[number], at->full);
}

/* Everything but the line. */
static bool may_mean(const struct sy_check *check, size_t number, const struct sy_check_place *at)
{
	const struct sy_budget_entry *entry = &check->budget->entries[number];

	if (entry->function && strcmp(entry->function, at->place.function) != 0)
		return false;
	if (entry->pattern && fnmatch(entry->pattern, at->place.function, 0) != 0)
		return false;
	return may_be_in(check, number, at);
}

static void cover_by_line(struct sy_check *check, size_t number)
{
	const struct sy_budget_entry *entry = &check->budget->entries[number];

	for (uint32_t i = 0; i < check->n_places; i++)
		if ((!entry->line || entry->line == check->places[i].place.line) &&
		    may_mean(check, number, &check->places[i]))
			check->covers[number * check->n_places + i] = 1;
}

static bool is_same_group(const struct sy_budget_entry *a, const struct sy_budget_entry *b)
{
	return is_of_lines(b) && b->function && a->class == b->class && strcmp(a->file, b->file) == 0 &&
	       strcmp(a->function, b->function) == 0;
}

struct by_line {
	uint32_t line, number;
};

static int compare_lines(const void *x, const void *y)
{
	const struct by_line *a = x, *b = y;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static uint32_t *numbers_by_line(const struct by_line *list, uint32_t n, struct sy_arena *arena)
{
	uint32_t *numbers = sy_mem_alloc(arena, n * sizeof(*numbers));

	for (uint32_t i = 0; i < n; i++)
		numbers[i] = list[i].number;
	return numbers;
}

/* The entries of one function, from `first` on, against the lines of that function: they may have moved. */
static void cover_group(struct sy_check *check, size_t first, unsigned char *is_done, struct sy_arena *scratch)
{
	const struct sy_budget *budget = check->budget;
	struct by_line *entries = sy_mem_alloc(scratch, budget->n * sizeof(*entries));
	struct by_line *places = sy_mem_alloc(scratch, check->n_places * sizeof(*places));
	struct sy_place *wanted = sy_mem_alloc(scratch, budget->n * sizeof(*wanted));
	struct sy_place *there = sy_mem_alloc(scratch, check->n_places * sizeof(*there));
	uint32_t *found = sy_mem_alloc(scratch, budget->n * sizeof(*found));
	uint32_t n_entries = 0, n_places = 0;

	for (size_t i = first; i < budget->n; i++) {
		const struct sy_budget_entry *entry = &budget->entries[i];
		const struct sy_limit *syncs = &entry->limits[SY_METRIC_SYNCS];

		found[i] = SY_NO_PLACE;
		if (!is_same_group(&budget->entries[first], entry))
			continue;
		is_done[i] = 1;
		wanted[i] = (struct sy_place){ .line = entry->line,
			                       .code = entry->code,
			                       .weight = syncs->is_set ? syncs->allowed : -1 };
		entries[n_entries++] = (struct by_line){ entry->line, (uint32_t)i };
	}
	for (uint32_t i = 0; i < check->n_places; i++) {
		there[i] = check->places[i].place;
		if (may_mean(check, first, &check->places[i]))
			places[n_places++] = (struct by_line){ there[i].line, i };
	}
	qsort(entries, n_entries, sizeof(*entries), compare_lines);
	qsort(places, n_places, sizeof(*places), compare_lines);
	sy_places_align((struct sy_place_list){ wanted, numbers_by_line(entries, n_entries, scratch), n_entries },
	                (struct sy_place_list){ there, numbers_by_line(places, n_places, scratch), n_places }, found);
	for (uint32_t i = 0; i < n_entries; i++)
		if (found[entries[i].number] != SY_NO_PLACE)
			check->covers[(size_t)entries[i].number * check->n_places + found[entries[i].number]] = 1;
}

static bool is_covered(const struct sy_check *check, uint32_t place)
{
	for (size_t i = 0; i < check->budget->n; i++)
		if (sy_check_covers(check, i, place))
			return true;
	return false;
}

static bool covers_any(const struct sy_check *check, size_t entry)
{
	return memchr(check->covers + entry * check->n_places, 1, check->n_places) != NULL;
}

/*
 * A line whose function has another name: renamed, or a comprehension, which
 * is a function of its own up to Python 3.11. The same text then decides.
 */
static void cover_by_text(struct sy_check *check, size_t number)
{
	const struct sy_budget_entry *entry = &check->budget->entries[number];

	if (!entry->function || !entry->code || covers_any(check, number))
		return;
	for (uint32_t i = 0; i < check->n_places; i++) {
		const struct sy_check_place *place = &check->places[i];

		if (!place->place.code || strcmp(place->place.code, entry->code) != 0 ||
		    !may_be_in(check, number, place) || is_covered(check, i))
			continue;
		check->covers[number * check->n_places + i] = 1;
		return;
	}
}

static void note_covered(struct sy_check *check)
{
	const struct sy_budget *budget = check->budget;

	check->stale = sy_mem_alloc(&check->arena, budget->n * sizeof(const struct sy_budget_entry *));
	for (size_t i = 0; i < budget->n; i++) {
		const struct sy_budget_entry *entry = &budget->entries[i];

		if (!is_of_lines(entry))
			continue;
		for (uint32_t p = 0; p < check->n_places; p++) {
			if (!sy_check_covers(check, i, p))
				continue;
			if (entry->scope == SY_SCOPE_LINE)
				check->places[p].is_listed = true;
			else if (!check->places[p].accepted)
				check->places[p].accepted = entry->reason;
		}
		if (!covers_any(check, i))
			check->stale[check->n_stale++] = entry;
	}
}

void sy_check_find_places(struct sy_check *check)
{
	const struct sy_budget *budget = check->budget;
	unsigned char *is_done = sy_mem_alloc(&check->arena, budget->n);

	list_places(check);
	choose_files(check);
	check->covers = sy_mem_alloc(&check->arena, budget->n * check->n_places);
	for (size_t i = 0; i < budget->n; i++) {
		struct sy_arena scratch = { NULL };

		if (!is_of_lines(&budget->entries[i]) || is_done[i])
			continue;
		if (budget->entries[i].function)
			cover_group(check, i, is_done, &scratch);
		else
			cover_by_line(check, i);
		sy_arena_free(&scratch);
	}
	for (size_t i = 0; i < budget->n; i++)
		if (is_of_lines(&budget->entries[i]))
			cover_by_text(check, i);
	note_covered(check);
}
