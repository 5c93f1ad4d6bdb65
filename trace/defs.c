/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defs.c - the definitions of a trace, by owner, kind and id
 */
#include "trace/reader_internal.h"

#include "trace/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_APIS 65536u
#define UNKNOWN "?"

/* A record found, before it is sorted into its table. */
struct found {
	uint32_t owner; /* lane, or SY_PROCESS_THREAD */
	uint32_t kind;
	size_t order; /* where it stood: the last META with a key holds, the first of anything else */
	struct sy_def_ref ref;
};

struct finds {
	struct found *at;
	size_t n, capacity;
};

static bool belongs_to_process(uint32_t kind)
{
	return kind == SY_DEF_API || kind == SY_DEF_CLASS || kind == SY_DEF_META || kind == SY_DEF_STREAM;
}

/* Whether the payload has at least the fixed part of its kind, and whole elements behind it. */
static bool is_well_formed(uint32_t kind, size_t bytes)
{
	switch (kind) {
	case SY_DEF_API:
		return bytes >= 8;
	case SY_DEF_STREAM:
		return bytes >= 16;
	case SY_DEF_FRAME:
		return bytes >= 16;
	case SY_DEF_STACK:
		return bytes % 4 == 0;
	case SY_DEF_MODULE:
		return bytes >= 8;
	case SY_DEF_NATIVE:
		return bytes % 16 == 0;
	default:
		return true;
	}
}

static struct found *add_find(struct finds *finds)
{
	if (finds->n == finds->capacity) {
		size_t capacity = finds->capacity ? finds->capacity * 2 : 1024;
		struct found *grown = realloc(finds->at, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		finds->at = grown;
		finds->capacity = capacity;
	}
	memset(&finds->at[finds->n], 0, sizeof(*finds->at));
	return &finds->at[finds->n++];
}

static int add_record(struct sy_trace *trace, struct finds *finds, const struct sy_def_run *run,
                      const struct sy_def_header *def)
{
	size_t payload_bytes = def->bytes - sizeof(*def) - def->pad;
	struct found *found;

	if (def->kind >= SY_N_DEF_KINDS) {
		trace->damage.unknown_defs++;
		return 0;
	}
	if (def->id == 0 || !is_well_formed(def->kind, payload_bytes)) {
		trace->damage.unreadable_defs++;
		return 0;
	}
	found = add_find(finds);
	if (!found)
		return -1;
	found->owner = belongs_to_process(def->kind) ? SY_PROCESS_THREAD : run->lane;
	found->kind = def->kind;
	found->order = finds->n;
	found->ref.id = def->id;
	found->ref.payload = def + 1;
	found->ref.payload_bytes = (uint32_t)payload_bytes;
	return 0;
}

/* Records after a damaged one cannot be found: the rest of the run counts as one unreadable definition. */
static int read_run(struct sy_trace *trace, struct finds *finds, const struct sy_def_run *run)
{
	size_t at = 0;

	while (run->bytes - at >= sizeof(struct sy_def_header)) {
		const struct sy_def_header *def = (const void *)(run->at + at);

		if (def->kind == SY_DEF_PADDING)
			return 0;
		if (def->bytes < sizeof(*def) || def->bytes % 8 || def->bytes > run->bytes - at ||
		    def->pad > def->bytes - sizeof(*def)) {
			trace->damage.unreadable_defs++;
			return 0;
		}
		if (add_record(trace, finds, run, def) != 0)
			return -1;
		at += def->bytes;
	}
	trace->damage.unreadable_defs += at < run->bytes;
	return 0;
}

static int by_owner_kind_id(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ref.id != y->ref.id)
		return x->ref.id < y->ref.id ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static const char *clean(struct sy_trace *trace, const void *from, size_t bytes)
{
	char *to = sy_arena_alloc(&trace->arena, bytes + 1);

	if (to)
		sy_text_clean(to, from, bytes);
	return to;
}

/* Copies one table of equal owner and kind; the first of equal ids holds, except for META, where all are kept. */
static int build_table(struct sy_trace *trace, const struct found *found, size_t n, struct sy_defs *defs)
{
	bool is_meta = found->kind == SY_DEF_META;

	defs->refs = sy_arena_alloc(&trace->arena, n * sizeof(*defs->refs));
	if (!defs->refs)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct sy_def_ref *ref = &defs->refs[defs->n];
		size_t fixed = found[i].kind == SY_DEF_MODULE ? sizeof(uint64_t) : 0;

		if (!is_meta && defs->n && ref[-1].id == found[i].ref.id)
			continue;
		*ref = found[i].ref;
		if (found[i].kind == SY_DEF_STRING || found[i].kind == SY_DEF_MODULE) {
			ref->text = clean(trace, (const char *)ref->payload + fixed, ref->payload_bytes - fixed);
			if (!ref->text)
				return -1;
		}
		defs->n++;
	}
	return 0;
}

/* Text, NUL, text: returns the second in *second, "" if there is none. */
static int split(struct sy_trace *trace, const struct sy_def_ref *ref, const char **first, const char **second)
{
	const char *at = ref->payload;
	size_t n = strnlen(at, ref->payload_bytes);

	*first = clean(trace, at, n);
	*second = n < ref->payload_bytes ? clean(trace, at + n + 1, ref->payload_bytes - n - 1) : "";
	return *first && *second ? 0 : -1;
}

static int build_meta(struct sy_trace *trace, const struct sy_defs *defs)
{
	trace->meta = sy_arena_alloc(&trace->arena, defs->n * sizeof(*trace->meta));
	if (!trace->meta)
		return -1;
	for (uint32_t i = 0; i < defs->n; i++)
		if (split(trace, &defs->refs[i], &trace->meta[i].key, &trace->meta[i].value) != 0)
			return -1;
	trace->n_meta = defs->n;
	return 0;
}

static int define_api(struct sy_trace *trace, const struct sy_def_ref *ref, const struct sy_defs *classes)
{
	struct sy_trace_api *api = &trace->apis[ref->id];
	const unsigned char *at = ref->payload;
	uint32_t class;
	long found;

	memcpy(&class, at, sizeof(class));
	api->name = clean(trace, (const char *)at + 8, ref->payload_bytes - 8);
	if (!api->name)
		return -1;
	api->is_driver = at[4] == 1;
	api->is_per_thread = at[5] != 0;
	api->is_defined = true;
	found = sy_defs_find(classes, class);
	return found < 0 ? 0 : split(trace, &classes->refs[found], &api->class_name, &api->class_label);
}

static int build_apis(struct sy_trace *trace, const struct sy_defs *apis, const struct sy_defs *classes)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < apis->n; i++)
		if (apis->refs[i].id < MAX_APIS && apis->refs[i].id >= n)
			n = apis->refs[i].id + 1;
	trace->apis = sy_arena_alloc(&trace->arena, n * sizeof(*trace->apis));
	if (!trace->apis)
		return -1;
	trace->n_apis = n;
	for (uint32_t i = 0; i < n; i++) {
		trace->apis[i].name = UNKNOWN;
		trace->apis[i].class_name = UNKNOWN;
		trace->apis[i].class_label = UNKNOWN;
	}
	for (uint32_t i = 0; i < apis->n; i++)
		if (apis->refs[i].id < n && define_api(trace, &apis->refs[i], classes) != 0)
			return -1;
	return 0;
}

static int build_tables(struct sy_trace *trace, const struct finds *finds)
{
	struct sy_defs process[SY_N_DEF_KINDS] = { 0 };
	size_t end;

	for (size_t i = 0; i < finds->n; i = end) {
		const struct found *first = &finds->at[i];
		struct sy_lane *lane = NULL;
		struct sy_defs *defs;

		for (end = i + 1; end < finds->n; end++)
			if (finds->at[end].owner != first->owner || finds->at[end].kind != first->kind)
				break;
		if (first->owner != SY_PROCESS_THREAD)
			lane = sy_trace_find_lane(trace, first->owner);
		if (first->owner == SY_PROCESS_THREAD)
			defs = &process[first->kind];
		else if (lane)
			defs = &lane->defs[first->kind];
		else
			continue; /* a thread that defined, and then had no event to record */
		if (build_table(trace, first, end - i, defs) != 0)
			return -1;
	}
	trace->streams = process[SY_DEF_STREAM];
	if (build_meta(trace, &process[SY_DEF_META]) != 0)
		return -1;
	return build_apis(trace, &process[SY_DEF_API], &process[SY_DEF_CLASS]);
}

int sy_defs_index(struct sy_trace *trace, const struct sy_def_run *runs, size_t n_runs)
{
	struct finds finds = { 0 };
	int result = 0;

	for (size_t i = 0; i < n_runs && result == 0; i++)
		result = read_run(trace, &finds, &runs[i]);
	if (result == 0 && finds.n)
		qsort(finds.at, finds.n, sizeof(*finds.at), by_owner_kind_id);
	if (result == 0)
		result = build_tables(trace, &finds);
	free(finds.at);
	return result;
}

/* ---- look-ups -------------------------------------------------------------------- */

long sy_defs_find(const struct sy_defs *defs, uint32_t id)
{
	uint32_t low = 0, high = defs->n;

	if (id && id <= defs->n && defs->refs[id - 1].id == id)
		return (long)id - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (defs->refs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < defs->n && defs->refs[low].id == id ? (long)low : -1;
}

const struct sy_trace_api *sy_trace_api(const struct sy_trace *trace, uint16_t api)
{
	/* No definition has id 0, so its entry stands for what is not defined. */
	return &trace->apis[api < trace->n_apis ? api : 0];
}

bool sy_trace_stream(const struct sy_trace *trace, uint32_t id, struct sy_trace_stream *stream)
{
	long at = sy_defs_find(&trace->streams, id);
	const unsigned char *payload;

	if (at < 0)
		return false;
	payload = trace->streams.refs[at].payload;
	memcpy(&stream->handle, payload, 8);
	memcpy(&stream->device, payload + 8, 4);
	memcpy(&stream->flags, payload + 12, 4);
	return true;
}

const char *sy_trace_meta(const struct sy_trace *trace, const char *key)
{
	for (uint32_t i = trace->n_meta; i > 0; i--)
		if (strcmp(trace->meta[i - 1].key, key) == 0)
			return trace->meta[i - 1].value;
	return NULL;
}

static const char *text_of(const struct sy_defs *defs, uint32_t id)
{
	long at = sy_defs_find(defs, id);

	return at < 0 ? UNKNOWN : defs->refs[at].text;
}

uint32_t sy_thread_stack_depth(const struct sy_trace_thread *thread, uint32_t stack)
{
	long at = stack ? sy_defs_find(&thread->defs[SY_DEF_STACK], stack) : -1;

	return at < 0 ? 0 : thread->defs[SY_DEF_STACK].refs[at].payload_bytes / 4;
}

struct sy_trace_frame sy_thread_frame(const struct sy_trace_thread *thread, uint32_t stack, uint32_t depth)
{
	struct sy_trace_frame frame = { UNKNOWN, UNKNOWN, 0, 0 };
	long at = sy_defs_find(&thread->defs[SY_DEF_STACK], stack);
	uint32_t fields[4];
	uint32_t id;

	if (at < 0 || depth >= thread->defs[SY_DEF_STACK].refs[at].payload_bytes / 4)
		return frame;
	memcpy(&id, (const char *)thread->defs[SY_DEF_STACK].refs[at].payload + 4 * (size_t)depth, 4);
	at = sy_defs_find(&thread->defs[SY_DEF_FRAME], id);
	if (at < 0)
		return frame;
	memcpy(fields, thread->defs[SY_DEF_FRAME].refs[at].payload, sizeof(fields));
	frame.file = text_of(&thread->defs[SY_DEF_STRING], fields[0]);
	frame.function = text_of(&thread->defs[SY_DEF_STRING], fields[1]);
	frame.line = fields[2];
	frame.first_line = fields[3];
	return frame;
}

uint32_t sy_thread_native_depth(const struct sy_trace_thread *thread, uint32_t native)
{
	long at = native ? sy_defs_find(&thread->defs[SY_DEF_NATIVE], native) : -1;

	return at < 0 ? 0 : thread->defs[SY_DEF_NATIVE].refs[at].payload_bytes / 16;
}

struct sy_trace_native sy_thread_native(const struct sy_trace_thread *thread, uint32_t native, uint32_t depth)
{
	struct sy_trace_native place = { UNKNOWN, 0 };
	long at = sy_defs_find(&thread->defs[SY_DEF_NATIVE], native);
	const char *payload;
	uint32_t module;

	if (at < 0 || depth >= thread->defs[SY_DEF_NATIVE].refs[at].payload_bytes / 16)
		return place;
	payload = (const char *)thread->defs[SY_DEF_NATIVE].refs[at].payload + 16 * (size_t)depth;
	memcpy(&module, payload, 4);
	memcpy(&place.offset, payload + 8, 8);
	place.module = text_of(&thread->defs[SY_DEF_MODULE], module);
	return place;
}
