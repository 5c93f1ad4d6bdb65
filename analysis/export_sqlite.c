/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_sqlite.c - a database of the acts, with views for the usual questions
 *
 * The tables are in export_schema.def, the views in export_views.def; both are described in
 * docs/synctally-export.1.md. Sites and functions stand once, in tables of their own.
 */
#include "analysis/export.h"

#include "analysis/mem.h"
#include "trace/event.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENT(id, sql) STATEMENT_##id,
enum statement {
#include "analysis/export_sqlite.def"
	N_STATEMENTS
};
#undef STATEMENT

#define STATEMENT(id, sql) sql,
static const char *const statement_text[] = {
#include "analysis/export_sqlite.def"
};
#undef STATEMENT

static const char schema_text[] =
#define SCHEMA(sql) sql "\n"
#include "analysis/export_schema.def"
#undef SCHEMA
	;

static const char views_text[] =
#define VIEW(sql) sql "\n"
#include "analysis/export_views.def"
#undef VIEW
	;

struct database {
	sqlite3 *db;
	sqlite3_stmt *statement[N_STATEMENTS];
	struct sy_index sites; /* row number - 1 in `site` */
	struct sy_bytes key;
	struct sy_bytes stack;
	sqlite3_int64 thread; /* row of the thread being told */
};

static int failed(struct database *database, struct sy_err *err)
{
	return sy_err_set(err, "cannot write the database: %s", sqlite3_errmsg(database->db));
}

static int begin(void **self, const struct sy_export *job, struct sy_err *err)
{
	struct database *database = calloc(1, sizeof(*database));

	*self = database;
	if (!database)
		return sy_err_set(err, "out of memory");
	/* The journal would only protect a file that is thrown away when anything fails. */
	if (sqlite3_open_v2(job->output, &database->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ||
	    sqlite3_exec(database->db, "pragma journal_mode=off; pragma synchronous=off; begin;", NULL, NULL, NULL) ||
	    sqlite3_exec(database->db, schema_text, NULL, NULL, NULL))
		return failed(database, err);
	for (int i = 0; i < N_STATEMENTS; i++)
		if (sqlite3_prepare_v3(database->db, statement_text[i], -1, SQLITE_PREPARE_PERSISTENT,
		                       &database->statement[i], NULL))
			return failed(database, err);
	return 0;
}

/* ---- binding: the columns of a statement one after the other ------------------------- */

struct row {
	struct database *database;
	sqlite3_stmt *statement;
	int column;
};

static struct row row_of(struct database *database, enum statement statement)
{
	return (struct row){ database, database->statement[statement], 0 };
}

static void put_number(struct row *row, uint64_t value)
{
	sqlite3_bind_int64(row->statement, ++row->column, value > INT64_MAX ? INT64_MAX : (sqlite3_int64)value);
}

static void put_signed(struct row *row, int64_t value)
{
	sqlite3_bind_int64(row->statement, ++row->column, value);
}

static void put_null(struct row *row)
{
	sqlite3_bind_null(row->statement, ++row->column);
}

/* The text must live until the row is added. */
static void put_text(struct row *row, const char *text)
{
	sqlite3_bind_text(row->statement, ++row->column, text, -1, SQLITE_STATIC);
}

static int add_row(struct row *row, struct sy_err *err)
{
	int status = sqlite3_step(row->statement);

	sqlite3_reset(row->statement);
	return status == SQLITE_DONE ? 0 : failed(row->database, err);
}

/* ---- rows ------------------------------------------------------------------------------ */

static int add_step(struct database *database, const struct sy_export_process *process, uint32_t step,
                    struct sy_err *err)
{
	struct row row = row_of(database, STATEMENT_STEP);
	uint64_t value;

	put_number(&row, process->number);
	put_number(&row, step);
	put_number(&row, sy_steps_is_counted(process->steps, step));
	process->steps->ends[step].is_known ? put_number(&row, process->steps->ends[step].at_ns) : put_null(&row);
	sy_steps_duration(process->steps, step, &value) ? put_number(&row, value) : put_null(&row);
	sy_steps_launches(process->steps, step, &value) ? put_number(&row, value) : put_null(&row);
	return add_row(&row, err);
}

static int process(void *self, const struct sy_export_process *process, struct sy_err *err)
{
	struct database *database = self;
	const struct sy_file_header *header = &process->trace->header;
	struct row row = row_of(database, STATEMENT_PROCESS);
	int result;

	put_number(&row, process->number);
	put_text(&row, process->trace->path);
	put_text(&row, header->host);
	put_number(&row, header->pid);
	header->rank >= 0 ? put_signed(&row, header->rank) : put_null(&row);
	put_number(&row, process->started_ns);
	put_number(&row, header->discarded_events);
	put_text(&row, process->steps->n ? sy_step_source_name(process->steps->source) : "none");
	result = add_row(&row, err);
	for (uint32_t i = 0; i < process->steps->n && result == 0; i++)
		result = add_step(database, process, i, err);
	return result;
}

static int thread(void *self, const struct sy_export_process *process, const struct sy_trace_thread *thread,
                  const char *name, struct sy_err *err)
{
	struct database *database = self;
	struct row row = row_of(database, STATEMENT_THREAD);
	int result;

	put_number(&row, process->number);
	put_number(&row, thread->tid);
	put_text(&row, name);
	result = add_row(&row, err);
	database->thread = sqlite3_last_insert_rowid(database->db);
	return result;
}

/* The row of a line and its stack, added if it is new. */
static int find_site(struct database *database, const struct sy_export_act *act, uint32_t *site, struct sy_err *err)
{
	struct row row = row_of(database, STATEMENT_SITE);
	uint32_t known = database->sites.n;

	sy_export_stack(act, &database->stack);
	database->key.used = 0;
	sy_bytes_put(&database->key, &act->site.line, sizeof(act->site.line));
	sy_bytes_put_text(&database->key, act->site.file);
	sy_bytes_put(&database->key, database->stack.data, database->stack.used);
	if (database->key.has_failed || database->stack.has_failed)
		return sy_err_set(err, "out of memory");
	*site = sy_index_add(&database->sites, database->key.data, database->key.used) + 1;
	if (*site <= known)
		return 0;
	put_number(&row, *site);
	put_text(&row, act->site.file);
	put_number(&row, act->site.line);
	put_text(&row, act->site.function);
	put_text(&row, (const char *)database->stack.data);
	return add_row(&row, err);
}

static int act(void *self, const struct sy_export_act *act, struct sy_err *err)
{
	struct database *database = self;
	const struct sy_told *told = act->told;
	const struct sy_event *first = act->act->first;
	struct row row = row_of(database, STATEMENT_ACT);
	uint32_t site = 0;

	if (find_site(database, act, &site, err) != 0)
		return -1;
	put_number(&row, act->process->number);
	put_signed(&row, database->thread);
	act->has_step ? put_number(&row, told->step) : put_null(&row);
	put_number(&row, act->is_counted);
	put_number(&row, act->at_ns);
	put_number(&row, act->act->blocked_ns);
	put_number(&row, told->verdict.waited_ns);
	put_text(&row, sy_act_class_name(told->verdict.class));
	act->is_sync ? put_text(&row, sy_export_outcome(told)) : put_null(&row);
	put_number(&row, site);
	put_text(&row, act->api);
	put_text(&row, sy_direction_name(act->act->direction));
	put_text(&row, sy_memory_name(act->act->memory));
	put_number(&row, first->bytes);
	put_number(&row, first->device);
	put_number(&row, told->launches_before);
	put_signed(&row, first->status);
	return add_row(&row, err);
}

static int end(void *self, bool is_good, struct sy_err *err)
{
	struct database *database = self;
	int result = 0;

	if (!database)
		return 0;
	for (int i = 0; i < N_STATEMENTS; i++)
		sqlite3_finalize(database->statement[i]);
	/* Indices after the rows: made at once, they are cheaper and packed. */
	if (is_good && (sqlite3_exec(database->db, views_text, NULL, NULL, NULL) ||
	                sqlite3_exec(database->db, "commit", NULL, NULL, NULL)))
		result = failed(database, err);
	sqlite3_close(database->db);
	sy_index_free(&database->sites);
	sy_bytes_free(&database->key);
	sy_bytes_free(&database->stack);
	free(database);
	return result;
}

const struct sy_sink sy_sink_sqlite = {
	.name = "sqlite",
	.opens_itself = true,
	.begin = begin,
	.process = process,
	.thread = thread,
	.act = act,
	.end = end,
};
