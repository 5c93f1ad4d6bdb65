/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_streams.c - order, waits and what is pending
 *
 * kernel_ns=10000 and latency_ns=0, and a call costs 1 ns: what takes time is the kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

#define KERNEL_NS 10000u
#define QUEUE_DEPTH 16

/* The header declares these only for programs that call nothing else. */
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuLaunchKernel_ptsz(CUfunction func, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                             void **extra);

static CUfunction kernel;

static CUstream new_stream(unsigned flags)
{
	CUstream stream;

	ok(cuStreamCreate(&stream, flags));
	return stream;
}

static int settle(void **state)
{
	(void)state;
	ok(cuCtxSynchronize());
	return 0;
}

static void expect_last(const char *api, bool is_pending, uint64_t waited_ns)
{
	struct ledger_line line = ledger_last();

	assert_string_equal(line.api, api);
	assert_int_equal(line.is_pending, is_pending);
	/* Less than a kernel: the few calls between a launch and the wait have cost their 1 ns each. */
	assert_in_range(line.waited_ns, waited_ns > 100 ? waited_ns - 100 : 0, waited_ns);
}

static void a_wait_lasts_as_long_as_the_work(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);

	(void)state;
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", false, 0);
	for (int i = 0; i < 3; i++)
		sim_fixture_launch(kernel, s);
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", true, 3 * KERNEL_NS);
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", false, 0);
	/* Work that is done but was never asked about is pending, and costs no wait. */
	sim_fixture_launch(kernel, s);
	synctally_sim_host_work(2 * KERNEL_NS);
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", true, 0);
	ok(cuStreamDestroy_v2(s));
}

static void queries_certify_only_when_they_succeed(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);

	(void)state;
	sim_fixture_launch(kernel, s);
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", true, KERNEL_NS);
	sim_fixture_launch(kernel, s);
	synctally_sim_host_work(KERNEL_NS);
	ok(cuStreamQuery(s));
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", false, 0);
	ok(cuStreamDestroy_v2(s));
}

static void independent_streams_run_side_by_side(void **state)
{
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);

	(void)state;
	sim_fixture_launch(kernel, a);
	sim_fixture_launch(kernel, b);
	ok(cuStreamSynchronize(a));
	expect_last("cuStreamSynchronize", true, KERNEL_NS);
	ok(cuStreamSynchronize(b));
	/* Done, but waiting for a said nothing about b. */
	expect_last("cuStreamSynchronize", true, 0);
	ok(cuStreamDestroy_v2(a));
	ok(cuStreamDestroy_v2(b));
}

static void legacy_work_comes_after_blocking_streams(void **state)
{
	CUstream blocking = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_NON_BLOCKING);

	(void)state;
	sim_fixture_launch(kernel, blocking);
	sim_fixture_launch(kernel, other);
	sim_fixture_launch(kernel, CU_STREAM_LEGACY);
	ok(cuStreamSynchronize(CU_STREAM_LEGACY));
	expect_last("cuStreamSynchronize", true, 2 * KERNEL_NS);
	ok(cuStreamSynchronize(blocking));
	expect_last("cuStreamSynchronize", false, 0);
	ok(cuStreamSynchronize(other));
	expect_last("cuStreamSynchronize", true, 0);
	/* The legacy stream may be empty: a wait for it covers the blocking streams all the same. */
	sim_fixture_launch(kernel, blocking);
	ok(cuStreamSynchronize(0));
	expect_last("cuStreamSynchronize", true, KERNEL_NS);
	ok(cuStreamSynchronize(blocking));
	expect_last("cuStreamSynchronize", false, 0);
	ok(cuStreamDestroy_v2(blocking));
	ok(cuStreamDestroy_v2(other));
}

static void blocking_streams_come_after_legacy_work(void **state)
{
	CUstream blocking = new_stream(CU_STREAM_DEFAULT);

	(void)state;
	sim_fixture_launch(kernel, 0);
	sim_fixture_launch(kernel, blocking);
	ok(cuStreamSynchronize(blocking));
	expect_last("cuStreamSynchronize", true, 2 * KERNEL_NS);
	ok(cuStreamSynchronize(0));
	expect_last("cuStreamSynchronize", false, 0);
	/* A legacy operation after the last one of the stream is not covered by a wait for the stream ... */
	sim_fixture_launch(kernel, 0);
	ok(cuStreamSynchronize(blocking));
	expect_last("cuStreamSynchronize", false, 0);
	/* ... but a copy on the stream would come after it. */
	CUdeviceptr ptr;
	char host;
	ok(cuMemAlloc_v2(&ptr, 1));
	ok(cuMemcpyDtoHAsync_v2(&host, ptr, 1, blocking));
	assert_true(ledger_last().is_pending);
	ok(cuStreamSynchronize(0));
	expect_last("cuStreamSynchronize", false, 0);
	ok(cuMemFree_v2(ptr));
	ok(cuStreamDestroy_v2(blocking));
}

static void events_carry_order_between_streams(void **state)
{
	CUstream a = new_stream(CU_STREAM_NON_BLOCKING), b = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent event;
	float ms;

	(void)state;
	ok(cuEventCreate(&event, CU_EVENT_DEFAULT));
	ok(cuEventSynchronize(event));
	expect_last("cuEventSynchronize", false, 0);
	ok(cuEventQuery(event));
	sim_fixture_launch(kernel, a);
	ok(cuEventRecord(event, a));
	sim_fixture_launch(kernel, a);
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuEventElapsedTime_v2(&ms, event, event), CUDA_ERROR_NOT_READY);
	ok(cuStreamWaitEvent(b, event, 0));
	sim_fixture_launch(kernel, b);
	ok(cuStreamSynchronize(b));
	expect_last("cuStreamSynchronize", true, 2 * KERNEL_NS);
	/* b came after the event: the event is certified; the launch behind it is not. */
	ok(cuEventSynchronize(event));
	expect_last("cuEventSynchronize", false, 0);
	ok(cuStreamSynchronize(a));
	expect_last("cuStreamSynchronize", true, 0);
	ok(cuEventDestroy_v2(event));
	assert_int_equal(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
	ok(cuStreamDestroy_v2(a));
	ok(cuStreamDestroy_v2(b));
}

static void elapsed_time_is_the_time_of_the_kernels(void **state)
{
	CUevent start, end;
	float ms;

	(void)state;
	ok(cuEventCreate(&start, CU_EVENT_DEFAULT));
	ok(cuEventCreate(&end, CU_EVENT_DEFAULT));
	sim_fixture_launch(kernel, 0);
	ok(cuEventRecord(start, 0));
	for (int i = 0; i < 5; i++)
		sim_fixture_launch(kernel, 0);
	ok(cuEventRecord(end, 0));
	ok(cuEventSynchronize(end));
	ok(cuEventElapsedTime_v2(&ms, start, end));
	assert_float_equal(ms, 5 * KERNEL_NS / 1e6f, 1e-6f);
	ok(cuEventDestroy_v2(start));
	ok(cuEventDestroy_v2(end));
}

static void device_wait_covers_everything_even_dead_streams(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr ptr;

	(void)state;
	ok(cuMemAlloc_v2(&ptr, 16));
	sim_fixture_launch(kernel, s);
	ok(cuStreamDestroy_v2(s));
	assert_int_equal(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
	/* A free waits for the device but proves nothing to anyone. */
	ok(cuMemFree_v2(ptr));
	expect_last("cuMemFree_v2", true, KERNEL_NS);
	ok(cuCtxSynchronize());
	expect_last("cuCtxSynchronize", true, 0);
	ok(cuCtxSynchronize());
	expect_last("cuCtxSynchronize", false, 0);
}

static void a_full_queue_blocks_the_launch(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	unsigned long before = ledger_count();

	(void)state;
	for (int i = 0; i < QUEUE_DEPTH; i++)
		sim_fixture_launch(kernel, s);
	assert_int_equal(ledger_count(), before);
	sim_fixture_launch(kernel, s);
	assert_int_equal(ledger_count(), before + 1);
	struct ledger_line line = ledger_last();
	assert_string_equal(line.class, "BACKPRESSURE");
	assert_string_equal(line.api, "cuLaunchKernel");
	assert_in_range(line.waited_ns, KERNEL_NS - 100, KERNEL_NS);
	/* Being blocked certifies nothing. */
	ok(cuStreamSynchronize(s));
	expect_last("cuStreamSynchronize", true, QUEUE_DEPTH * KERNEL_NS);
	ok(cuStreamDestroy_v2(s));
}

static unsigned n_host_calls;

static void count(void *data)
{
	CUdeviceptr ptr;

	assert_int_equal(n_host_calls, *(unsigned *)data);
	n_host_calls++;
	/* Host functions may not call CUDA. */
	assert_int_equal(cuMemAlloc_v2(&ptr, 16), CUDA_ERROR_NOT_PERMITTED);
}

static void called_back(CUstream stream, CUresult status, void *data)
{
	(void)stream;
	ok(status);
	count(data);
}

static void host_functions_run_in_order(void **state)
{
	CUstream s = new_stream(CU_STREAM_NON_BLOCKING);
	static unsigned expected[3] = { 0, 1, 2 };

	(void)state;
	sim_fixture_launch(kernel, s);
	ok(cuLaunchHostFunc(s, count, &expected[0]));
	ok(cuStreamAddCallback(s, called_back, &expected[1], 0));
	ok(cuLaunchHostFunc(s, count, &expected[2]));
	assert_int_equal(n_host_calls, 0);
	ok(cuStreamSynchronize(s));
	assert_int_equal(n_host_calls, 3);
	ok(cuStreamDestroy_v2(s));
}

static void add_one(const struct synctally_sim_launch *launch)
{
	int *value = synctally_sim_host_view(*(void **)launch->args[0]);
	int step = *(const int *)launch->args[1];

	*value += step * (int)(launch->grid[0] * launch->block[0]);
	*(int *)launch->user += 1;
}

static void kernels_with_a_host_function_compute(void **state)
{
	static int n_runs;
	const size_t arg_bytes[] = { sizeof(CUdeviceptr), sizeof(int) };
	struct synctally_sim_kernel desc = { .name = "add",
		                             .run = add_one,
		                             .user = &n_runs,
		                             .n_args = 2,
		                             .arg_bytes = arg_bytes,
		                             .device_ns = 3 * KERNEL_NS };
	CUdeviceptr ptr;
	int step = 5, value = 1;
	void *args[] = { &ptr, &step };

	(void)state;
	assert_int_equal(synctally_sim_register_kernel(&desc), 0);
	CUfunction add = sim_fixture_kernel("add");
	ok(cuMemAlloc_v2(&ptr, sizeof value));
	ok(cuMemcpyHtoD_v2(ptr, &value, sizeof value));
	ok(cuCtxSynchronize());
	ok(cuLaunchKernel(add, 2, 1, 1, 4, 1, 1, 0, 0, args, NULL));
	/* Arguments count as they were at the launch. */
	step = 100;
	assert_int_equal(n_runs, 0);
	ok(cuMemcpyDtoH_v2(&value, ptr, sizeof value));
	assert_int_equal(value, 1 + 5 * 8);
	assert_int_equal(n_runs, 1);
	assert_in_range(ledger_last().waited_ns, 3 * KERNEL_NS - 100, 3 * KERNEL_NS + 100);
	ok(cuMemFree_v2(ptr));
}

static void *use_own_stream(void *data)
{
	(void)data;
	ok(cuStreamSynchronize_ptsz(0));
	expect_last("cuStreamSynchronize_ptsz", false, 0);
	ok(cuLaunchKernel_ptsz(kernel, 1, 1, 1, 32, 1, 1, 0, 0, NULL, NULL));
	ok(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	expect_last("cuStreamSynchronize", true, KERNEL_NS);
	assert_string_equal(ledger_last().stream, "pt");
	return NULL;
}

static void each_thread_has_its_own_default_stream(void **state)
{
	pthread_t thread;

	(void)state;
	ok(cuLaunchKernel_ptsz(kernel, 1, 1, 1, 32, 1, 1, 0, 0, NULL, NULL));
	assert_int_equal(pthread_create(&thread, NULL, use_own_stream, NULL), 0);
	pthread_join(thread, NULL);
	/* Ours ran at the same time and is done, but nobody asked. It is a blocking stream: a legacy wait covers it. */
	ok(cuStreamSynchronize(0));
	expect_last("cuStreamSynchronize", true, 0);
	assert_string_equal(ledger_last().stream, "s0");
	ok(cuStreamSynchronize_ptsz(0));
	expect_last("cuStreamSynchronize_ptsz", false, 0);
}

#define TEST(function) cmocka_unit_test_setup(function, settle)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wait_lasts_as_long_as_the_work),        TEST(queries_certify_only_when_they_succeed),
		TEST(independent_streams_run_side_by_side),    TEST(legacy_work_comes_after_blocking_streams),
		TEST(blocking_streams_come_after_legacy_work), TEST(events_carry_order_between_streams),
		TEST(elapsed_time_is_the_time_of_the_kernels), TEST(device_wait_covers_everything_even_dead_streams),
		TEST(a_full_queue_blocks_the_launch),          TEST(host_functions_run_in_order),
		TEST(kernels_with_a_host_function_compute),    TEST(each_thread_has_its_own_default_stream),
	};

	sim_fixture_start(
		"clock=virtual,kernel_ns=10000,latency_ns=0,call_ns=1,launch_call_ns=1,wait_call_ns=1,queue_depth=16,"
		"host_func_ns=0,d2h_rate=1000000000,h2d_rate=1000000000");
	sim_fixture_context();
	kernel = sim_fixture_kernel("only takes time");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
