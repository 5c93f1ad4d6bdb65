/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_build.c - tables, rows and cells of a report, whoever writes it
 */
#include "analysis/mem.h"
#include "analysis/report_internal.h"

struct sy_table *sy_report_add_table(struct sy_report *report, const char *title, const struct sy_column *columns,
                                     unsigned n_columns)
{
	struct sy_table *table = &report->tables[report->n_tables++];

	table->title = title;
	table->columns = columns;
	table->n_columns = n_columns;
	return table;
}

struct sy_cell *sy_report_add_row(struct sy_table *table)
{
	size_t row_bytes = table->n_columns * sizeof(*table->cells);

	table->cells = sy_mem_grow(table->cells, &table->rows_capacity, table->n_rows, row_bytes);
	return table->cells + table->n_columns * table->n_rows++;
}

struct sy_cell sy_cell_text(const char *value)
{
	return (struct sy_cell){ SY_CELL_TEXT, value, 0 };
}

struct sy_cell sy_cell_count(double value)
{
	return (struct sy_cell){ SY_CELL_COUNT, NULL, value };
}

struct sy_cell sy_cell_ns(double value)
{
	return (struct sy_cell){ SY_CELL_NS, NULL, value };
}
