/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/copy.h"

#include <stdlib.h>
#include <string.h>

#include "sim/capture.h"
#include "sim/clock.h"
#include "sim/jitter.h"
#include "sim/lock.h"
#include "sim/memory.h"
#include "sim/readback.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"

#define NS_PER_US 1000u

/* What the preload library asks after a copy: api/clock.h. */
static SIM_TLS bool showed_made_up;

SIM_EXPORT bool synctally_made_up(void);

bool synctally_made_up(void)
{
	return showed_made_up;
}

/* What the host does about a copy. */
enum copy_wait {
	COPY_GOES_ON,      /* returns at once */
	COPY_STAGES,       /* takes the bytes now, then returns */
	COPY_DRAINS_FIRST, /* waits for the stream, takes the bytes, then returns (R1) */
	COPY_HOLDS,        /* returns once the copy is complete, which no document promises: proves nothing */
	COPY_COMPLETES     /* returns once the copy is complete */
};

struct copy_op {
	struct sim_op op;
	struct sim_copy copy;
	bool is_made_up; /* kernels do not compute: the program is shown `made_up` instead */
	uint64_t made_up;
	char staged[]; /* the source, row after row, if it was taken at submission */
};

static bool is_host(enum sim_memory_kind kind)
{
	return kind == SIM_MEMORY_PAGEABLE || kind == SIM_MEMORY_PINNED;
}

static enum copy_wait wait_of(enum sim_memory_kind from, enum sim_memory_kind to, size_t bytes, bool is_sync)
{
	const struct sim_knobs *knobs = sim_knobs();

	if (is_host(from) && is_host(to))
		return COPY_COMPLETES; /* R5, R8 */
	if (knobs->managed_copy_waits && (from == SIM_MEMORY_MANAGED || to == SIM_MEMORY_MANAGED))
		return COPY_COMPLETES; /* R10 */
	if (from == SIM_MEMORY_PAGEABLE) {
		if (is_sync)
			return COPY_DRAINS_FIRST;                                /* R1 */
		return bytes <= knobs->staged_upload ? COPY_STAGES : COPY_HOLDS; /* R6b, R7 */
	}
	if (is_sync)
		return is_host(from) || is_host(to) ? COPY_COMPLETES : COPY_GOES_ON;                   /* R2, R3, R4 */
	return to == SIM_MEMORY_PAGEABLE && knobs->pageable_d2h_waits ? COPY_COMPLETES : COPY_GOES_ON; /* R6a, R9 */
}

static uint64_t duration_at(uint64_t rate, size_t bytes)
{
	return sim_knobs()->latency_ns + bytes * NS_PER_US / rate;
}

static uint64_t duration(const struct sim_copy *copy, size_t bytes)
{
	enum sim_memory_kind from = sim_memory_kind(copy->source), to = sim_memory_kind(copy->destination);
	const struct sim_knobs *knobs = sim_knobs();
	uint64_t rate = knobs->d2d_rate;

	if (is_host(from))
		rate = is_host(to) ? knobs->h2h_rate : knobs->h2d_rate;
	else if (is_host(to))
		rate = knobs->d2h_rate;
	else if (sim_memory_device(copy->source) != sim_memory_device(copy->destination))
		rate = knobs->peer_rate;
	return duration_at(rate, bytes);
}

static uint64_t set_duration(enum sim_memory_kind to, size_t bytes)
{
	return duration_at(is_host(to) ? sim_knobs()->d2h_rate : sim_knobs()->d2d_rate, bytes);
}

static uintptr_t row_at(uintptr_t base, size_t pitch, size_t slice, size_t y, size_t z)
{
	return base + y * pitch + z * slice;
}

/* Calls visit for every row; a plain copy is one row. */
#define FOR_EACH_ROW(copy, y, z)                                                                                       \
	for (size_t z = 0; z < (copy)->slices; z++)                                                                    \
		for (size_t y = 0; y < (copy)->rows; y++)

static uintptr_t source_row(const struct sim_copy *copy, size_t y, size_t z)
{
	return row_at(copy->source, copy->source_pitch, copy->source_slice, y, z);
}

static uintptr_t destination_row(const struct sim_copy *copy, size_t y, size_t z)
{
	return row_at(copy->destination, copy->destination_pitch, copy->destination_slice, y, z);
}

static void apply_copy(struct sim_op *base)
{
	struct copy_op *op = (struct copy_op *)base;
	const struct sim_copy *copy = &op->copy;

	FOR_EACH_ROW(copy, y, z)
	{
		void *to = sim_memory_view(destination_row(copy, y, z));
		if (op->is_made_up)
			sim_readback_show(to, copy->width, op->made_up);
		else
			memmove(to, sim_memory_view(source_row(copy, y, z)), copy->width);
	}
}

static void apply_staged(struct sim_op *base)
{
	struct copy_op *op = (struct copy_op *)base;
	const struct sim_copy *copy = &op->copy;
	const char *from = op->staged;

	FOR_EACH_ROW(copy, y, z)
	{
		memcpy(sim_memory_view(destination_row(copy, y, z)), from, copy->width);
		from += copy->width;
	}
}

/* Takes the rows of the source now; the destination gets them when the copy is complete. */
static struct sim_op *fetch_copy(struct sim_op *base)
{
	struct copy_op *op = (struct copy_op *)base;
	const struct sim_copy *copy = &op->copy;

	/* What is made up does not depend on the device. */
	if (op->is_made_up)
		return base;
	struct copy_op *fetched = malloc(sizeof *op + copy->width * copy->rows * copy->slices);
	if (!fetched)
		return base;
	*fetched = *op;
	fetched->op.apply = apply_staged;
	char *into = fetched->staged;
	FOR_EACH_ROW(copy, y, z)
	{
		memcpy(into, sim_memory_view(source_row(copy, y, z)), copy->width);
		into += copy->width;
	}
	free(op);
	return &fetched->op;
}

/* From the first to the last byte a side of the copy touches. */
static size_t extent(size_t width, size_t rows, size_t slices, size_t pitch, size_t slice)
{
	return width && rows && slices ? width + (rows - 1) * pitch + (slices - 1) * slice : 0;
}

static size_t destination_extent(const struct sim_copy *c)
{
	return extent(c->width, c->rows, c->slices, c->destination_pitch, c->destination_slice);
}

static size_t source_extent(const struct sim_copy *c)
{
	return extent(c->width, c->rows, c->slices, c->source_pitch, c->source_slice);
}

static bool is_valid(const struct sim_copy *copy, enum sim_memory_kind from, enum sim_memory_kind to,
                     enum sy_direction direction)
{
	bool reads_device = direction == SY_D2H || direction == SY_D2D;
	bool writes_device = direction == SY_H2D || direction == SY_D2D;

	if (direction != SY_ANY) {
		/* Unified addressing: pinned memory has a device address too; pageable memory has none. */
		if ((reads_device && from == SIM_MEMORY_PAGEABLE) || (writes_device && to == SIM_MEMORY_PAGEABLE))
			return false;
		if ((!reads_device && from == SIM_MEMORY_DEVICE) || (!writes_device && to == SIM_MEMORY_DEVICE))
			return false;
	}
	size_t reads = source_extent(copy), writes = destination_extent(copy);
	if ((reads && !copy->source) || (writes && !copy->destination))
		return false;
	return sim_memory_is_valid(copy->source, reads) && sim_memory_is_valid(copy->destination, writes);
}

static struct copy_op *make_copy(const struct sim_copy *copy, bool is_staged)
{
	size_t staged = is_staged ? copy->width * copy->rows * copy->slices : 0;
	struct copy_op *op = malloc(sizeof *op + staged);

	if (!op)
		return NULL;
	op->op = (struct sim_op){ .apply = is_staged ? apply_staged : apply_copy };
	op->copy = *copy;
	op->is_made_up = false;
	char *into = op->staged;
	if (staged) {
		FOR_EACH_ROW(copy, y, z)
		{
			memcpy(into, (const void *)source_row(copy, y, z), copy->width);
			into += copy->width;
		}
	}
	return op;
}

/* Host memory the copy will touch later, so that freeing it can call the copy off. */
static void note_host_memory(struct copy_op *op, enum sim_memory_kind from, enum sim_memory_kind to)
{
	if (to != SIM_MEMORY_DEVICE) {
		op->op.host_base = op->copy.destination;
		op->op.host_bytes = destination_extent(&op->copy);
		op->op.fetch = op->op.apply == apply_copy ? fetch_copy : NULL;
	} else if (from != SIM_MEMORY_DEVICE && op->op.apply == apply_copy) {
		op->op.host_base = op->copy.source;
		op->op.host_bytes = source_extent(&op->copy);
	}
}

/* Keeps the account of what a small readback may show, in order of submission. */
static void account_readback(struct copy_op *op, enum sim_memory_kind from, enum sim_memory_kind to)
{
	const struct sim_copy *copy = &op->copy;
	bool is_small = copy->width * copy->rows * copy->slices <= SIM_READBACK_MAX_BYTES;

	if (to != SIM_MEMORY_DEVICE && (from != SIM_MEMORY_DEVICE || !is_small))
		return;
	FOR_EACH_ROW(copy, y, z)
	{
		bool is_known = from != SIM_MEMORY_DEVICE || sim_readback_is_known(source_row(copy, y, z), copy->width);
		if (to == SIM_MEMORY_DEVICE)
			sim_readback_note_write(destination_row(copy, y, z), copy->width, is_known);
		else if (!is_known)
			op->is_made_up = true;
	}
	if (op->is_made_up)
		op->made_up = sim_readback_make_up(copy->source);
}

static CUresult wait_and_certify(const struct sim_stream *stream, enum sim_reach reach)
{
	struct sim_vector covered = { 0 };
	bool has_snapshot = sim_stream_snapshot(stream, reach, &covered);

	CUresult failure = sim_timeline_wait_for(&covered, sim_stream_target(stream, reach));
	if (has_snapshot)
		sim_streams_certify(&covered);
	sim_vector_free(&covered);
	return failure;
}

/* An operation just submitted, all before it on its stream, and all that is ordered before those. */
static CUresult complete(const struct sim_stream *stream, bool is_proof)
{
	struct sim_vector covered = { 0 };
	bool has_snapshot = sim_vector_copy(&covered, &stream->covers);

	CUresult failure = sim_timeline_wait_for(&covered, stream->ready_ns);
	if (has_snapshot && is_proof)
		sim_streams_certify(&covered);
	sim_vector_free(&covered);
	return failure;
}

CUresult sim_copy_check(const struct sim_copy *copy, enum sy_direction direction)
{
	enum sim_memory_kind from = sim_memory_kind(copy->source), to = sim_memory_kind(copy->destination);

	return is_valid(copy, from, to, direction) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_copy_op(const struct sim_copy *copy, struct sim_op **into, uint64_t *duration_ns)
{
	enum sim_memory_kind from = sim_memory_kind(copy->source), to = sim_memory_kind(copy->destination);
	struct copy_op *op = make_copy(copy, false);

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	note_host_memory(op, from, to);
	account_readback(op, from, to);
	showed_made_up = op->is_made_up;
	*into = &op->op;
	*duration_ns = sim_jitter(duration(copy, copy->width * copy->rows * copy->slices));
	return CUDA_SUCCESS;
}

/* Synchronous forms are not for capturing streams, and not for some others while something captures. */
static CUresult admit(struct sim_stream *stream, const struct sim_work *work, bool is_sync, bool *is_captured)
{
	*is_captured = false;
	return is_sync ? sim_capture_wait(stream) : sim_capture_submit(stream, work, is_captured);
}

static CUresult copy_on(struct sim_stream *stream, const struct sim_copy *copy, bool is_sync,
                        enum sy_direction direction)
{
	enum sim_memory_kind from = sim_memory_kind(copy->source), to = sim_memory_kind(copy->destination);
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = { *copy, direction } };
	size_t bytes = copy->width * copy->rows * copy->slices;
	bool is_captured;

	sim_scope_note_bytes(bytes, from, to);
	if (!is_valid(copy, from, to, direction))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult admitted = admit(stream, &node, is_sync, &is_captured);
	if (admitted != CUDA_SUCCESS || is_captured)
		return admitted;
	sim_scope_note_pending(sim_stream_is_pending(stream, SIM_REACH_SUBMIT));
	enum copy_wait wait = wait_of(from, to, bytes, is_sync);
	if (wait == COPY_DRAINS_FIRST)
		(void)wait_and_certify(stream, SIM_REACH_SYNC);
	bool is_staged = wait == COPY_STAGES || wait == COPY_DRAINS_FIRST;
	struct copy_op *op = make_copy(copy, is_staged);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (is_staged)
		sim_clock_charge(bytes * NS_PER_US / sim_knobs()->h2h_rate);
	note_host_memory(op, from, to);
	account_readback(op, from, to);
	showed_made_up = op->is_made_up;
	CUresult result = sim_timeline_submit(stream, sim_jitter(duration(copy, bytes)), &op->op);
	if (result == CUDA_SUCCESS && (wait == COPY_COMPLETES || wait == COPY_HOLDS))
		result = complete(stream, wait == COPY_COMPLETES);
	return result;
}

CUresult sim_copy(const struct sim_copy *copy, CUstream handle, bool is_sync, enum sy_direction direction)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream) {
		sim_scope_note_stream(stream, handle);
		result = copy_on(stream, copy, is_sync, direction);
	}
	sim_unlock();
	return result;
}

/* The devices of a copy that are not the one whose stream does it. */
static size_t other_devices(const struct sim_copy *copy, const struct sim_stream *stream, struct sim_device *others[2])
{
	struct sim_device *from = sim_memory_device(copy->source), *to = sim_memory_device(copy->destination);
	size_t n = 0;

	if (from && from != stream->device)
		others[n++] = from;
	if (to && to != stream->device && to != from)
		others[n++] = to;
	return n;
}

CUresult sim_copy_peer(const struct sim_copy *copy)
{
	struct sim_device *others[2];

	sim_lock();
	struct sim_stream *stream = sim_device_current()->legacy;
	size_t n = other_devices(copy, stream, others);
	sim_scope_note_stream(stream, NULL);
	/* Without memory for the order the times still hold, and a wait may be called empty that was not. */
	for (size_t i = 0; i < n; i++) {
		(void)!sim_streams_snapshot_device(others[i], &stream->covers);
		sim_timeline_delay(stream, others[i]->ready_ns);
	}
	CUresult result = copy_on(stream, copy, true, SY_D2D);
	for (size_t i = 0; i < n; i++) {
		(void)!sim_vector_merge(&others[i]->legacy->covers, &stream->covers);
		sim_timeline_delay(others[i]->legacy, stream->ready_ns);
	}
	sim_unlock();
	return result;
}

struct set_op {
	struct sim_op op;
	struct sim_set set;
};

static void apply_set(struct sim_op *base)
{
	const struct sim_set *set = &((const struct set_op *)base)->set;

	for (size_t y = 0; y < set->rows; y++) {
		char *row = sim_memory_view(set->destination + y * set->pitch);
		if (set->element_bytes == 1) {
			memset(row, (int)set->value, set->width);
			continue;
		}
		/* The low bytes of value come first in memory: the hosts CUDA runs on are little-endian. */
		for (size_t x = 0; x < set->width; x++)
			memcpy(row + x * set->element_bytes, &set->value, set->element_bytes);
	}
}

static size_t set_extent(const struct sim_set *set)
{
	return extent(set->width * set->element_bytes, set->rows, 1, set->pitch, 0);
}

CUresult sim_set_check(const struct sim_set *set)
{
	bool is_valid_target = sim_memory_kind(set->destination) != SIM_MEMORY_PAGEABLE &&
	                       sim_memory_is_valid(set->destination, set_extent(set));

	return is_valid_target ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_set_op(const struct sim_set *set, struct sim_op **into, uint64_t *duration_ns)
{
	enum sim_memory_kind to = sim_memory_kind(set->destination);
	size_t width = set->width * set->element_bytes;
	struct set_op *op = malloc(sizeof *op);

	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->op = (struct sim_op){ .apply = apply_set };
	op->set = *set;
	if (to == SIM_MEMORY_DEVICE) {
		for (size_t y = 0; y < set->rows; y++)
			sim_readback_note_write(set->destination + y * set->pitch, width, true);
	} else {
		op->op.host_base = set->destination;
		op->op.host_bytes = set_extent(set);
	}
	*into = &op->op;
	*duration_ns = set_duration(to, width * set->rows);
	return CUDA_SUCCESS;
}

static CUresult set_on(struct sim_stream *stream, const struct sim_set *set, bool is_sync)
{
	enum sim_memory_kind to = sim_memory_kind(set->destination);
	struct sim_work node = { .type = CU_GRAPH_NODE_TYPE_MEMSET, .set = *set };
	struct sim_op *op;
	uint64_t duration_ns;
	bool is_captured = false;

	sim_scope_note_bytes(set->width * set->element_bytes * set->rows, SIM_MEMORY_NONE, to);
	CUresult result = sim_set_check(set);
	if (result == CUDA_SUCCESS)
		result = admit(stream, &node, is_sync, &is_captured);
	if (result != CUDA_SUCCESS || is_captured)
		return result;
	sim_scope_note_pending(sim_stream_is_pending(stream, SIM_REACH_SUBMIT));
	result = sim_set_op(set, &op, &duration_ns);
	if (result == CUDA_SUCCESS)
		result = sim_timeline_submit(stream, duration_ns, op);
	/* R12: the synchronous form waits only if its target is pinned host memory. */
	if (result == CUDA_SUCCESS && is_sync && to == SIM_MEMORY_PINNED)
		result = complete(stream, true);
	return result;
}

CUresult sim_set(const struct sim_set *set, CUstream handle, bool is_sync)
{
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream) {
		sim_scope_note_stream(stream, handle);
		result = set_on(stream, set, is_sync);
	}
	sim_unlock();
	return result;
}
