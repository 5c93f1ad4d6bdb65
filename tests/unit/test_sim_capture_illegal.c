/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_capture_illegal.c - what may not be done while a stream captures, and how it is answered (R20, R21) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "tests/unit/graph_fixture.h"

#define UNSUPPORTED CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
#define INVALIDATED CUDA_ERROR_STREAM_CAPTURE_INVALIDATED

/* What the headers declare only for programs that call nothing else. */
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status);

static CUstream blocking;
static CUevent event, outside;

static void begin(CUstream stream, CUstreamCaptureMode mode)
{
	ok(cuStreamBeginCapture_v2(stream, mode));
	ok(add_on(stream, 1));
}

static CUresult end(CUstream stream)
{
	CUgraph graph = (CUgraph)&graph;
	CUresult result = cuStreamEndCapture(stream, &graph);

	if (result == CUDA_SUCCESS)
		ok(cuGraphDestroy(graph));
	else if (result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD && result != CUDA_ERROR_STREAM_CAPTURE_UNMATCHED &&
	         result != CUDA_ERROR_ILLEGAL_STATE)
		assert_null(graph);
	return result;
}

/* Makes one call during a capture: its result, then whether the capture survived. */
#define DURING(stream, mode, call, expected, ended)                                                                    \
	do {                                                                                                           \
		begin(stream, mode);                                                                                   \
		assert_int_equal(call, expected);                                                                      \
		assert_int_equal(end(stream), ended);                                                                  \
	} while (0)
#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static void waiting_for_a_capturing_stream(void **state)
{
	unsigned long long id;
	CUdevice device;

	(void)state;
	for (CUstreamCaptureMode mode = GLOBAL; mode <= RELAXED; mode++) {
		DURING(the.stream, mode, cuStreamSynchronize(the.stream), UNSUPPORTED, INVALIDATED);
		DURING(the.stream, mode, cuStreamQuery(the.stream), UNSUPPORTED, INVALIDATED);
		DURING(the.stream, mode, cuCtxSynchronize(), UNSUPPORTED, INVALIDATED);
		DURING(the.stream, mode, cuStreamDestroy_v2(the.stream), UNSUPPORTED, INVALIDATED);
		DURING(the.stream, mode, cuStreamGetId(the.stream, &id), UNSUPPORTED, INVALIDATED);
		DURING(the.stream, mode, cuStreamGetDevice(the.stream, &device), UNSUPPORTED, INVALIDATED);
	}
	assert_int_equal(value_on_device(), 0);
}

static void what_comes_after_an_illegal_call(void **state)
{
	CUstreamCaptureStatus status;

	(void)state;
	begin(the.stream, RELAXED);
	assert_int_equal(cuStreamSynchronize(the.stream), UNSUPPORTED);
	assert_int_equal(cuStreamSynchronize(the.stream), INVALIDATED);
	assert_int_equal(add_on(the.stream, 1), INVALIDATED);
	assert_int_equal(cuEventRecord(event, the.stream), INVALIDATED);
	assert_int_equal(cuMemsetD8Async(the.device, 0, 4, the.stream), INVALIDATED);
	struct ledger_line line = ledger_last();
	assert_int_equal(line.status, INVALIDATED);
	assert_false(line.is_pending);
	assert_int_equal(line.waited_ns, 0);
	ok(cuStreamIsCapturing(the.stream, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	assert_int_equal(end(the.stream), INVALIDATED);
	ok(cuStreamIsCapturing(the.stream, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	ok(cuStreamSynchronize(the.stream));
}

static void begin_and_end_must_match(void **state)
{
	(void)state;
	assert_int_equal(cuStreamBeginCapture_v2(CU_STREAM_LEGACY, GLOBAL), UNSUPPORTED);
	assert_int_equal(cuStreamBeginCapture_v2(the.stream, (CUstreamCaptureMode)9), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(end(the.stream), CUDA_ERROR_ILLEGAL_STATE);
	DURING(the.stream, GLOBAL, cuStreamBeginCapture_v2(the.stream, GLOBAL), CUDA_ERROR_ILLEGAL_STATE, CUDA_SUCCESS);
	/* A stream that has only joined cannot end it. */
	begin(the.stream, GLOBAL);
	ok(cuEventRecord(event, the.stream));
	ok(cuStreamWaitEvent(blocking, event, 0));
	assert_int_equal(end(blocking), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	assert_int_equal(end(the.stream), CUDA_SUCCESS);
}

static void the_legacy_stream_stands_for_blocking_ones(void **state)
{
	CUstreamCaptureStatus status;

	(void)state;
	DURING(blocking, RELAXED, add_on(CU_STREAM_LEGACY, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, INVALIDATED);
	DURING(blocking, RELAXED, cuStreamSynchronize(NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, INVALIDATED);
	DURING(blocking, RELAXED, cuMemcpyHtoD_v2(the.device, the.host, 4), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
	       INVALIDATED);
	DURING(blocking, RELAXED, cuMemsetD8_v2(the.device, 0, 4), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, INVALIDATED);
	DURING(blocking, RELAXED, cuEventRecord(event, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, INVALIDATED);
	/* A question is no use: the capture goes on. */
	DURING(blocking, GLOBAL, cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CUDA_SUCCESS);
	DURING(the.stream, RELAXED, add_on(CU_STREAM_LEGACY, 0), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, RELAXED, cuMemcpyHtoD_v2(the.device, the.host, 4), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, cuMemcpyHtoD_v2(the.device, the.host, 4), UNSUPPORTED, INVALIDATED);
}

static void the_thread_s_own_stream_captures_too(void **state)
{
	CUstreamCaptureStatus status;

	(void)state;
	begin(CU_STREAM_PER_THREAD, RELAXED);
	ok(cuStreamIsCapturing_ptsz(NULL, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_int_equal(cuMemcpyHtoD_v2_ptds(the.device, the.host, 4), UNSUPPORTED);
	assert_int_equal(end(CU_STREAM_PER_THREAD), INVALIDATED);
}

static void forked_streams_must_be_joined(void **state)
{
	CUstreamCaptureStatus status;

	(void)state;
	begin(the.stream, GLOBAL);
	ok(cuEventRecord(event, the.stream));
	ok(cuStreamWaitEvent(blocking, event, 0));
	ok(add_on(blocking, 1));
	assert_int_equal(end(the.stream), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	ok(cuStreamIsCapturing(blocking, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

static void captures_are_isolated(void **state)
{
	(void)state;
	ok(cuEventRecord(outside, blocking));
	DURING(the.stream, RELAXED, cuStreamWaitEvent(the.stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
	       INVALIDATED);
	begin(the.stream, RELAXED);
	begin(blocking, RELAXED);
	ok(cuEventRecord(event, the.stream));
	assert_int_equal(cuStreamWaitEvent(blocking, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
	assert_int_equal(end(the.stream), INVALIDATED);
	assert_int_equal(end(blocking), INVALIDATED);
}

static void captured_events_cannot_be_waited_for(void **state)
{
	float ms;

	(void)state;
	begin(the.stream, RELAXED);
	ok(cuEventRecord(event, the.stream));
	assert_int_equal(cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
	assert_int_equal(end(the.stream), INVALIDATED);
	begin(the.stream, RELAXED);
	ok(cuEventRecord(event, the.stream));
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
	assert_int_equal(end(the.stream), INVALIDATED);
	/* It stays so after the capture, until it is recorded elsewhere. */
	assert_int_equal(cuEventElapsedTime_v2(&ms, event, event), CUDA_ERROR_CAPTURED_EVENT);
	assert_int_equal(cuStreamWaitEvent(blocking, event, 0), CUDA_ERROR_CAPTURED_EVENT);
	ok(cuEventRecord(event, the.stream));
	ok(cuEventSynchronize(event));
}

static void CUDA_CB call_back(CUstream stream, CUresult status, void *data)
{
	(void)stream;
	(void)status;
	(void)data;
}

static void some_work_cannot_be_captured(void **state)
{
	(void)state;
	DURING(the.stream, RELAXED, cuStreamAddCallback(the.stream, call_back, NULL, 0), UNSUPPORTED, INVALIDATED);
	/* What is wrong anyway is wrong here too, and does no harm to the capture. */
	DURING(the.stream, GLOBAL, cuMemsetD8Async(0, 0, 4, the.stream), CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, cuMemFreeAsync(the.device, the.stream), CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS);
}

/* ---- calls that are unsafe, by the mode of the capture and of the thread ---- */

static CUresult allocate(void)
{
	CUdeviceptr memory;
	CUresult result = cuMemAlloc_v2(&memory, 64);

	if (result == CUDA_SUCCESS)
		ok(cuMemFree_v2(memory));
	return result;
}

static CUresult allocate_pinned(void)
{
	void *memory;
	CUresult result = cuMemHostAlloc(&memory, 64, 0);

	if (result == CUDA_SUCCESS)
		ok(cuMemFreeHost(memory));
	return result;
}

static CUresult allocate_in_mode(CUstreamCaptureMode mode)
{
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	CUresult result = allocate();
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	return result;
}

static void *allocate_in_thread(void *mode)
{
	static CUresult result;

	result = allocate_in_mode(*(CUstreamCaptureMode *)mode);
	return &result;
}

static CUresult allocate_elsewhere(CUstreamCaptureMode mode)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, allocate_in_thread, &mode), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return *(CUresult *)result;
}

static void unsafe_calls_of_the_capturing_thread(void **state)
{
	(void)state;
	ok(cuEventRecord(outside, blocking));
	DURING(the.stream, GLOBAL, allocate(), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, THREAD_LOCAL, allocate(), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, RELAXED, allocate(), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, allocate_in_mode(THREAD_LOCAL), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, GLOBAL, allocate_in_mode(RELAXED), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, allocate_pinned(), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, GLOBAL, cuMemFree_v2(0), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, GLOBAL, cuMemHostRegister_v2(&outside, 64, 0), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, GLOBAL, cuEventQuery(outside), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, RELAXED, cuEventQuery(outside), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, cuStreamSynchronize(blocking), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, RELAXED, cuStreamSynchronize(blocking), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, add_on(blocking, 0), CUDA_SUCCESS, CUDA_SUCCESS);
}

static void unsafe_calls_of_other_threads(void **state)
{
	(void)state;
	DURING(the.stream, GLOBAL, allocate_elsewhere(GLOBAL), UNSUPPORTED, INVALIDATED);
	DURING(the.stream, GLOBAL, allocate_elsewhere(THREAD_LOCAL), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, GLOBAL, allocate_elsewhere(RELAXED), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, THREAD_LOCAL, allocate_elsewhere(GLOBAL), CUDA_SUCCESS, CUDA_SUCCESS);
	DURING(the.stream, RELAXED, allocate_elsewhere(GLOBAL), CUDA_SUCCESS, CUDA_SUCCESS);
}

/* ---- threads ---- */

static void *end_in_thread(void *stream)
{
	static CUresult result;

	result = end(stream);
	return &result;
}

static CUresult end_elsewhere(CUstream stream)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, end_in_thread, stream), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return *(CUresult *)result;
}

static void another_thread_ends_only_a_relaxed_capture(void **state)
{
	(void)state;
	DURING(the.stream, GLOBAL, end_elsewhere(the.stream), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CUDA_SUCCESS);
	DURING(the.stream, THREAD_LOCAL, end_elsewhere(the.stream), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
	       CUDA_SUCCESS);
	begin(the.stream, RELAXED);
	assert_int_equal(end_elsewhere(the.stream), CUDA_SUCCESS);
}

static void *capture_and_leave(void *unused)
{
	begin(CU_STREAM_PER_THREAD, RELAXED);
	ok(cuEventRecord(event, CU_STREAM_PER_THREAD));
	ok(cuStreamWaitEvent(blocking, event, 0));
	return unused;
}

static void a_thread_takes_the_capture_of_its_own_stream_along(void **state)
{
	CUstreamCaptureStatus status;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, capture_and_leave, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	ok(cuStreamIsCapturing(blocking, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	ok(cuStreamSynchronize(NULL));
}

#define TEST(function) cmocka_unit_test_setup(function, graph_fixture_settle)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waiting_for_a_capturing_stream),
		TEST(what_comes_after_an_illegal_call),
		TEST(begin_and_end_must_match),
		TEST(the_legacy_stream_stands_for_blocking_ones),
		TEST(the_thread_s_own_stream_captures_too),
		TEST(forked_streams_must_be_joined),
		TEST(captures_are_isolated),
		TEST(captured_events_cannot_be_waited_for),
		TEST(some_work_cannot_be_captured),
		TEST(unsafe_calls_of_the_capturing_thread),
		TEST(unsafe_calls_of_other_threads),
		TEST(another_thread_ends_only_a_relaxed_capture),
		TEST(a_thread_takes_the_capture_of_its_own_stream_along),
	};

	graph_fixture_start();
	ok(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	ok(cuEventCreate(&event, CU_EVENT_DEFAULT));
	ok(cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
