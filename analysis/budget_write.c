/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget_write.h"

#include "analysis/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- YAML ------------------------------------------------------------------------------------ */

/*
 * A double-quoted scalar. The text is clean UTF-8; the few characters beyond
 * ASCII that YAML does not allow, or takes for line ends, go by number.
 */
static void put_text(const char *text, FILE *out)
{
	static const struct {
		char bytes[4];
		const char *escape;
	} special[] = { { "\xe2\x80\xa8", "\\u2028" },
		        { "\xe2\x80\xa9", "\\u2029" },
		        { "\xef\xbb\xbf", "\\uFEFF" },
		        { "\xef\xbf\xbe", "\\uFFFE" },
		        { "\xef\xbf\xbf", "\\uFFFF" } };

	fputc('"', out);
	while (*text) {
		size_t i = 0, n = sizeof(special) / sizeof(special[0]);

		while (i < n && strncmp(text, special[i].bytes, 3) != 0)
			i++;
		if (i < n) {
			fputs(special[i].escape, out);
			text += 3;
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text++, out);
	}
	fputc('"', out);
}

/* A name, so that as a pattern it fits itself only. */
static const char *literally(struct sy_arena *arena, const char *name)
{
	char *pattern = sy_mem_alloc(arena, 2 * strlen(name) + 1), *to = pattern;

	for (; *name; name++) {
		if (strchr("*?[\\", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	return pattern;
}

static void put_limit(struct sy_check *check, const char *indent, enum sy_metric metric, double value, FILE *out)
{
	const char *key = sy_budget_metric_key(&check->arena, metric);

	if (sy_metric_desc[metric].unit == SY_UNIT_NS)
		fprintf(out, "%s%s: %.17g ns\n", indent, key, value);
	else
		fprintf(out, "%s%s: %.15g\n", indent, key, value);
}

/* ---- what was measured -------------------------------------------------------------------------- */

/* With a real clock, whether a wait finds its work done already depends on the machine. */
static bool is_steady(const struct sy_check *check, enum sy_metric metric)
{
	if (metric != SY_METRIC_DRAINS)
		return true;
	for (size_t p = 0; p < check->profile->n_processes; p++)
		if (check->profile->processes[p].clock_kind != SY_CLOCK_VIRTUAL)
			return false;
	return true;
}

/* Beyond the slack no room for rounding, but a mean is no whole number. */
static double with_slack(const struct sy_check *check, double value, double slack)
{
	value *= 1 + slack;
	if (check->statistic == SY_STATISTIC_MEAN)
		return fmax(0, ceil(value * 1000 - 1e-6)) / 1000;
	return fmax(0, ceil(value - 1e-9));
}

static const uint8_t sum_metrics[] = { SY_METRIC_SYNCS,     SY_METRIC_DRAINS,
	                               SY_METRIC_READBACKS, SY_METRIC_PAGEABLE_UPLOADS,
	                               SY_METRIC_EXPLICIT,  SY_METRIC_IMPLICIT };
static const uint8_t line_metrics[] = { SY_METRIC_SYNCS, SY_METRIC_DRAINS };

static void put_sums(struct sy_check *check, double slack, FILE *out)
{
	fputs("\nper_step:\n", out);
	for (size_t i = 0; i < sizeof(sum_metrics); i++) {
		enum sy_metric metric = (enum sy_metric)sum_metrics[i];

		if (is_steady(check, metric))
			put_limit(check, "  ", metric, with_slack(check, sy_check_measure_all(check, metric), slack),
			          out);
	}
	fputs("\n# Each line that is not listed below.\nother_lines:\n  syncs: 0\n", out);
}

static void put_place(struct sy_check *check, const struct sy_check_place *place, FILE *out)
{
	const struct sy_place *at = &place->place;
	const char *file = literally(&check->arena, at->file);

	fputs("  - at: ", out);
	if (!place->row->site.is_native && at->line)
		put_text(sy_mem_printf(&check->arena, "%s:%u", file, at->line), out);
	else if (*at->function)
		put_text(sy_mem_printf(&check->arena, "%s:%s", file, literally(&check->arena, at->function)), out);
	else
		put_text(file, out);
	if (!place->row->site.is_native && at->line && *at->function) {
		fputs("\n    function: ", out);
		put_text(at->function, out);
	}
	fprintf(out, "\n    class: %s\n", sy_act_class_name((enum sy_act_class)at->class));
	if (at->code) {
		fputs("    code: ", out);
		put_text(at->code, out);
		fputc('\n', out);
	}
}

/* In the order in which one reads the program. */
static int by_position(const void *a, const void *b)
{
	const struct sy_check_place *x = *(struct sy_check_place *const *)a, *y = *(struct sy_check_place *const *)b;
	int files = strcmp(x->place.file, y->place.file);

	if (files != 0)
		return files;
	if (x->place.line != y->place.line)
		return x->place.line < y->place.line ? -1 : 1;
	return x->place.class != y->place.class ? x->place.class - y->place.class : x < y ? -1 : x > y;
}

static void put_lines(struct sy_check *check, double slack, FILE *out)
{
	struct sy_check_place **sorted = sy_mem_alloc(&check->arena, check->n_places * sizeof(struct sy_check_place *));
	uint32_t n = 0;

	for (uint32_t i = 0; i < check->n_places; i++)
		if (!check->places[i].accepted && sy_check_measure_place(check, i, SY_METRIC_SYNCS) > 0)
			sorted[n++] = &check->places[i];
	if (n == 0)
		return;
	qsort(sorted, n, sizeof(struct sy_check_place *), by_position);
	fputs("\nlines:\n", out);
	for (uint32_t i = 0; i < n; i++) {
		put_place(check, sorted[i], out);
		for (size_t m = 0; m < sizeof(line_metrics); m++) {
			enum sy_metric metric = (enum sy_metric)line_metrics[m];
			uint32_t place = (uint32_t)(sorted[i] - check->places);

			if (is_steady(check, metric))
				put_limit(check, "    ", metric,
				          with_slack(check, sy_check_measure_place(check, place, metric), slack), out);
		}
	}
}

/* ---- what is taken over -------------------------------------------------------------------------- */

static bool has_limits(const struct sy_budget_entry *entry)
{
	for (int m = 0; m < SY_N_METRICS; m++)
		if (entry->limits[m].is_set)
			return true;
	return false;
}

static void put_limits(struct sy_check *check, const struct sy_budget_entry *entry, FILE *out)
{
	for (int m = 0; m < SY_N_METRICS; m++)
		if (entry->limits[m].is_set)
			put_limit(check, "    ", (enum sy_metric)m, entry->limits[m].allowed, out);
}

static void put_accepted(const struct sy_budget_entry *entry, FILE *out)
{
	fputs("  - at: ", out);
	put_text(entry->name, out);
	if (entry->function) {
		fputs("\n    function: ", out);
		put_text(entry->function, out);
	}
	if (entry->class >= 0)
		fprintf(out, "\n    class: %s", sy_act_class_name((enum sy_act_class)entry->class));
	if (entry->code) {
		fputs("\n    code: ", out);
		put_text(entry->code, out);
	}
	fputs("\n    reason: ", out);
	put_text(entry->reason, out);
	fputc('\n', out);
}

static void put_section(struct sy_check *check, enum sy_scope scope, FILE *out)
{
	bool is_begun = false;

	for (size_t i = 0; i < check->budget->n; i++) {
		const struct sy_budget_entry *entry = &check->budget->entries[i];

		if (entry->scope != scope || (scope != SY_SCOPE_ACCEPT && !has_limits(entry)))
			continue;
		if (!is_begun)
			fprintf(out, "\n%s:\n", sy_scope_key(scope));
		is_begun = true;
		if (scope == SY_SCOPE_ACCEPT) {
			put_accepted(entry, out);
			continue;
		}
		fputs("  ", out);
		put_text(entry->name, out);
		fputs(":\n", out);
		put_limits(check, entry, out);
	}
}

int sy_budget_write(struct sy_check *check, double slack, FILE *out)
{
	fprintf(out,
	        "# What this program may do in one step; written by `synctally check --write` from %llu steps.\n"
	        "# docs/synctally-check.1.md tells what each word means.\n"
	        "version: %d\nstatistic: %s\n",
	        (unsigned long long)check->profile->n_samples, SY_BUDGET_VERSION, sy_statistic_name(check->statistic));
	put_sums(check, slack, out);
	put_lines(check, slack, out);
	put_section(check, SY_SCOPE_THREAD, out);
	put_section(check, SY_SCOPE_RANK, out);
	put_section(check, SY_SCOPE_ACCEPT, out);
	return ferror(out) ? -1 : 0;
}

/* ---- the file --------------------------------------------------------------------------------------- */

static int open_temporary(char *path, const char *replaced)
{
	int fd = mkostemp(path, O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && stat(replaced, &status) == 0)
		(void)fchmod(fd, status.st_mode & 07777);
	return fd;
}

int sy_budget_write_file(struct sy_check *check, double slack, const char *path, bool may_replace, struct sy_err *err)
{
	char *temporary = sy_mem_printf(&check->arena, "%s.XXXXXX", path);
	const char *target = may_replace ? temporary : path;
	int fd = may_replace ? open_temporary(temporary, path)
	                     : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int result = out ? sy_budget_write(check, slack, out) : -1;

	if (!out && errno == EEXIST)
		return sy_err_set(err, "the budget exists already, --force replaces it: path=%s", path);
	if (!out)
		return sy_err_set(err, "cannot write the budget: path=%s: %s", path, strerror(errno));
	if (fclose(out) != 0)
		result = -1;
	if (result == 0 && may_replace)
		result = rename(temporary, path);
	if (result == 0)
		return 0;
	sy_err_set(err, "cannot write the budget: path=%s: %s", path, strerror(errno));
	(void)unlink(target);
	return -1;
}
