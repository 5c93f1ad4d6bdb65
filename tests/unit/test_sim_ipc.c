/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_ipc.c - memory and events that two processes share
 *
 * The process forks before it starts the device: parent and child are then
 * strangers. The child exports, the parent imports; they speak over pipes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/sim_fixture.h"

enum { N_WORDS = 1000 };

static int to_child[2], to_parent[2];
static pid_t child;

struct offer {
	CUipcMemHandle memory;
	CUipcEventHandle event;
	CUdeviceptr address;
};

static void send_bytes(int fd, const void *bytes, size_t n)
{
	if (write(fd, bytes, n) != (ssize_t)n)
		_exit(90);
}

static void receive_bytes(int fd, void *bytes, size_t n)
{
	if (read(fd, bytes, n) != (ssize_t)n)
		_exit(91);
}

/* Exports a block that a copy still on its way fills, waits for word, and looks whether it was changed. */
static int run_child(void)
{
	static unsigned words[N_WORDS];
	struct offer offer;
	CUstream stream;
	CUevent event;
	unsigned *pinned;
	char word;

	sim_fixture_context();
	ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ok(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	ok(cuMemAlloc_v2(&offer.address, sizeof words));
	ok(cuMemHostAlloc((void **)&pinned, sizeof words, 0));
	for (unsigned i = 0; i < N_WORDS; i++)
		pinned[i] = i;
	ok(cuIpcGetMemHandle(&offer.memory, offer.address));
	ok(cuIpcGetEventHandle(&offer.event, event));
	sim_fixture_launch(sim_fixture_kernel("long"), stream);
	ok(cuMemcpyHtoDAsync_v2(offer.address, pinned, sizeof words, stream));
	ok(cuEventRecord(event, stream));
	/* From here on this process makes no call until the other has read. */
	send_bytes(to_parent[1], &offer, sizeof offer);
	receive_bytes(to_child[0], &word, 1);
	ok(cuMemcpyDtoH_v2(words, offer.address, sizeof words));
	for (unsigned i = 0; i < N_WORDS; i++)
		if (words[i] != i + 7)
			return 1;
	return 0;
}

static struct offer offer;

static void bytes_are_there_once_the_event_is(void **state)
{
	static unsigned words[N_WORDS];
	CUdeviceptr address;
	CUstream stream;
	CUevent event;

	(void)state;
	ok(cuIpcOpenMemHandle_v2(&address, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	ok(cuIpcOpenEventHandle(&event, offer.event));
	ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ok(cuStreamWaitEvent(stream, event, 0));
	ok(cuMemcpyDtoHAsync_v2(words, address, sizeof words, stream));
	/* A kernel of 10 us goes before, on the other side's clock, which began when ours did. */
	assert_true(ledger_last().waited_ns > 5000);
	for (unsigned i = 0; i < N_WORDS; i++)
		assert_int_equal(words[i], i);
	ok(cuEventSynchronize(event));
	ok(cuEventQuery(event));
	/* Not a byte beyond the block. */
	assert_int_equal(cuMemcpyDtoH_v2(words, address + 4096, 4096), CUDA_ERROR_INVALID_VALUE);
	for (unsigned i = 0; i < N_WORDS; i++)
		words[i] = i + 7;
	ok(cuMemcpyHtoD_v2(address, words, sizeof words));
	ok(cuCtxSynchronize());
	assert_int_equal(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
	ok(cuIpcCloseMemHandle(address));
	assert_int_equal(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemcpyDtoH_v2(words, address, 4), CUDA_ERROR_INVALID_VALUE);
	ok(cuEventDestroy_v2(event));
	ok(cuStreamDestroy_v2(stream));
}

static void the_exporter_saw_the_change_and_its_handle_dies_with_it(void **state)
{
	CUdeviceptr address;
	int status;

	(void)state;
	send_bytes(to_child[1], "", 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(cuIpcOpenMemHandle_v2(&address, offer.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	                 CUDA_ERROR_INVALID_VALUE);
}

static void what_makes_no_sense_is_refused(void **state)
{
	CUipcMemHandle memory, nonsense;
	CUipcEventHandle handle;
	CUdeviceptr address, own, ordered;
	CUevent event;

	(void)state;
	memset(&nonsense, 7, sizeof nonsense);
	assert_int_equal(cuIpcOpenMemHandle_v2(&address, nonsense, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	                 CUDA_ERROR_INVALID_VALUE);
	ok(cuMemAlloc_v2(&own, 4096));
	ok(cuIpcGetMemHandle(&memory, own));
	assert_int_equal(cuIpcOpenMemHandle_v2(&address, memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	                 CUDA_ERROR_INVALID_CONTEXT);
	ok(cuMemFree_v2(own));
	assert_int_equal(cuIpcGetMemHandle(&memory, own), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemAllocAsync(&ordered, 4096, NULL));
	assert_int_equal(cuIpcGetMemHandle(&memory, ordered), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFreeAsync(ordered, NULL));
	ok(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	assert_int_equal(cuIpcGetEventHandle(&handle, event), CUDA_ERROR_INVALID_HANDLE);
	ok(cuEventDestroy_v2(event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_there_once_the_event_is),
		cmocka_unit_test(the_exporter_saw_the_change_and_its_handle_dies_with_it),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	if (pipe(to_child) != 0 || pipe(to_parent) != 0)
		return 1;
	child = fork();
	sim_fixture_start("clock=virtual,kernel_ns=10000,readback=stale");
	if (child == 0)
		return run_child();
	receive_bytes(to_parent[0], &offer, sizeof offer);
	sim_fixture_context();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
