/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_counts.h - how often each row of a profile came in each step
 *
 * A profile keeps totals; a limit "in no step more than" needs every step.
 * Memory: 48 bytes per row, thread and step in which it came.
 */
#ifndef SY_ANALYSIS_STEP_COUNTS_H
#define SY_ANALYSIS_STEP_COUNTS_H

#include "analysis/aggregate.h"

struct sy_step_cell {
	uint32_t process, step;
	uint32_t thread;   /* number in threads */
	uint32_t previous; /* cell of the same row, SY_NO_CELL none */
	uint32_t n[SY_N_OUTCOMES];
	uint64_t blocked_ns, waited_ns;
};

#define SY_NO_CELL UINT32_MAX

struct sy_step_counts {
	const char *only_thread; /* NULL: all */
	struct sy_step_cell *cells;
	size_t n_cells, cells_capacity;
	uint32_t *last_of_row; /* the latest cell + 1; 0 none */
	size_t rows_capacity;
	struct sy_index threads; /* names */
	const char **thread_names;
	size_t threads_capacity;
};

/* Hooks into a profile, between its init and its first trace. `only_thread` is borrowed. */
void sy_step_counts_attach(struct sy_step_counts *counts, struct sy_profile *profile, const char *only_thread);
void sy_step_counts_free(struct sy_step_counts *counts);

/* The latest cell of a row, SY_NO_CELL none; go on with `previous`. */
uint32_t sy_step_counts_of(const struct sy_step_counts *counts, uint32_t row);

/* What a cell adds to a metric; 0 for those that are no property of a line. */
uint64_t sy_step_cell_value(const struct sy_step_cell *cell, const struct sy_row *row, enum sy_metric metric);

/* Whether a metric can be told of single lines and threads. */
bool sy_metric_is_of_lines(enum sy_metric metric);

#endif
