/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_avro.c - Avro files in a folder, one for each process and slice of time
 *
 * So that a fleet's engine reads them where they lie (docs/FLEET.md). The
 * schema may grow by members with defaults, so that old and new files are read
 * together.
 */
#include "analysis/export.h"

#include "analysis/mem.h"
#include "trace/event.h"

#include <avro.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first member, so that the others can begin with a comma. */
#define VERSION 1

enum field {
	FIELD_VERSION,
#define FIELD(id, json) FIELD_##id,
#include "analysis/export_avro.def"
#undef FIELD
};

static const char schema_text[] =
	"{\"type\":\"record\",\"name\":\"act\",\"namespace\":\"synctally\",\"fields\":["
	"{\"name\":\"version\",\"type\":\"int\"}"
#define FIELD(id, json) "," json
#include "analysis/export_avro.def"
#undef FIELD
	"]}";

struct avro {
	const struct sy_export *job;
	avro_schema_t schema;
	avro_value_iface_t *class;
	avro_value_t value;
	avro_file_writer_t writer; /* NULL: no file is open */
	char *path;
	uint64_t slice; /* of the open file */
	struct sy_bytes stack;
};

static int failed(const struct avro *avro, struct sy_err *err)
{
	return sy_err_set(err, "cannot write: path=%s: %s", avro->path ? avro->path : avro->job->output,
	                  avro_strerror());
}

static int begin(void **self, const struct sy_export *job, struct sy_err *err)
{
	struct avro *avro = calloc(1, sizeof(*avro));

	*self = avro;
	if (!avro)
		return sy_err_set(err, "out of memory");
	avro->job = job;
	if (mkdir(job->output, 0777) != 0 && errno != EEXIST)
		return sy_err_set(err, "cannot make the folder: path=%s: %s", job->output, strerror(errno));
	if (avro_schema_from_json_literal(schema_text, &avro->schema) != 0)
		return failed(avro, err);
	avro->class = avro_generic_class_from_schema(avro->schema);
	return avro->class && avro_generic_value_new(avro->class, &avro->value) == 0 ? 0 : failed(avro, err);
}

static int close_file(struct avro *avro, struct sy_err *err)
{
	avro_file_writer_t writer = avro->writer;

	avro->writer = NULL;
	return !writer || avro_file_writer_close(writer) == 0 ? 0 : failed(avro, err);
}

/* "folder/acts.<host>.<pid>.r3.s0.avro"; a host's name is no path. */
static int open_file(struct avro *avro, const struct sy_export_process *process, uint64_t slice, struct sy_err *err)
{
	const struct sy_file_header *header = &process->trace->header;
	char host[sizeof(header->host)], rank[24] = "";

	for (size_t i = 0; i < sizeof(host); i++)
		host[i] = header->host[i] == '/' ? '_' : header->host[i];
	host[sizeof(host) - 1] = 0;
	if (header->rank >= 0)
		snprintf(rank, sizeof(rank), ".rank%d", header->rank);
	free(avro->path);
	if (asprintf(&avro->path, "%s/acts.%s.%u%s.%llu.avro", avro->job->output, host, header->pid, rank,
	             (unsigned long long)slice) < 0) {
		avro->path = NULL;
		return sy_err_set(err, "out of memory");
	}
	if (access(avro->path, F_OK) == 0)
		return sy_err_set(err, "there is a file of that name: path=%s: name another folder", avro->path);
	avro->slice = slice;
	if (avro_file_writer_create_with_codec(avro->path, avro->schema, &avro->writer, "deflate", 1 << 18) == 0)
		return 0;
	avro->writer = NULL;
	return failed(avro, err);
}

/* ---- one act ------------------------------------------------------------------------------ */

static avro_value_t field(struct avro *avro, enum field index)
{
	avro_value_t value = { NULL, NULL };

	avro_value_get_by_index(&avro->value, (size_t)index, &value, NULL);
	return value;
}

static void set_long(struct avro *avro, enum field index, uint64_t number)
{
	avro_value_t value = field(avro, index);

	avro_value_set_long(&value, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static void set_int(struct avro *avro, enum field index, int32_t number)
{
	avro_value_t value = field(avro, index);

	avro_value_set_int(&value, number);
}

static void set_text(struct avro *avro, enum field index, const char *text)
{
	avro_value_t value = field(avro, index);

	avro_value_set_string(&value, text);
}

/* A union of null and int. */
static void set_maybe(struct avro *avro, enum field index, bool is_known, int32_t number)
{
	avro_value_t value = field(avro, index), branch;

	avro_value_set_branch(&value, is_known, &branch);
	if (is_known)
		avro_value_set_int(&branch, number);
	else
		avro_value_set_null(&branch);
}

static void set_flag(struct avro *avro, enum field index, bool flag)
{
	avro_value_t value = field(avro, index);

	avro_value_set_boolean(&value, flag);
}

static void fill(struct avro *avro, const struct sy_export_act *act)
{
	const struct sy_file_header *header = &act->process->trace->header;
	const struct sy_event *first = act->act->first;
	const struct sy_told *told = act->told;

	set_int(avro, FIELD_VERSION, VERSION);
	set_int(avro, FIELD_STATUS, first->status);
	set_text(avro, FIELD_HOST, header->host);
	set_long(avro, FIELD_PID, header->pid);
	set_maybe(avro, FIELD_RANK, header->rank >= 0, header->rank);
	set_text(avro, FIELD_THREAD, act->thread_name);
	set_maybe(avro, FIELD_STEP, act->has_step, (int32_t)told->step);
	set_flag(avro, FIELD_COUNTED, act->is_counted);
	set_long(avro, FIELD_UNIX_NS, act->process->started_ns + act->at_ns);
	set_long(avro, FIELD_BLOCKED_NS, act->act->blocked_ns);
	set_long(avro, FIELD_WAITED_NS, told->verdict.waited_ns);
	set_text(avro, FIELD_CLASS, sy_act_class_name(told->verdict.class));
	set_text(avro, FIELD_OUTCOME, sy_export_outcome(told));
	set_flag(avro, FIELD_SYNC, act->is_sync);
	set_text(avro, FIELD_FILE, act->site.file);
	set_long(avro, FIELD_LINE, act->site.line);
	set_text(avro, FIELD_FUNCTION, act->site.function);
	set_text(avro, FIELD_STACK, (const char *)avro->stack.data);
	set_text(avro, FIELD_API, act->api);
	set_text(avro, FIELD_DIRECTION, sy_direction_name(act->act->direction));
	set_text(avro, FIELD_MEMORY, sy_memory_name(act->act->memory));
	set_long(avro, FIELD_BYTES, first->bytes);
	set_long(avro, FIELD_DEVICE, first->device);
	set_long(avro, FIELD_LAUNCHES_BEFORE, told->launches_before);
}

static int process(void *self, const struct sy_export_process *process, struct sy_err *err)
{
	struct avro *avro = self;

	return close_file(avro, err) == 0 ? open_file(avro, process, 0, err) : -1;
}

static int act(void *self, const struct sy_export_act *act, struct sy_err *err)
{
	struct avro *avro = self;
	uint64_t slice = avro->job->slice_s ? act->at_ns / 1000000000u / avro->job->slice_s : 0;

	if (slice != avro->slice && (close_file(avro, err) != 0 || open_file(avro, act->process, slice, err) != 0))
		return -1;
	sy_export_stack(act, &avro->stack);
	if (avro->stack.has_failed)
		return sy_err_set(err, "out of memory");
	fill(avro, act);
	return avro_file_writer_append_value(avro->writer, &avro->value) == 0 ? 0 : failed(avro, err);
}

static int end(void *self, bool is_good, struct sy_err *err)
{
	struct avro *avro = self;
	struct sy_err ignored;
	int result;

	if (!avro)
		return 0;
	result = close_file(avro, is_good ? err : &ignored);
	if (avro->class) {
		avro_value_decref(&avro->value);
		avro_value_iface_decref(avro->class);
	}
	if (avro->schema)
		avro_schema_decref(avro->schema);
	sy_bytes_free(&avro->stack);
	free(avro->path);
	free(avro);
	return is_good ? result : 0;
}

const struct sy_sink sy_sink_avro = {
	.name = "avro",
	.opens_itself = true,
	.is_folder = true,
	.begin = begin,
	.process = process,
	.act = act,
	.end = end,
};
