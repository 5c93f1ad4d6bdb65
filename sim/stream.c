/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "sim/capture.h"
#include "sim/knobs.h"
#include "sim/lock.h"

/*
 * Handles are not addresses: any value a program passes can be checked without
 * touching memory, and two runs see the same ones.
 */
#define HANDLE_BASE ((uintptr_t)0x5100000000)
#define HANDLE_STEP ((uintptr_t)0x80)

static struct {
	struct sim_stream **at;
	unsigned n;
	unsigned n_numbered; /* names given so far beyond s0 and pt */
	struct sim_vector certified;
} streams;

static SIM_TLS struct sim_stream *own[SIM_MAX_DEVICES]; /* of the thread, for each device */
static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static bool has_slot_for_reuse(const struct sim_stream *stream)
{
	return !stream->is_live && stream->n_submitted == sim_vector_get(&streams.certified, stream->slot);
}

static struct sim_stream *new_slot(void)
{
	for (unsigned i = 0; i < streams.n; i++)
		if (has_slot_for_reuse(streams.at[i]))
			return streams.at[i];
	if ((streams.n & (streams.n - 1)) == 0) {
		struct sim_stream **at = realloc(streams.at, (streams.n ? 2 * streams.n : 1) * sizeof *at);
		if (!at)
			return NULL;
		streams.at = at;
	}
	struct sim_stream *stream = calloc(1, sizeof *stream);
	if (!stream)
		return NULL;
	stream->slot = streams.n;
	streams.at[streams.n++] = stream;
	return stream;
}

struct sim_stream *sim_stream_create(struct sim_device *device, enum sim_stream_kind kind, int priority)
{
	struct sim_stream *stream = new_slot();

	if (!stream)
		return NULL;
	if (!stream->completions) {
		stream->completions = calloc(sim_knobs()->queue_depth, sizeof *stream->completions);
		if (!stream->completions)
			return NULL;
	}
	stream->device = device;
	stream->kind = kind;
	stream->priority = priority;
	/* What the other side of the legacy rule submitted so far must be looked at anew. */
	stream->seen = 0;
	stream->number = kind == SIM_STREAM_LEGACY ? 0 : kind == SIM_STREAM_PER_THREAD ? 1 : 2 + streams.n_numbered++;
	stream->is_live = true;
	return stream;
}

void sim_stream_destroy(struct sim_stream *stream)
{
	if (stream->part)
		sim_capture_end_stream(stream);
	stream->is_live = false;
}

void sim_stream_end_created(const struct sim_device *device)
{
	for (unsigned i = 0; i < streams.n; i++)
		if (streams.at[i]->device == device && streams.at[i]->number >= 2)
			sim_stream_destroy(streams.at[i]);
}

static void thread_ends(void *streams_of_thread)
{
	struct sim_stream *const *stream = streams_of_thread;

	sim_lock();
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		if (stream[i])
			sim_stream_destroy(stream[i]);
	sim_unlock();
}

static void make_own_key(void)
{
	pthread_key_create(&own_key, thread_ends);
}

static struct sim_stream *own_stream(void)
{
	struct sim_device *device = sim_device_current();
	struct sim_stream **stream = &own[device->ordinal];

	if (!*stream) {
		pthread_once(&own_once, make_own_key);
		*stream = sim_stream_create(device, SIM_STREAM_PER_THREAD, 0);
		pthread_setspecific(own_key, own);
	}
	return *stream;
}

struct sim_stream *sim_stream_find(CUstream handle, bool is_per_thread)
{
	if (handle == CU_STREAM_PER_THREAD || (!handle && is_per_thread))
		return own_stream();
	if (!handle || handle == CU_STREAM_LEGACY)
		return sim_device_current()->legacy;
	uintptr_t distance = (uintptr_t)handle - HANDLE_BASE;
	if (distance % HANDLE_STEP != 0 || distance / HANDLE_STEP >= streams.n)
		return NULL;
	struct sim_stream *stream = streams.at[distance / HANDLE_STEP];
	return stream->is_live && stream->number >= 2 ? stream : NULL;
}

struct sim_stream *sim_stream_of_slot(unsigned slot)
{
	return streams.at[slot];
}

uint64_t sim_stream_completion(const struct sim_stream *stream, uint64_t number)
{
	uint64_t depth = sim_knobs()->queue_depth;

	/* What was submitted a whole queue later waited for it. */
	if (number == 0 || number + depth <= stream->n_submitted)
		return 0;
	return stream->completions[(number - 1) % depth];
}

uint64_t sim_streams_completion(const struct sim_vector *covered)
{
	uint64_t latest = 0;

	for (unsigned i = 0; i < covered->n; i++) {
		uint64_t ns = sim_stream_completion(streams.at[i], covered->at[i]);
		if (ns > latest)
			latest = ns;
	}
	return latest;
}

CUstream sim_stream_handle(const struct sim_stream *stream)
{
	return (CUstream)(HANDLE_BASE + stream->slot * HANDLE_STEP);
}

bool sim_stream_is_blocking(const struct sim_stream *stream)
{
	return stream->kind == SIM_STREAM_BLOCKING || stream->kind == SIM_STREAM_PER_THREAD;
}

static bool merge_blocking(const struct sim_device *device, struct sim_vector *into)
{
	for (unsigned i = 0; i < streams.n; i++) {
		const struct sim_stream *other = streams.at[i];
		if (other->device == device && sim_stream_is_blocking(other) && !sim_vector_merge(into, &other->covers))
			return false;
	}
	return true;
}

bool sim_stream_order(struct sim_stream *stream)
{
	const struct sim_device *device = stream->device;
	bool fine = sim_vector_reserve(&stream->covers, stream->slot + 1);

	if (stream->kind == SIM_STREAM_LEGACY && stream->seen != device->n_blocking_submitted) {
		fine = fine && merge_blocking(device, &stream->covers);
		stream->seen = device->n_blocking_submitted;
	} else if (sim_stream_is_blocking(stream) && stream->seen != device->legacy->n_submitted) {
		fine = fine && sim_vector_merge(&stream->covers, &device->legacy->covers);
		stream->seen = device->legacy->n_submitted;
	}
	return fine;
}

uint64_t sim_stream_target(const struct sim_stream *stream, enum sim_reach reach)
{
	uint64_t other = 0;

	if (stream->kind == SIM_STREAM_LEGACY)
		other = stream->device->blocking_ready_ns;
	else if (reach == SIM_REACH_SUBMIT && sim_stream_is_blocking(stream))
		other = stream->device->legacy->ready_ns;
	return other > stream->ready_ns ? other : stream->ready_ns;
}

bool sim_streams_exceed_certified(const struct sim_vector *covered)
{
	return sim_vector_exceeds(covered, &streams.certified);
}

bool sim_stream_is_pending(const struct sim_stream *stream, enum sim_reach reach)
{
	const struct sim_device *device = stream->device;

	if (sim_streams_exceed_certified(&stream->covers))
		return true;
	if (stream->kind != SIM_STREAM_LEGACY)
		return reach == SIM_REACH_SUBMIT && sim_stream_is_blocking(stream) &&
		       sim_streams_exceed_certified(&device->legacy->covers);
	for (unsigned i = 0; i < streams.n; i++) {
		const struct sim_stream *other = streams.at[i];
		if (other->device == device && sim_stream_is_blocking(other) &&
		    sim_streams_exceed_certified(&other->covers))
			return true;
	}
	return false;
}

bool sim_stream_snapshot(const struct sim_stream *stream, enum sim_reach reach, struct sim_vector *into)
{
	bool fine = sim_vector_merge(into, &stream->covers);

	if (stream->kind == SIM_STREAM_LEGACY)
		return fine && merge_blocking(stream->device, into);
	if (reach == SIM_REACH_SUBMIT && sim_stream_is_blocking(stream))
		return fine && sim_vector_merge(into, &stream->device->legacy->covers);
	return fine;
}

bool sim_streams_snapshot_device(const struct sim_device *device, struct sim_vector *into)
{
	for (unsigned i = 0; i < streams.n; i++)
		if (streams.at[i]->device == device && !sim_vector_merge(into, &streams.at[i]->covers))
			return false;
	return true;
}

void sim_streams_certify(const struct sim_vector *covered)
{
	/* Without memory something stays uncertified: a wait is then called pending that was not. */
	(void)!sim_vector_merge(&streams.certified, covered);
}

bool sim_streams_device_pending(const struct sim_device *device)
{
	for (unsigned i = 0; i < streams.n; i++)
		if (streams.at[i]->device == device &&
		    streams.at[i]->n_submitted > sim_vector_get(&streams.certified, i))
			return true;
	return false;
}
