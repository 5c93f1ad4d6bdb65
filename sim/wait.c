/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/wait.h"

#include <stddef.h>

#include "sim/capture.h"
#include "sim/lock.h"
#include "sim/open.h"
#include "sim/pool.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"

CUresult sim_wait_stream(CUstream handle)
{
	struct sim_vector covered = { 0 };

	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	CUresult result = stream ? sim_capture_wait(stream) : CUDA_ERROR_INVALID_HANDLE;
	if (stream)
		sim_scope_note_stream(stream, handle);
	if (result == CUDA_SUCCESS) {
		sim_scope_note_pending(sim_stream_is_pending(stream, SIM_REACH_SYNC));
		bool has_snapshot = sim_stream_snapshot(stream, SIM_REACH_SYNC, &covered);
		result = sim_timeline_wait_for(&covered, sim_stream_target(stream, SIM_REACH_SYNC));
		if (has_snapshot)
			sim_streams_certify(&covered);
		sim_pools_settle();
	}
	sim_unlock();
	sim_vector_free(&covered);
	return result;
}

CUresult sim_wait_device(void)
{
	const struct sim_device *device = sim_device_current();
	struct sim_vector covered = { 0 };

	sim_lock();
	CUresult result = sim_capture_wait_device(device);
	if (result != CUDA_SUCCESS) {
		sim_unlock();
		return result;
	}
	sim_scope_note_pending(sim_streams_device_pending(device));
	bool has_snapshot = sim_streams_snapshot_device(device, &covered);
	result = sim_timeline_wait_for(&covered, device->ready_ns);
	if (has_snapshot)
		sim_streams_certify(&covered);
	sim_pools_settle();
	sim_unlock();
	sim_vector_free(&covered);
	return result;
}

CUresult sim_wait_before_reset(void)
{
	const struct sim_device *device = sim_device_current();

	sim_lock();
	CUresult result = sim_capture_wait_device(device);
	if (result == CUDA_SUCCESS) {
		sim_scope_note_pending(sim_streams_device_pending(device));
		(void)sim_timeline_wait_device(device);
	}
	sim_unlock();
	return result;
}

/* Before a query: true if what it asks about is open. */
static bool linger(CUstream handle)
{
	struct sim_vector covered = { 0 };
	bool is_open = false;

	if (!sim_open_any())
		return false;
	const struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream && sim_stream_snapshot(stream, SIM_REACH_SYNC, &covered)) {
		sim_open_linger(&covered);
		is_open = sim_open_covers(&covered);
	}
	sim_vector_free(&covered);
	return is_open;
}

CUresult sim_query_stream(CUstream handle)
{
	struct sim_vector covered = { 0 };

	sim_lock();
	bool is_open = linger(handle);
	uint64_t now = sim_timeline_catch_up_locked();
	const struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	CUresult result = stream ? sim_capture_wait(stream) : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS) {
		result = sim_open_failure();
		if (is_open || sim_stream_target(stream, SIM_REACH_SYNC) > now)
			result = CUDA_ERROR_NOT_READY;
		else if (sim_stream_is_pending(stream, SIM_REACH_SYNC) &&
		         sim_stream_snapshot(stream, SIM_REACH_SYNC, &covered))
			sim_streams_certify(&covered);
	}
	sim_unlock();
	sim_vector_free(&covered);
	return result;
}

CUresult sim_make_stream(CUstream *handle, unsigned flags, int priority)
{
	enum sim_stream_kind kind = flags & CU_STREAM_NON_BLOCKING ? SIM_STREAM_NONBLOCKING : SIM_STREAM_BLOCKING;

	sim_lock();
	const struct sim_stream *stream = sim_stream_create(sim_device_current(), kind, priority);
	if (stream)
		*handle = sim_stream_handle(stream);
	sim_unlock();
	return stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_end_stream(CUstream handle)
{
	sim_lock();
	struct sim_stream *stream = sim_stream_find(handle, false);
	/* The default streams cannot be destroyed. */
	bool is_created = stream && stream->number >= 2;
	CUresult result = is_created ? sim_capture_name(stream) : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS)
		sim_stream_destroy(stream);
	sim_unlock();
	return result;
}

CUresult sim_stream_facts(CUstream handle, struct sim_stream_facts *facts)
{
	sim_lock();
	const struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	if (stream) {
		facts->flags = stream->kind == SIM_STREAM_NONBLOCKING ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
		facts->priority = stream->priority;
		facts->id = stream->number;
		facts->ordinal = stream->device->ordinal;
	}
	sim_unlock();
	return stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_stream_may_be_named(CUstream handle)
{
	sim_lock();
	const struct sim_stream *stream = sim_stream_find(handle, sim_scope_is_per_thread());
	CUresult result = stream ? sim_capture_name(stream) : CUDA_ERROR_INVALID_HANDLE;
	sim_unlock();
	return result;
}
