/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_words.c - a limit and what was measured, in words
 */
#include "analysis/check_output.h"

#include "analysis/mem.h"
#include "analysis/report.h"
#include "trace/event.h"

#include <string.h>

#define MAX_BYTES 4096

/* Safe to show; and "##[", which begins a command of a CI runner anywhere in a line, does not. */
static const char *safe(struct sy_check *check, const char *text)
{
	const char *clean = sy_source_clean(&check->arena, text, strlen(text), MAX_BYTES);
	char *copy = sy_mem_copy(&check->arena, clean);

	for (char *at = strstr(copy, "##["); at; at = strstr(at, "##["))
		at[2] = '?';
	return copy;
}

static const char *amount(struct sy_check *check, enum sy_metric metric, double value)
{
	char text[SY_FORMAT_BYTES];

	if (sy_metric_desc[metric].unit == SY_UNIT_NS)
		return sy_mem_copy(&check->arena, value > 0 ? sy_format_ns(text, value) : "0 ns");
	return sy_mem_copy(&check->arena, sy_format_count(text, value));
}

static const char *subject_words(struct sy_check *check, const struct sy_finding *finding)
{
	switch (finding->entry->scope) {
	case SY_SCOPE_OTHER:
		return "a line that the budget does not list";
	case SY_SCOPE_LINE:
		return finding->entry->line ? "this line" : finding->entry->name;
	case SY_SCOPE_THREAD:
		return sy_mem_printf(&check->arena, "thread %s", finding->subject);
	case SY_SCOPE_RANK:
		return sy_mem_printf(&check->arena, "rank %s", finding->subject);
	default:
		return "all lines together";
	}
}

/* "train, readback d2h" */
static const char *kind_words(struct sy_check *check, const struct sy_place *place)
{
	return sy_mem_printf(&check->arena, "%s%s%s%s%s", place->function, *place->function ? ", " : "",
	                     sy_act_class_name((enum sy_act_class)place->class),
	                     place->direction < SY_COPY_UNKNOWN ? " " : "",
	                     place->direction < SY_COPY_UNKNOWN ? sy_direction_name(place->direction) : "");
}

static const char *place_words(struct sy_check *check, const struct sy_finding *finding)
{
	const struct sy_place *place;

	if (finding->place == SY_NO_PLACE)
		return "";
	place = &check->places[finding->place].place;
	if (finding->entry->scope == SY_SCOPE_OTHER || (finding->entry->scope == SY_SCOPE_LINE && finding->entry->line))
		return sy_mem_printf(&check->arena, " (%s)", kind_words(check, place));
	return sy_mem_printf(
		&check->arena, "; look at this line (%s): %s per step", kind_words(check, place),
		amount(check, finding->metric, sy_check_measure_place(check, finding->place, finding->metric)));
}

/* How to accept it. */
static const char *advice(const struct sy_check_output *output, const struct sy_finding *finding)
{
	struct sy_check *check = output->check;
	const struct sy_place *place;

	if (finding->place == SY_NO_PLACE)
		return sy_mem_printf(&check->arena, "to accept it, raise the limit in %s:%u", output->budget_path,
		                     finding->entry->budget_line);
	place = &check->places[finding->place].place;
	if (check->places[finding->place].row->site.is_native)
		return sy_mem_printf(&check->arena,
		                     "to accept it, name it in %s under accept: {at: \"%s:%s\", reason: ...}",
		                     output->budget_path, place->file, place->function);
	return sy_mem_printf(&check->arena,
	                     "to accept it, write \"# sync-ok: REASON\" at the line, or name it in %s under accept: "
	                     "{at: \"%s:%u\", reason: ...}",
	                     output->budget_path, place->file, place->line);
}

static void put_where(const struct sy_check_output *output, const struct sy_finding *finding,
                      struct sy_check_words *words)
{
	struct sy_check *check = output->check;
	const struct sy_place *place;

	words->file = output->budget_path;
	words->line = finding->entry->budget_line;
	if (finding->place == SY_NO_PLACE)
		return;
	place = &check->places[finding->place].place;
	words->file = place->line ? place->file : sy_mem_printf(&check->arena, "%s%s", place->file, place->function);
	words->line = place->line;
}

struct sy_check_words sy_check_words_of(const struct sy_check_output *output, const struct sy_finding *finding)
{
	struct sy_check *check = output->check;
	const char *key = sy_budget_metric_key(&check->arena, finding->metric);
	const char *subject = subject_words(check, finding);
	struct sy_check_words words = { .group = sy_scope_key(finding->entry->scope), .name = key };
	const char *measured = amount(check, finding->metric, finding->measured);
	const char *allowed = amount(check, finding->metric, finding->allowed);
	uint64_t n = check->profile->n_samples;

	put_where(output, finding, &words);
	if (finding->entry->name || finding->entry->scope == SY_SCOPE_OTHER)
		words.name = sy_mem_printf(&check->arena, "%s of %s", key,
		                           finding->subject       ? finding->subject
		                           : finding->entry->name ? finding->entry->name
		                           : finding->is_broken
		                                   ? sy_mem_printf(&check->arena, "%s:%u", words.file, words.line)
		                                   : "each");
	words.message = sy_mem_printf(&check->arena, "%s %s per step (%s of %llu steps), allowed %s for %s%s; %s", key,
	                              measured, sy_statistic_name(check->statistic), (unsigned long long)n, allowed,
	                              subject, place_words(check, finding), advice(output, finding));
	words.file = safe(check, words.file);
	words.name = safe(check, words.name);
	words.message = safe(check, words.message);
	return words;
}

struct sy_check_words sy_check_words_stale(const struct sy_check_output *output, const struct sy_budget_entry *entry)
{
	struct sy_check *check = output->check;
	struct sy_check_words words = { .file = safe(check, output->budget_path),
		                        .line = entry->budget_line,
		                        .group = sy_scope_key(entry->scope) };

	words.name = safe(check, sy_mem_printf(&check->arena, "%s is still there", entry->name));
	words.message = safe(check, sy_mem_printf(&check->arena,
	                                          "the budget names a line at which nothing waits any more: %s; "
	                                          "take it out, or write the budget again",
	                                          entry->name));
	return words;
}
