/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/step_counts.h"

#include "analysis/mem.h"
#include "trace/event.h"

#include <stdlib.h>
#include <string.h>

static uint32_t thread_number(struct sy_step_counts *counts, const char *name)
{
	uint32_t number = sy_index_add(&counts->threads, name, strlen(name));

	counts->thread_names =
		sy_mem_grow(counts->thread_names, &counts->threads_capacity, number, sizeof(*counts->thread_names));
	counts->thread_names[number] = name;
	return number;
}

/*
 * Threads come one after the other, each in the order of its steps, so the
 * last cell of the row is the one to add to, if there is any.
 */
static void on_counted(void *context, const struct sy_counted *counted)
{
	struct sy_step_counts *counts = context;
	struct sy_step_cell *cell;
	uint32_t thread, last;

	if (counts->only_thread && strcmp(counts->only_thread, counted->thread) != 0)
		return;
	thread = thread_number(counts, counted->thread);
	counts->last_of_row =
		sy_mem_grow(counts->last_of_row, &counts->rows_capacity, counted->row, sizeof(*counts->last_of_row));
	last = sy_step_counts_of(counts, counted->row);
	cell = last == SY_NO_CELL ? NULL : &counts->cells[last];
	if (!cell || cell->process != counted->process || cell->step != counted->step || cell->thread != thread) {
		counts->cells =
			sy_mem_grow(counts->cells, &counts->cells_capacity, counts->n_cells, sizeof(*counts->cells));
		cell = &counts->cells[counts->n_cells++];
		*cell = (struct sy_step_cell){
			.process = (uint32_t)counted->process, .step = counted->step, .thread = thread, .previous = last
		};
		counts->last_of_row[counted->row] = (uint32_t)counts->n_cells;
	}
	cell->n[counted->outcome]++;
	cell->blocked_ns += counted->blocked_ns;
	cell->waited_ns += counted->waited_ns;
}

void sy_step_counts_attach(struct sy_step_counts *counts, struct sy_profile *profile, const char *only_thread)
{
	memset(counts, 0, sizeof(*counts));
	counts->only_thread = only_thread;
	profile->on_counted = on_counted;
	profile->on_counted_context = counts;
}

void sy_step_counts_free(struct sy_step_counts *counts)
{
	free(counts->cells);
	free(counts->last_of_row);
	free(counts->thread_names);
	sy_index_free(&counts->threads);
	memset(counts, 0, sizeof(*counts));
}

uint32_t sy_step_counts_of(const struct sy_step_counts *counts, uint32_t row)
{
	return row < counts->rows_capacity ? counts->last_of_row[row] - 1 : SY_NO_CELL;
}

bool sy_metric_is_of_lines(enum sy_metric metric)
{
	return metric != SY_METRIC_COPIES && metric != SY_METRIC_LAUNCHES && metric != SY_METRIC_BACKPRESSURE &&
	       metric != SY_METRIC_BACKPRESSURE_NS && metric != SY_METRIC_STEP_NS;
}

uint64_t sy_step_cell_value(const struct sy_step_cell *cell, const struct sy_row *row, enum sy_metric metric)
{
	uint64_t n = (uint64_t)cell->n[0] + cell->n[1] + cell->n[2];

	if (row->class == SY_ACT_STAGING)
		return metric == SY_METRIC_STAGING ? n : 0;
	switch (metric) {
	case SY_METRIC_SYNCS:
		return n;
	case SY_METRIC_DRAINS:
		return cell->n[SY_OUTCOME_DRAIN];
	case SY_METRIC_EMPTY:
		return cell->n[SY_OUTCOME_EMPTY];
	case SY_METRIC_DONE_ALREADY:
		return cell->n[SY_OUTCOME_DONE_ALREADY];
	case SY_METRIC_READBACKS:
		return row->class == SY_ACT_READBACK ? n : 0;
	case SY_METRIC_UPLOADS:
		return row->class == SY_ACT_UPLOAD ? n : 0;
	case SY_METRIC_PAGEABLE_UPLOADS:
		return row->class == SY_ACT_UPLOAD && row->memory == SY_MEMORY_PAGEABLE ? n : 0;
	case SY_METRIC_EXPLICIT:
		return row->class == SY_ACT_EXPLICIT ? n : 0;
	case SY_METRIC_IMPLICIT:
		return row->class == SY_ACT_IMPLICIT ? n : 0;
	case SY_METRIC_BLOCKED_NS:
		return cell->blocked_ns;
	case SY_METRIC_WAITED_NS:
		return cell->waited_ns;
	default:
		return 0;
	}
}
