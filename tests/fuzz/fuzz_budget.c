/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_budget.c - any bytes as a budget
 *
 * What is read is written and read again: a budget that we wrote ourselves has
 * to be one.
 */
#include "analysis/budget_write.h"
#include "analysis/check_output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line, one step: enough for every kind of entry to mean something. */
struct run {
	struct sy_process process;
	struct sy_process_step step;
	struct sy_row row;
	struct sy_row *sorted;
	struct sy_profile profile;
	struct sy_step_counts counts;
};

static void begin(struct run *run)
{
	static const char *const names[] = { "main" };

	memset(run, 0, sizeof(*run));
	run->row.site = (struct sy_site){ "/w/train.py", "log", 88, 80, false };
	run->row.direction = 2;
	run->row.tally[SY_PART_STEPS].count = 1;
	run->sorted = &run->row;
	run->process.rank = 0;
	run->process.steps.end = 1;
	run->process.step = &run->step;
	run->profile = (struct sy_profile){ .processes = &run->process,
		                            .n_processes = 1,
		                            .rows = &run->row,
		                            .sorted = &run->sorted,
		                            .n_rows = 1,
		                            .n_samples = 1 };
	sy_step_counts_attach(&run->counts, &run->profile, NULL);
	run->profile.on_counted(&run->counts, &(struct sy_counted){ .thread = names[0] });
}

static void check(struct run *run, const struct sy_budget *budget, FILE *out)
{
	struct sy_check result;
	struct sy_check_output output = { .check = &result, .budget_path = "b.yml" };

	sy_check_make(&result, &run->profile, &run->counts, budget, budget->statistic);
	sy_check_text(&output, out);
	sy_check_github(&output, out);
	sy_check_junit(&output, out);
	sy_check_free(&result);
}

static void write_and_read(struct run *run, const struct sy_budget *budget)
{
	struct sy_budget again;
	struct sy_check result;
	struct sy_err err;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		abort();
	sy_check_make(&result, &run->profile, &run->counts, budget, budget->statistic);
	if (sy_budget_write(&result, 0, out) != 0 || fclose(out) != 0)
		abort();
	sy_check_free(&result);
	if (sy_budget_read(&again, text, n, "again.yml", &err) != 0) {
		fprintf(stderr, "%s\n%s\n", err.text, text);
		abort();
	}
	sy_budget_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sy_budget budget;
	struct sy_err err;
	struct run run;

	if (sy_budget_read(&budget, (const char *)data, size, "b.yml", &err) == 0) {
		char *text = NULL;
		size_t n = 0;
		FILE *out = open_memstream(&text, &n);

		if (!out)
			abort();
		begin(&run);
		check(&run, &budget, out);
		write_and_read(&run, &budget);
		sy_step_counts_free(&run.counts);
		fclose(out);
		free(text);
	}
	sy_budget_free(&budget);
	return 0;
}
