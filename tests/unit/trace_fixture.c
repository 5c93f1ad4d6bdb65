/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PID 4242u

static void *must(void *at)
{
	if (!at) {
		perror("trace_fixture");
		abort();
	}
	return at;
}

static uint64_t grow(struct fix *fix, size_t n)
{
	uint64_t at = fix->n_bytes;

	fix->bytes = must(realloc(fix->bytes, fix->n_bytes + n));
	memset(fix->bytes + at, 0, n);
	fix->n_bytes += n;
	return at;
}

struct sy_file_header *fix_header(struct fix *fix)
{
	return (void *)fix->bytes;
}

static uint64_t new_segment(struct fix *fix, unsigned thread, enum sy_segment_kind kind)
{
	struct fix_thread *own = &fix->threads[thread];
	uint64_t at = grow(fix, SY_BLOCK_BYTES);
	struct sy_segment_header *segment = (void *)(fix->bytes + at);

	segment->kind = kind;
	segment->bytes = SY_BLOCK_BYTES;
	segment->thread = thread;
	segment->tid = PID + thread;
	segment->sequence = kind == SY_SEG_EVENTS ? own->n_event_segments++ : own->n_def_segments++;
	snprintf(segment->name, sizeof(segment->name), thread ? "worker%u" : "python", thread);
	fix_header(fix)->end_bytes = fix->n_bytes;
	if (!own->is_used)
		fix_header(fix)->n_threads++;
	own->is_used = true;
	return at;
}

struct sy_segment_header *fix_segment(struct fix *fix, unsigned thread, enum sy_segment_kind kind)
{
	struct fix_thread *own = &fix->threads[thread];
	uint64_t *at = kind == SY_SEG_EVENTS ? &own->events_at : &own->defs_at;

	if (!*at)
		*at = new_segment(fix, thread, kind);
	return (void *)(fix->bytes + *at);
}

/* Appends a record to a segment; a thread's continues in a new one when full. */
static void define(struct fix *fix, unsigned thread, enum sy_def_kind kind, uint32_t id, const void *payload, size_t n)
{
	bool is_process = thread == SY_PROCESS_THREAD;
	size_t bytes = (sizeof(struct sy_def_header) + n + 7) / 8 * 8;
	struct sy_segment_header *segment =
		is_process ? (void *)(fix->bytes + SY_PROCESS_DEFS_OFFSET) : fix_segment(fix, thread, SY_SEG_DEFS);
	struct sy_def_header *def;

	if (segment->bytes - sizeof(*segment) - segment->used < bytes) {
		if (is_process)
			abort();
		fix->threads[thread].defs_at = 0;
		segment = fix_segment(fix, thread, SY_SEG_DEFS);
	}
	def = (void *)((char *)(segment + 1) + segment->used);
	def->kind = (uint16_t)kind;
	def->bytes = (uint32_t)bytes;
	def->pad = (uint16_t)(bytes - sizeof(*def) - n);
	def->id = id;
	memcpy(def + 1, payload, n);
	segment->used += (uint32_t)bytes;
}

static void define_class(struct fix *fix, uint32_t id, const char *name, const char *label)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%s%c%s", name, 0, label);

	define(fix, SY_PROCESS_THREAD, SY_DEF_CLASS, id, text, (size_t)n);
}

static void define_api(struct fix *fix, uint32_t id, uint32_t class, uint8_t layer, const char *name)
{
	char payload[64] = { 0 };

	memcpy(payload, &class, sizeof(class));
	payload[4] = (char)layer;
	memcpy(payload + 8, name, strlen(name));
	define(fix, SY_PROCESS_THREAD, SY_DEF_API, id, payload, 8 + strlen(name));
}

static void define_stream(struct fix *fix, uint32_t id, uint64_t handle, uint32_t flags)
{
	char payload[16] = { 0 };

	memcpy(payload, &handle, sizeof(handle));
	memcpy(payload + 12, &flags, sizeof(flags));
	define(fix, SY_PROCESS_THREAD, SY_DEF_STREAM, id, payload, sizeof(payload));
}

static void define_functions(struct fix *fix)
{
	static const char *const classes[][2] = {
		{ "WAIT_STREAM", "explicit" }, { "WAIT_DEVICE", "explicit" }, { "WAIT_EVENT", "explicit" },
		{ "COPY_SYNC", "copy" },       { "COPY_ASYNC", "copy" },      { "SET_SYNC", "set" },
		{ "SET_ASYNC", "set" },        { "FREE_DEVICE", "implicit" }, { "FREE_PINNED", "implicit" },
	};
	static const char *const names[FIX_N_API] = {
		NULL,
		"cudaStreamSynchronize",
		"cudaDeviceSynchronize",
		"cudaEventSynchronize",
		"cudaMemcpy",
		"cudaMemcpyAsync",
		"cudaMemset",
		"cudaMemsetAsync",
		"cudaFree",
		"cudaFreeHost",
		"cuStreamSynchronize",
	};
	static const uint32_t class_of[FIX_N_API] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1 };

	for (uint32_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		define_class(fix, i + 1, classes[i][0], classes[i][1]);
	for (uint32_t i = 1; i < FIX_N_API; i++)
		define_api(fix, i, class_of[i], i == FIX_DRV_STREAM_SYNC, names[i]);
}

void fix_begin(struct fix *fix, enum sy_clock_kind clock)
{
	struct sy_file_header *header;
	struct sy_segment_header *defs;

	memset(fix, 0, sizeof(*fix));
	grow(fix, SY_HEADER_BYTES);
	header = fix_header(fix);
	header->magic = SY_FORMAT_MAGIC;
	header->major = SY_FORMAT_MAJOR;
	header->header_bytes = sizeof(*header);
	header->pid = PID;
	header->clock_kind = clock;
	header->start = (struct sy_clock_pair){ 1000, 5000, 1700000000000000000u };
	header->rank = header->local_rank = header->world_size = -1;
	header->end_bytes = SY_HEADER_BYTES;
	strcpy(header->host, "testhost");
	strcpy(header->writer, "fixture 1");
	defs = (void *)(fix->bytes + SY_PROCESS_DEFS_OFFSET);
	defs->kind = SY_SEG_DEFS;
	defs->bytes = SY_HEADER_BYTES - SY_PROCESS_DEFS_OFFSET;
	defs->thread = SY_PROCESS_THREAD;
	fix->now = header->start.ticks;
	define_functions(fix);
	define_stream(fix, 1, 0, SY_STREAM_LEGACY);
	define_stream(fix, 2, 0x5500aa00, 0);
	fix_meta(fix, "argv.0", "python");
	fix_meta(fix, "argv.1", "train.py");
}

void fix_meta(struct fix *fix, const char *key, const char *value)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%c%s", key, 0, value);

	define(fix, SY_PROCESS_THREAD, SY_DEF_META, 1, text, (size_t)n);
}

static uint32_t define_string(struct fix *fix, unsigned thread, const char *text, size_t n)
{
	uint32_t id = ++fix->threads[thread].next_id[SY_DEF_STRING];

	define(fix, thread, SY_DEF_STRING, id, text, n);
	return id;
}

static uint32_t define_frame(struct fix *fix, unsigned thread, const char *frame)
{
	const char *colon = must(strrchr(frame, ':'));
	const char *space = must(strchr(colon, ' '));
	uint32_t id = ++fix->threads[thread].next_id[SY_DEF_FRAME];
	uint32_t payload[4];

	payload[0] = define_string(fix, thread, frame, (size_t)(colon - frame));
	payload[1] = define_string(fix, thread, space + 1, strlen(space + 1));
	payload[2] = (uint32_t)strtoul(colon + 1, NULL, 10);
	payload[3] = 1;
	define(fix, thread, SY_DEF_FRAME, id, payload, sizeof(payload));
	return id;
}

uint32_t fix_stack(struct fix *fix, unsigned thread, const char *const *frames, unsigned n)
{
	uint32_t ids[64];
	uint32_t id = ++fix->threads[thread].next_id[SY_DEF_STACK];

	for (unsigned i = 0; i < n && i < 64; i++)
		ids[i] = define_frame(fix, thread, frames[i]);
	define(fix, thread, SY_DEF_STACK, id, ids, n * sizeof(ids[0]));
	return id;
}

uint32_t fix_native(struct fix *fix, unsigned thread, const char *module, uint64_t offset)
{
	char payload[256] = { 0 };
	uint32_t module_id = ++fix->threads[thread].next_id[SY_DEF_MODULE];
	uint32_t id = ++fix->threads[thread].next_id[SY_DEF_NATIVE];

	memcpy(payload + 8, module, strlen(module));
	define(fix, thread, SY_DEF_MODULE, module_id, payload, 8 + strlen(module));
	memset(payload, 0, sizeof(payload));
	memcpy(payload, &module_id, sizeof(module_id));
	memcpy(payload + 8, &offset, sizeof(offset));
	define(fix, thread, SY_DEF_NATIVE, id, payload, 16);
	return id;
}

static struct sy_event *new_event(struct fix *fix, unsigned thread, enum sy_event_kind kind)
{
	struct sy_segment_header *segment = fix_segment(fix, thread, SY_SEG_EVENTS);
	struct sy_event *event;

	if (segment->used == (segment->bytes - sizeof(*segment)) / sizeof(*event)) {
		fix->threads[thread].events_at = 0;
		segment = fix_segment(fix, thread, SY_SEG_EVENTS);
	}
	event = (struct sy_event *)(segment + 1) + segment->used++;
	event->kind = (uint8_t)kind;
	event->direction = 4;
	event->sequence = ++fix->threads[thread].sequence;
	event->enter_ticks = fix->now;
	event->launches = fix->launches;
	event->step = fix->steps;
	segment->last_ticks = fix->now;
	segment->last_monotonic_ns =
		fix_header(fix)->start.monotonic_ns + (fix->now - fix_header(fix)->start.ticks) / 2;
	return event;
}

struct sy_event *fix_call(struct fix *fix, struct fix_call call)
{
	struct sy_event *event;

	fix->now += call.gap;
	event = new_event(fix, call.thread, SY_EVENT_CALL);
	event->api = (uint16_t)call.api;
	event->bytes = call.bytes;
	event->stream = call.stream;
	event->stack = call.stack;
	event->native = call.native;
	event->memory = (uint8_t)(call.source | call.destination << 4);
	if (call.source || call.destination)
		event->direction = (uint8_t)call.direction;
	if (call.is_pending)
		event->flags |= SY_EVENT_PENDING;
	if (call.is_capturing)
		event->flags |= SY_EVENT_CAPTURING;
	if (call.is_in_flight)
		return event;
	event->flags |= SY_EVENT_COMPLETE;
	event->status = call.status;
	event->duration_ticks = call.duration;
	fix->now += call.duration;
	return event;
}

void fix_launch(struct fix *fix, unsigned n)
{
	fix->launches += n;
}

void fix_step(struct fix *fix, unsigned thread, enum sy_step_source source, uint32_t stepper)
{
	struct sy_event *event = new_event(fix, thread, SY_EVENT_STEP);

	event->bytes = fix->launches;
	event->status = (int32_t)source;
	event->native = stepper;
	event->flags = SY_EVENT_COMPLETE;
	fix->steps++;
}

void fix_skip(struct fix *fix, unsigned thread, unsigned n)
{
	fix->threads[thread].sequence += n;
}

void fix_handover(struct fix *fix, unsigned thread, uint32_t index, uint32_t tid, const char *name)
{
	struct sy_handover *handover = (struct sy_handover *)new_event(fix, thread, SY_EVENT_THREAD);

	*handover = (struct sy_handover){ .enter_ticks = fix->now,
		                          .kind = SY_EVENT_THREAD,
		                          .thread = index,
		                          .tid = tid,
		                          .flags = SY_EVENT_COMPLETE };
	memcpy(handover->name, name, strlen(name));
	fix_segment(fix, thread, SY_SEG_EVENTS)->handovers++;
	fix->threads[thread].sequence = 0;
}

void fix_write(const struct fix *fix, const char *path, size_t n_bytes)
{
	FILE *file = must(fopen(path, "wb"));

	if (fwrite(fix->bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
		must(NULL);
}

char *fix_write_temporary(const struct fix *fix)
{
	const char *directory = getenv("TMPDIR");
	char *path = must(malloc(4096));
	int fd;

	snprintf(path, 4096, "%s/synctally-fixture-XXXXXX", directory ? directory : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		must(NULL);
	close(fd);
	fix_write(fix, path, fix->n_bytes);
	return path;
}

void fix_end(struct fix *fix)
{
	free(fix->bytes);
	memset(fix, 0, sizeof(*fix));
}
