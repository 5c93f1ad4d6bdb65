/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_devices.c - several devices: which there are, what belongs to one, what may cross
 *
 * The machine has four, CUDA_VISIBLE_DEVICES shows the last and the first. A
 * kernel takes 10 us, a call 1 ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

#define KERNEL_NS 10000u
#define MIB ((size_t)1 << 20)

static CUcontext contexts[2];
static CUfunction kernel;

static void use(int ordinal)
{
	ok(cuCtxSetCurrent(contexts[ordinal]));
}

static int settle(void **state)
{
	(void)state;
	for (int i = 1; i >= 0; i--) {
		use(i);
		ok(cuCtxSynchronize());
	}
	return 0;
}

static void visible_devices_are_chosen_and_ordered(void **state)
{
	char text[32];
	CUdevice found;
	CUuuid first, second;
	int n, value;

	(void)state;
	ok(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
	ok(cuDeviceGetPCIBusId(text, sizeof text, 0));
	assert_string_equal(text, "0000:04:00.0");
	ok(cuDeviceGetPCIBusId(text, sizeof text, 1));
	assert_string_equal(text, "0000:01:00.0");
	ok(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
	assert_int_equal(value, 4);
	ok(cuDeviceGetByPCIBusId(&found, "0000:01:00.0"));
	assert_int_equal(found, 1);
	assert_int_equal(cuDeviceGetByPCIBusId(&found, "0000:02:00.0"), CUDA_ERROR_INVALID_VALUE);
	ok(cuDeviceGetUuid_v2(&first, 0));
	ok(cuDeviceGetUuid_v2(&second, 1));
	assert_memory_not_equal(&first, &second, sizeof first);
	assert_int_equal(cuDeviceGet(&found, 2), CUDA_ERROR_INVALID_DEVICE);
}

static void memory_belongs_to_the_current_device(void **state)
{
	size_t before[2], after[2], total;
	CUdeviceptr ptr[2];
	int ordinal;

	(void)state;
	for (int i = 0; i < 2; i++) {
		use(i);
		ok(cuMemGetInfo_v2(&before[i], &total));
	}
	use(1);
	ok(cuMemAlloc_v2(&ptr[1], 2 * MIB));
	use(0);
	ok(cuMemAlloc_v2(&ptr[0], 4 * MIB));
	for (int i = 0; i < 2; i++) {
		use(i);
		ok(cuMemGetInfo_v2(&after[i], &total));
		ok(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr[i] + 100));
		assert_int_equal(ordinal, i);
	}
	assert_int_equal(before[0] - after[0], 4 * MIB);
	assert_int_equal(before[1] - after[1], 2 * MIB);
	/* Freed from wherever. */
	use(0);
	ok(cuMemFree_v2(ptr[1]));
	ok(cuMemFree_v2(ptr[0]));
}

static void a_device_does_not_wait_for_another(void **state)
{
	struct ledger_line line;

	(void)state;
	use(1);
	sim_fixture_launch(kernel, NULL);
	use(0);
	ok(cuCtxSynchronize());
	line = ledger_last();
	assert_int_equal(line.waited_ns, 0);
	assert_false(line.is_pending);
	ok(cuStreamSynchronize(NULL));
	assert_string_equal(ledger_last().stream, "s0");
	assert_int_equal(ledger_last().waited_ns, 0);
	use(1);
	ok(cuStreamSynchronize(NULL));
	line = ledger_last();
	assert_string_equal(line.stream, "d1.s0");
	assert_true(line.is_pending);
	assert_true(line.waited_ns > KERNEL_NS / 2);
}

/* CUDA programming guide, "Multi-Device System": what a stream or event of another device allows. */
static void what_may_cross(void **state)
{
	CUstream stream[2];
	CUevent event[2];
	CUdeviceptr ptr;
	float ms;

	(void)state;
	for (int i = 0; i < 2; i++) {
		use(i);
		ok(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
		ok(cuEventCreate(&event[i], CU_EVENT_DEFAULT));
		ok(cuEventRecord(event[i], stream[i]));
	}
	use(0);
	ok(cuMemAlloc_v2(&ptr, 64));
	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream[1], NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	ok(cuMemsetD8Async(ptr, 1, 64, stream[1]));
	assert_int_equal(cuEventRecord(event[0], stream[1]), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(cuEventElapsedTime(&ms, event[0], event[1]), CUDA_ERROR_INVALID_HANDLE);
	ok(cuEventSynchronize(event[1]));
	ok(cuEventQuery(event[1]));
	ok(cuStreamWaitEvent(stream[0], event[1], 0));
	ok(cuStreamSynchronize(stream[1]));
	ok(cuMemFree_v2(ptr));
	for (int i = 0; i < 2; i++) {
		ok(cuStreamDestroy_v2(stream[i]));
		ok(cuEventDestroy_v2(event[i]));
	}
}

static void an_event_orders_across_devices(void **state)
{
	CUstream stream[2];
	CUevent event;
	struct ledger_line line;

	(void)state;
	for (int i = 0; i < 2; i++) {
		use(i);
		ok(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
	}
	ok(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	sim_fixture_launch(kernel, stream[1]);
	ok(cuEventRecord(event, stream[1]));
	use(0);
	ok(cuStreamWaitEvent(stream[0], event, 0));
	ok(cuStreamSynchronize(stream[0]));
	line = ledger_last();
	assert_true(line.waited_ns > KERNEL_NS / 2);
	/* What that wait proved it proved of the other device's stream too. */
	ok(cuStreamSynchronize(stream[1]));
	line = ledger_last();
	assert_int_equal(line.waited_ns, 0);
	ok(cuEventDestroy_v2(event));
	for (int i = 0; i < 2; i++)
		ok(cuStreamDestroy_v2(stream[i]));
}

static void peers_copy(void **state)
{
	CUdeviceptr ptr[2];
	struct ledger_line line;
	int in = 1234, out = 0, can = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		use(i);
		ok(cuMemAlloc_v2(&ptr[i], MIB));
	}
	use(0);
	ok(cuMemcpyHtoD_v2(ptr[0], &in, sizeof in));
	ok(cuDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 1);
	ok(cuDeviceCanAccessPeer(&can, 0, 0));
	assert_int_equal(can, 0);
	/* It begins after what the other device has to do, and the host does not wait. */
	use(1);
	sim_fixture_launch(kernel, NULL);
	use(0);
	uint64_t before = synctally_sim_now();
	ok(cuMemcpyPeer(ptr[1], contexts[1], ptr[0], contexts[0], MIB));
	assert_true(synctally_sim_now() - before < 100);
	ok(cuStreamSynchronize(NULL));
	line = ledger_last();
	/* The kernel, and 1 MiB at 20 GB/s. */
	assert_true(line.waited_ns > KERNEL_NS + 52000);
	use(1);
	ok(cuMemcpyDtoH_v2(&out, ptr[1], sizeof out));
	assert_int_equal(out, 1234);
	/* And what comes on the other device comes after. */
	use(0);
	ok(cuMemcpyPeer(ptr[1], contexts[1], ptr[0], contexts[0], MIB));
	use(1);
	sim_fixture_launch(kernel, NULL);
	ok(cuStreamSynchronize(NULL));
	assert_true(ledger_last().waited_ns > KERNEL_NS + 52000);
	ok(cuMemFree_v2(ptr[0]));
	ok(cuMemFree_v2(ptr[1]));
}

static void peer_access_is_given_once(void **state)
{
	(void)state;
	use(0);
	assert_int_equal(cuCtxDisablePeerAccess(contexts[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	ok(cuCtxEnablePeerAccess(contexts[1], 0));
	assert_int_equal(cuCtxEnablePeerAccess(contexts[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	ok(cuCtxDisablePeerAccess(contexts[1]));
	assert_int_equal(cuCtxEnablePeerAccess(contexts[0], 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void *thread_with_second(void *unused)
{
	CUdevice device;
	CUstream own = CU_STREAM_PER_THREAD;

	use(1);
	ok(cuCtxGetDevice(&device));
	assert_int_equal(device, 1);
	sim_fixture_launch(kernel, own);
	ok(cuStreamSynchronize(own));
	assert_string_equal(ledger_last().stream, "d1.pt");
	return unused;
}

static void each_thread_has_its_own_choice(void **state)
{
	pthread_t thread;
	CUdevice device;

	(void)state;
	use(0);
	assert_int_equal(pthread_create(&thread, NULL, thread_with_second, NULL), 0);
	pthread_join(thread, NULL);
	ok(cuCtxGetDevice(&device));
	assert_int_equal(device, 0);
	ok(cuCtxPushCurrent_v2(contexts[1]));
	ok(cuCtxGetDevice(&device));
	assert_int_equal(device, 1);
	ok(cuCtxPopCurrent_v2(NULL));
	ok(cuCtxGetDevice(&device));
	assert_int_equal(device, 0);
}

static void a_reset_leaves_the_other_device_alone(void **state)
{
	CUdeviceptr ptr[2];
	int value = 5;

	(void)state;
	for (int i = 0; i < 2; i++) {
		use(i);
		ok(cuMemAlloc_v2(&ptr[i], 64));
	}
	ok(cuDevicePrimaryCtxReset_v2(1));
	assert_int_equal(cuMemcpyHtoD_v2(ptr[1], &value, sizeof value), CUDA_ERROR_INVALID_VALUE);
	use(0);
	ok(cuMemcpyHtoD_v2(ptr[0], &value, sizeof value));
	ok(cuMemFree_v2(ptr[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(visible_devices_are_chosen_and_ordered),
		cmocka_unit_test(memory_belongs_to_the_current_device),
		cmocka_unit_test_setup(a_device_does_not_wait_for_another, settle),
		cmocka_unit_test_setup(what_may_cross, settle),
		cmocka_unit_test_setup(an_event_orders_across_devices, settle),
		cmocka_unit_test_setup(peers_copy, settle),
		cmocka_unit_test(peer_access_is_given_once),
		cmocka_unit_test_setup(each_thread_has_its_own_choice, settle),
		cmocka_unit_test_setup(a_reset_leaves_the_other_device_alone, settle),
	};

	setenv("CUDA_VISIBLE_DEVICES", "3, 0", 1);
	sim_fixture_start(
		"clock=virtual,devices=4,kernel_ns=10000,latency_ns=0,call_ns=1,launch_call_ns=1,"
		"wait_call_ns=1,readback=stale");
	sim_fixture_context();
	for (int i = 0; i < 2; i++)
		ok(cuDevicePrimaryCtxRetain(&contexts[i], i));
	use(0);
	kernel = sim_fixture_kernel("work");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
