/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_capture.c - R20, R21: stream capture
 *
 * Most rows make one call during a capture and look at two results: the call's
 * own, and that of ending the capture. A device that cannot begin a capture is
 * skipped.
 */
#include "tests/conformance/conformance.h"

#include <pthread.h>
#include <stdio.h>

static bool begin(struct conf *c, enum cudaStreamCaptureMode mode, struct conf_seen *seen)
{
	cudaError_t error = cudaStreamBeginCapture(c->blocking[0], mode);

	if (error == cudaErrorNotSupported) {
		seen->is_unsupported = true;
		return false;
	}
	return !conf_failed(seen, "cudaStreamBeginCapture", error);
}

/* Ends the capture and drops what it made. */
static cudaError_t end(struct conf *c)
{
	cudaGraph_t graph = NULL;
	cudaError_t error = cudaStreamEndCapture(c->blocking[0], &graph);

	if (graph)
		cudaGraphDestroy(graph);
	return error;
}

static void compare(struct conf_seen *seen, cudaError_t call, cudaError_t ended, int want_call, int want_ended)
{
	seen->answer = (int)call == want_call && (int)ended == want_ended ? CONF_YES : CONF_NO;
	snprintf(seen->text, sizeof seen->text, "%d, then %d", (int)call, (int)ended);
}

typedef cudaError_t (*during_fn)(struct conf *c);

/* One call during a capture in the default mode. */
static void capture(struct conf *c, during_fn during, int want_call, int want_ended, struct conf_seen *seen)
{
	if (!begin(c, cudaStreamCaptureModeGlobal, seen))
		return;
	if (!conf_failed(seen, "a launch during capture", conf_launch_brief(c->spin, c->blocking[0]))) {
		cudaError_t call = during(c);
		cudaGetLastError();
		compare(seen, call, end(c), want_call, want_ended);
	} else {
		end(c);
	}
	cudaGetLastError();
}

enum { FINE = 0, UNSUPPORTED = cudaErrorStreamCaptureUnsupported, INVALIDATED = cudaErrorStreamCaptureInvalidated };

static cudaError_t sync_stream(struct conf *c)
{
	return cudaStreamSynchronize(c->blocking[0]);
}

static cudaError_t query_stream(struct conf *c)
{
	return cudaStreamQuery(c->blocking[0]);
}

static cudaError_t sync_device(struct conf *c)
{
	(void)c;
	return cudaDeviceSynchronize();
}

static cudaError_t set_legacy(struct conf *c)
{
	return cudaMemsetAsync(c->device[0], 0, CONF_KIB, cudaStreamLegacy);
}

static cudaError_t ask_capturing(struct conf *c)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaError_t error = cudaStreamIsCapturing(c->blocking[0], &status);

	return error == cudaSuccess && status != cudaStreamCaptureStatusActive ? cudaErrorUnknown : error;
}

static cudaError_t ask_id(struct conf *c)
{
	unsigned long long id;

	return (cudaError_t)cuStreamGetId(c->blocking[0], &id);
}

static cudaError_t make_memory(struct conf *c)
{
	cudaError_t error = cudaMalloc(&c->scratch, CONF_KIB);

	if (error != cudaSuccess)
		c->scratch = NULL;
	return error;
}

static void *sync_device_in_thread(void *argument)
{
	static cudaError_t error;

	(void)argument;
	error = cudaSetDevice(0);
	if (error == cudaSuccess)
		error = cudaDeviceSynchronize();
	return &error;
}

static cudaError_t sync_device_elsewhere(struct conf *c)
{
	pthread_t thread;
	void *error;

	(void)c;
	if (pthread_create(&thread, NULL, sync_device_in_thread, NULL) != 0)
		return cudaErrorUnknown;
	pthread_join(thread, &error);
	return *(cudaError_t *)error;
}

void conf_capture_stream_sync(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, sync_stream, UNSUPPORTED, INVALIDATED, seen);
}

void conf_capture_stream_query(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, query_stream, UNSUPPORTED, INVALIDATED, seen);
}

void conf_capture_device_sync(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, sync_device, UNSUPPORTED, INVALIDATED, seen);
}

void conf_capture_other_thread(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, sync_device_elsewhere, UNSUPPORTED, INVALIDATED, seen);
}

void conf_capture_legacy(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, set_legacy, cudaErrorStreamCaptureImplicit, INVALIDATED, seen);
}

void conf_capture_is_capturing(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, ask_capturing, FINE, FINE, seen);
}

void conf_capture_get_id(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, ask_id, UNSUPPORTED, INVALIDATED, seen);
}

void conf_global_malloc(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	c->scratch = NULL;
	capture(c, make_memory, UNSUPPORTED, INVALIDATED, seen);
	if (c->scratch)
		CONF_TRY(seen, cudaFree(c->scratch));
}

/* ---- what was captured runs when the graph is launched, and not before ---- */

void conf_capture_not_run(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	if (!begin(c, cudaStreamCaptureModeGlobal, seen))
		return;
	cudaError_t launched = conf_occupy(c, c->blocking[0]), ended = end(c);
	CONF_TRY(seen, launched);
	CONF_TRY(seen, ended);
	uint64_t start = conf_now(c);
	cudaError_t error = cudaStreamSynchronize(c->blocking[0]);
	uint64_t ns = conf_now(c) - start;
	CONF_TRY(seen, error);
	conf_answer_ns(c, seen, ns);
}

/* A graph of the busy kernel. */
static bool make_graph(struct conf *c, cudaGraphExec_t *executable, struct conf_seen *seen)
{
	cudaGraph_t graph = NULL;

	if (!begin(c, cudaStreamCaptureModeGlobal, seen))
		return false;
	cudaError_t launched = conf_occupy(c, c->blocking[0]);
	cudaError_t error = cudaStreamEndCapture(c->blocking[0], &graph);
	if (conf_failed(seen, "a launch during capture", launched) || conf_failed(seen, "cudaStreamEndCapture", error))
		return false;
	error = cudaGraphInstantiate(executable, graph, 0);
	cudaGraphDestroy(graph);
	return !conf_failed(seen, "cudaGraphInstantiate", error);
}

/* Both times: of the launch, and of the wait behind it. */
static bool run_graph(struct conf *c, uint64_t *launch_ns, uint64_t *wait_ns, struct conf_seen *seen)
{
	cudaGraphExec_t executable;

	if (!make_graph(c, &executable, seen))
		return false;
	/* The first launch of a graph uploads it. */
	cudaError_t error = cudaGraphLaunch(executable, c->blocking[0]);
	if (error == cudaSuccess)
		error = cudaStreamSynchronize(c->blocking[0]);
	uint64_t start = conf_now(c);
	if (error == cudaSuccess)
		error = cudaGraphLaunch(executable, c->blocking[0]);
	uint64_t launched = conf_now(c);
	if (error == cudaSuccess)
		error = cudaStreamSynchronize(c->blocking[0]);
	*launch_ns = launched - start;
	*wait_ns = conf_now(c) - launched;
	cudaGraphExecDestroy(executable);
	return !conf_failed(seen, "launching the graph", error);
}

void conf_graph_launch(struct conf *c, size_t n, struct conf_seen *seen)
{
	uint64_t launch_ns, wait_ns;

	(void)n;
	if (run_graph(c, &launch_ns, &wait_ns, seen))
		conf_answer_while(c, seen, launch_ns, conf_answer_of_ns(c, wait_ns) == CONF_YES);
}

void conf_graph_wait(struct conf *c, size_t n, struct conf_seen *seen)
{
	uint64_t launch_ns, wait_ns;

	(void)n;
	if (run_graph(c, &launch_ns, &wait_ns, seen))
		conf_answer_ns(c, seen, wait_ns);
}

/* ---- R21: what a tool may do while the program captures ---- */

static cudaError_t relaxed(struct conf *c, during_fn during)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	cudaError_t error = ask_capturing(c);

	if (error == cudaSuccess)
		error = cudaThreadExchangeStreamCaptureMode(&mode);
	if (error != cudaSuccess)
		return error;
	error = during(c);
	cudaError_t restored = cudaThreadExchangeStreamCaptureMode(&mode);
	return error == cudaSuccess ? restored : error;
}

static cudaError_t use_side_stream(struct conf *c)
{
	cudaError_t error = cudaEventRecord(c->event, c->nonblocking[0]);

	if (error == cudaSuccess)
		error = cudaStreamSynchronize(c->nonblocking[0]);
	return error == cudaSuccess ? cudaEventQuery(c->event) : error;
}

static cudaError_t use_side_stream_relaxed(struct conf *c)
{
	return relaxed(c, use_side_stream);
}

static cudaError_t make_memory_relaxed(struct conf *c)
{
	return relaxed(c, make_memory);
}

void conf_relaxed_side_stream(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	capture(c, use_side_stream_relaxed, FINE, FINE, seen);
}

void conf_relaxed_malloc(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	c->scratch = NULL;
	capture(c, make_memory_relaxed, FINE, FINE, seen);
	if (c->scratch)
		CONF_TRY(seen, cudaFree(c->scratch));
}
