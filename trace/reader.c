/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/reader.h"

#include "trace/event.h"
#include "trace/reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_segment(struct sy_segments *segments, const struct sy_segment *segment)
{
	if (segments->n == segments->capacity) {
		size_t capacity = segments->capacity ? segments->capacity * 2 : 64;
		struct sy_segment *grown = realloc(segments->at, capacity * sizeof(*grown));

		if (!grown)
			return -1;
		segments->at = grown;
		segments->capacity = capacity;
	}
	segments->at[segments->n++] = *segment;
	return 0;
}

/* ---- opening --------------------------------------------------------------- */

static int map_file(struct sy_trace *trace, int fd, struct sy_err *err)
{
	struct stat status;
	void *map;

	if (fstat(fd, &status) != 0)
		return sy_err_set(err, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return sy_err_set(err, "not a regular file");
	if (status.st_size == 0)
		return sy_err_set(err, "the file is empty");
	if ((uint64_t)status.st_size < sizeof(struct sy_file_header))
		return sy_err_set(err, "too short for a trace: bytes=%lld", (long long)status.st_size);
	if ((uint64_t)status.st_size > SIZE_MAX / 2)
		return sy_err_set(err, "too large for this machine: bytes=%lld", (long long)status.st_size);
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return sy_err_set(err, "cannot map it: %s", strerror(errno));
	trace->map = map;
	trace->map_bytes = (size_t)status.st_size;
	return 0;
}

/* A running process may have gone on meanwhile: definitions of the events seen so far lie in what it added. */
static void map_growth(struct sy_trace *trace, int fd)
{
	struct stat status;
	void *map;

	if (fstat(fd, &status) != 0 || (uint64_t)status.st_size <= trace->map_bytes)
		return;
	map = mremap((void *)(uintptr_t)trace->map, trace->map_bytes, (size_t)status.st_size, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return;
	trace->map = map;
	trace->map_bytes = (size_t)status.st_size;
}

static int check_header(struct sy_trace *trace, struct sy_err *err)
{
	struct sy_file_header *header = &trace->header;

	memcpy(header, trace->map, sizeof(*header));
	header->host[sizeof(header->host) - 1] = '\0';
	header->writer[sizeof(header->writer) - 1] = '\0';
	if (header->magic != SY_FORMAT_MAGIC)
		return sy_err_set(err, "not a synctally trace");
	if (header->major == 0 || header->major > SY_FORMAT_MAJOR)
		return sy_err_set(err,
		                  "format version %u.%u is not known, this program reads up to %u: written by \"%s\"",
		                  header->major, header->minor, SY_FORMAT_MAJOR, header->writer);
	if (header->header_bytes < sizeof(*header) || header->header_bytes > SY_PROCESS_DEFS_OFFSET)
		return sy_err_set(err, "the header is damaged: header_bytes=%u", header->header_bytes);
	if (header->clock_kind < SY_CLOCK_TSC || header->clock_kind > SY_CLOCK_VIRTUAL)
		return sy_err_set(err, "the header is damaged: clock_kind=%u", header->clock_kind);
	return 0;
}

/* ---- memory ------------------------------------------------------------------ */

/* Less than this is not worth a system call. */
#define LEAVE_BYTES 65536u
#define LEAVE_HEADERS_BYTES (32u << 20)

/* Pages shared with a neighbour are no loss: they come back. */
static void leave(uintptr_t from, uintptr_t to)
{
	const uintptr_t page = 4096;

	if (to - from >= LEAVE_BYTES)
		(void)madvise((void *)(from / page * page), to - from / page * page, MADV_DONTNEED);
}

void sy_chunk_leave(const struct sy_chunk *chunk)
{
	leave((uintptr_t)chunk->events, (uintptr_t)(chunk->events + chunk->n_events));
}

/* ---- segments ---------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Takes one reading of a segment's header, which a running process may change. */
static struct sy_segment read_segment(const struct sy_trace *trace, uint64_t offset)
{
	const struct sy_segment_header *header = (const void *)(trace->map + offset);
	struct sy_segment segment = { .offset = offset + sizeof(*header) };
	uint64_t in_file = trace->map_bytes - offset;

	segment.kind = __atomic_load_n(&header->kind, __ATOMIC_ACQUIRE);
	segment.used = __atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
	segment.capacity = header->bytes < sizeof(*header) ? 0 : header->bytes - sizeof(*header);
	segment.room = least(segment.capacity, in_file - sizeof(*header));
	segment.lane = header->thread;
	segment.sequence = header->sequence;
	segment.tid = header->tid;
	segment.discarded = __atomic_load_n(&header->discarded, __ATOMIC_RELAXED);
	segment.handovers =
		__atomic_load_n(&header->handovers, __ATOMIC_RELAXED); /* goes up before `used` covers the event */
	memcpy(segment.name, header->name, sizeof(segment.name));
	return segment;
}

static bool is_segment(const struct sy_segment *segment)
{
	uint64_t bytes = segment->capacity + sizeof(struct sy_segment_header);

	return (segment->kind == SY_SEG_EVENTS || segment->kind == SY_SEG_DEFS) && segment->capacity &&
	       bytes % SY_BLOCK_BYTES == 0;
}

static bool is_zero(const unsigned char *at, size_t bytes)
{
	return bytes == 0 || (at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0);
}

static void note_last_pair(const struct sy_trace *trace, uint64_t offset, uint64_t *ticks, uint64_t *monotonic_ns)
{
	const struct sy_segment_header *header = (const void *)(trace->map + offset);
	uint64_t last_ticks = __atomic_load_n(&header->last_ticks, __ATOMIC_RELAXED);

	if (last_ticks <= *ticks)
		return;
	*ticks = last_ticks;
	*monotonic_ns = __atomic_load_n(&header->last_monotonic_ns, __ATOMIC_RELAXED);
}

/*
 * Finds the segments of a kind. A block that is no segment is either claimed
 * and not yet described (zeros) or damage; the next block is tried then.
 */
static int find_segments(struct sy_trace *trace, enum sy_segment_kind kind, struct sy_segments *found)
{
	uint64_t last_ticks = 0, last_monotonic_ns = 0;
	uint64_t offset = SY_HEADER_BYTES, left = 0;

	trace->damage.unreadable_bytes = 0;
	/* A header is read, and the system maps its neighbourhood, up to all of the segment. */
	while (offset < trace->map_bytes && trace->map_bytes - offset >= sizeof(struct sy_segment_header)) {
		struct sy_segment segment = read_segment(trace, offset);
		uint64_t block = least(SY_BLOCK_BYTES, trace->map_bytes - offset);

		if (offset - left >= LEAVE_HEADERS_BYTES) {
			leave((uintptr_t)trace->map + left, (uintptr_t)trace->map + offset);
			left = offset;
		}
		if (!is_segment(&segment)) {
			if (!is_zero(trace->map + offset, sizeof(struct sy_segment_header)))
				trace->damage.unreadable_bytes += block;
			offset += SY_BLOCK_BYTES;
			continue;
		}
		if (segment.kind == kind && add_segment(found, &segment) != 0)
			return -1;
		if (segment.kind == SY_SEG_EVENTS)
			note_last_pair(trace, offset, &last_ticks, &last_monotonic_ns);
		offset += segment.capacity + sizeof(struct sy_segment_header);
	}
	if (kind == SY_SEG_EVENTS)
		trace->clock =
			sy_clock_make(trace->header.clock_kind, &trace->header.start, last_ticks, last_monotonic_ns);
	return 0;
}

/* The segment of process definitions inside the header block. */
static void header_defs(const struct sy_trace *trace, struct sy_segments *found)
{
	const uint64_t bytes = SY_HEADER_BYTES - SY_PROCESS_DEFS_OFFSET;
	struct sy_segment segment;

	if (trace->map_bytes < SY_PROCESS_DEFS_OFFSET + sizeof(struct sy_segment_header))
		return;
	segment = read_segment(trace, SY_PROCESS_DEFS_OFFSET);
	if (segment.kind != SY_SEG_DEFS || segment.capacity != bytes - sizeof(struct sy_segment_header))
		return;
	(void)add_segment(found, &segment);
}

static int by_lane_and_sequence(const void *a, const void *b)
{
	const struct sy_segment *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int index_defs(struct sy_trace *trace, const struct sy_segments *defs)
{
	struct sy_def_run *runs = sy_arena_alloc(&trace->arena, defs->n * sizeof(*runs));

	if (!runs)
		return -1;
	for (size_t i = 0; i < defs->n; i++) {
		const struct sy_segment *segment = &defs->at[i];

		runs[i].at = trace->map + segment->offset;
		runs[i].bytes = (size_t)least(segment->used, segment->room);
		runs[i].lane = segment->lane;
		trace->damage.unreadable_defs += segment->used > segment->room;
	}
	return sy_defs_index(trace, runs, defs->n);
}

/* ---- all of it ------------------------------------------------------------------- */

/*
 * Events first, definitions second: a definition is written before the event
 * that names it, so everything the events need is there by then.
 */
static int read_all(struct sy_trace *trace, int fd, struct sy_segments *events, struct sy_segments *defs)
{
	uint64_t claimed;

	if (find_segments(trace, SY_SEG_EVENTS, events) != 0)
		return -1;
	map_growth(trace, fd);
	header_defs(trace, defs);
	if (find_segments(trace, SY_SEG_DEFS, defs) != 0)
		return -1;
	claimed = trace->header.end_bytes;
	if (claimed > trace->map_bytes)
		trace->damage.missing_bytes = claimed - trace->map_bytes;
	else if (trace->map_bytes < SY_HEADER_BYTES)
		trace->damage.missing_bytes = SY_HEADER_BYTES - trace->map_bytes;
	if (events->n)
		qsort(events->at, events->n, sizeof(*events->at), by_lane_and_sequence);
	if (sy_threads_build(trace, events) != 0)
		return -1;
	return index_defs(trace, defs);
}

static int open_trace(struct sy_trace *trace, const char *path, struct sy_err *err)
{
	struct sy_segments events = { 0 }, defs = { 0 };
	/* O_NONBLOCK: a FIFO in the place of a trace must not hold us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int result;

	if (fd < 0)
		return sy_err_set(err, "%s", strerror(errno));
	result = map_file(trace, fd, err);
	if (result == 0)
		result = check_header(trace, err);
	if (result == 0 && read_all(trace, fd, &events, &defs) != 0)
		result = sy_err_set(err, "out of memory");
	close(fd);
	free(events.at);
	free(defs.at);
	return result;
}

int sy_trace_open(const char *path, struct sy_trace **out, struct sy_err *err)
{
	struct sy_trace *trace = calloc(1, sizeof(*trace));
	char *copy = trace ? sy_arena_alloc(&trace->arena, strlen(path) + 1) : NULL;

	if (!copy) {
		free(trace);
		return sy_err_set(err, "cannot read the trace: path=%s: out of memory", path);
	}
	trace->path = strcpy(copy, path);
	if (open_trace(trace, path, err) != 0) {
		sy_trace_close(trace);
		return sy_err_wrap(err, "cannot read the trace: path=%s", path);
	}
	*out = trace;
	return 0;
}

void sy_trace_close(struct sy_trace *trace)
{
	if (!trace)
		return;
	if (trace->map)
		munmap((void *)(uintptr_t)trace->map, trace->map_bytes);
	sy_arena_free(&trace->arena);
	free(trace);
}

static void count_event(struct sy_census *census, const struct sy_event *event, uint32_t *last)
{
	unsigned kind = __atomic_load_n(&event->kind, __ATOMIC_RELAXED);

	census->events++;
	if (kind == 0) {
		census->blank++;
		return;
	}
	if (kind != SY_EVENT_CALL && kind != SY_EVENT_STEP)
		census->unknown++;
	else if (!sy_event_is_complete(event))
		census->in_flight++;
	if (event->sequence <= *last)
		census->disordered++;
	else
		census->gaps += event->sequence - *last - 1;
	*last = event->sequence;
}

struct sy_census sy_trace_survey(const struct sy_trace *trace, sy_step_fn *on_step, void *context)
{
	struct sy_census census = { 0 };

	for (uint32_t t = 0; t < trace->n_threads; t++) {
		const struct sy_trace_thread *thread = &trace->threads[t];
		uint32_t last = 0;

		for (uint32_t c = 0; c < thread->n_chunks; c++) {
			const struct sy_event *event = thread->chunks[c].events,
					      *end = event + thread->chunks[c].n_events;

			for (; event < end; event++) {
				__builtin_prefetch(event + SY_PREFETCH_EVENTS);
				count_event(&census, event, &last);
				if (event->kind == SY_EVENT_STEP && on_step)
					on_step(context, event);
			}
			sy_chunk_leave(&thread->chunks[c]);
		}
	}
	return census;
}

struct sy_census sy_trace_census(const struct sy_trace *trace)
{
	return sy_trace_survey(trace, NULL, NULL);
}
