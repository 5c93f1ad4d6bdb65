/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/budget.h"

#include "analysis/mem.h"
#include "analysis/step_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const statistics[SY_N_STATISTICS] = { "max", "median", "mean" };

const char *sy_statistic_name(enum sy_statistic statistic)
{
	return statistics[statistic];
}

int sy_statistic_find(const char *name)
{
	for (int i = 0; i < SY_N_STATISTICS; i++)
		if (strcmp(statistics[i], name) == 0)
			return i;
	return -1;
}

const char *sy_scope_key(enum sy_scope scope)
{
	static const char *const keys[SY_N_SCOPES] = {
		"per_step", "other_lines", "lines", "threads", "ranks", "accept"
	};

	return keys[scope];
}

const char *sy_budget_metric_key(struct sy_arena *arena, enum sy_metric metric)
{
	char *key = sy_mem_copy(arena, sy_metric_desc[metric].key);

	if (sy_metric_desc[metric].unit == SY_UNIT_NS)
		key[strlen(key) - strlen("_ns")] = '\0';
	return key;
}

bool sy_budget_may_limit(enum sy_scope scope, enum sy_metric metric)
{
	if (scope == SY_SCOPE_ACCEPT)
		return false;
	return scope == SY_SCOPE_STEP || scope == SY_SCOPE_RANK || sy_metric_is_of_lines(metric);
}

int sy_budget_read_file(struct sy_budget *budget, const char *path, struct sy_err *err)
{
	FILE *file = fopen(path, "re");
	struct sy_arena arena = { NULL };
	int result = -1;
	size_t bytes;
	char *text;

	memset(budget, 0, sizeof(*budget));
	if (!file)
		return sy_err_set(err, "cannot read the budget: path=%s: %s", path, strerror(errno));
	text = sy_mem_alloc(&arena, SY_BUDGET_MAX_BYTES + 1);
	bytes = fread(text, 1, SY_BUDGET_MAX_BYTES + 1, file);
	if (ferror(file))
		sy_err_set(err, "cannot read the budget: path=%s: %s", path, strerror(errno));
	else if (bytes > SY_BUDGET_MAX_BYTES)
		sy_err_set(err, "the budget is longer than %u bytes: path=%s", SY_BUDGET_MAX_BYTES, path);
	else
		result = sy_budget_read(budget, text, bytes, path, err);
	fclose(file);
	sy_arena_free(&arena);
	return result;
}

void sy_budget_free(struct sy_budget *budget)
{
	free(budget->entries);
	sy_arena_free(&budget->arena);
	memset(budget, 0, sizeof(*budget));
}
