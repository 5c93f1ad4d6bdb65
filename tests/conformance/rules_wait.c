/* SPDX-License-Identifier: Apache-2.0 */
/* rules_wait.c - R18: waits the program asks for; R19: calls that may wait for reasons nobody documents */
#include "tests/conformance/conformance.h"

/* ---- R18 ---- */

static cudaError_t sync_device(struct conf *c, size_t n)
{
	(void)c;
	(void)n;
	return cudaDeviceSynchronize();
}

static cudaError_t sync_context(struct conf *c, size_t n)
{
	(void)c;
	(void)n;
	return (cudaError_t)cuCtxSynchronize();
}

static cudaError_t sync_stream(struct conf *c, size_t n)
{
	(void)n;
	return cudaStreamSynchronize(c->blocking[0]);
}

static cudaError_t driver_sync_stream(struct conf *c, size_t n)
{
	(void)n;
	return (cudaError_t)cuStreamSynchronize(c->blocking[0]);
}

static cudaError_t sync_other_stream(struct conf *c, size_t n)
{
	(void)n;
	return cudaStreamSynchronize(c->nonblocking[0]);
}

static cudaError_t sync_legacy(struct conf *c, size_t n)
{
	(void)c;
	(void)n;
	return cudaStreamSynchronize(cudaStreamLegacy);
}

static cudaError_t record_behind(struct conf *c, cudaStream_t busy, size_t n)
{
	(void)n;
	return cudaEventRecord(c->event, busy);
}

static cudaError_t record_before(struct conf *c, size_t n)
{
	(void)n;
	return cudaEventRecord(c->event, c->blocking[0]);
}

/* A new event in place of the one that earlier rows recorded. */
static cudaError_t renew_event(struct conf *c, size_t n)
{
	(void)n;
	cudaError_t error = cudaEventDestroy(c->event);
	return error == cudaSuccess ? cudaEventCreateWithFlags(&c->event, cudaEventDisableTiming) : error;
}

static cudaError_t sync_event(struct conf *c, size_t n)
{
	(void)n;
	return cudaEventSynchronize(c->event);
}

static cudaError_t driver_sync_event(struct conf *c, size_t n)
{
	(void)n;
	return (cudaError_t)cuEventSynchronize(c->event);
}

static cudaError_t stream_wait(struct conf *c, size_t n)
{
	(void)n;
	return cudaStreamWaitEvent(c->nonblocking[0], c->event, 0);
}

const struct conf_call conf_device_sync = { .call = sync_device };
const struct conf_call conf_context_sync = { .call = sync_context };
const struct conf_call conf_stream_sync = { .call = sync_stream };
const struct conf_call conf_driver_stream_sync = { .call = driver_sync_stream };
const struct conf_call conf_other_stream_sync = { .call = sync_other_stream };
const struct conf_call conf_legacy_stream_sync = { .call = sync_legacy };
const struct conf_call conf_event_sync = { NULL, record_behind, sync_event, NULL };
const struct conf_call conf_driver_event_sync = { NULL, record_behind, driver_sync_event, NULL };
const struct conf_call conf_earlier_event_sync = { record_before, NULL, sync_event, NULL };
const struct conf_call conf_unrecorded_event_sync = { renew_event, NULL, sync_event, NULL };
const struct conf_call conf_stream_wait_event = { NULL, record_behind, stream_wait, NULL };

/* ---- R19 ---- */

/* "Not ready" is the answer wanted. */
static cudaError_t answered(cudaError_t error)
{
	return error == cudaErrorNotReady ? cudaSuccess : error;
}

static cudaError_t query_stream(struct conf *c, size_t n)
{
	(void)n;
	return answered(cudaStreamQuery(c->blocking[0]));
}

static cudaError_t query_event(struct conf *c, size_t n)
{
	(void)n;
	return answered(cudaEventQuery(c->event));
}

static cudaError_t make_stream(struct conf *c, size_t n)
{
	(void)n;
	return cudaStreamCreate((cudaStream_t *)&c->scratch);
}

static const char *drop_stream(struct conf *c, size_t n)
{
	(void)n;
	return cudaStreamDestroy(c->scratch) == cudaSuccess ? NULL : "the stream could not be destroyed";
}

static cudaError_t make_event(struct conf *c, size_t n)
{
	(void)n;
	return cudaEventCreate((cudaEvent_t *)&c->scratch);
}

static const char *drop_event(struct conf *c, size_t n)
{
	(void)n;
	return cudaEventDestroy(c->scratch) == cudaSuccess ? NULL : "the event could not be destroyed";
}

static cudaError_t ask_memory(struct conf *c, size_t n)
{
	size_t free_bytes, total_bytes;

	(void)c;
	(void)n;
	return cudaMemGetInfo(&free_bytes, &total_bytes);
}

static cudaError_t ask_pointer(struct conf *c, size_t n)
{
	struct cudaPointerAttributes attributes;

	(void)n;
	return cudaPointerGetAttributes(&attributes, c->device[0]);
}

const struct conf_call conf_stream_query = { .call = query_stream };
const struct conf_call conf_event_query = { NULL, record_behind, query_event, NULL };
const struct conf_call conf_event_record = { .call = record_before };
const struct conf_call conf_stream_create = { NULL, NULL, make_stream, drop_stream };
const struct conf_call conf_event_create = { NULL, NULL, make_event, drop_event };
const struct conf_call conf_memory_info = { .call = ask_memory };
const struct conf_call conf_pointer_attributes = { .call = ask_pointer };

/* The reference says: returns at once, and what is held is released when the work is done. */
void conf_stream_destroy(struct conf *c, size_t n, struct conf_seen *seen)
{
	cudaStream_t stream;

	(void)n;
	CONF_TRY(seen, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CONF_TRY(seen, conf_occupy(c, stream));
	CONF_TRY(seen, cudaEventRecord(c->event, stream));
	uint64_t start = conf_now(c);
	cudaError_t error = cudaStreamDestroy(stream);
	uint64_t ns = conf_now(c) - start;
	CONF_TRY(seen, error);
	conf_answer_while(c, seen, ns, cudaEventQuery(c->event) == cudaErrorNotReady);
}
