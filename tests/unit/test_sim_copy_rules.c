/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_copy_rules.c - does the host wait, and what is certified: a table of copies and sets
 *
 * Before each row a kernel runs on the stream of the copy (the legacy stream
 * for synchronous forms). Rule numbers: docs/SYNC-RULES.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sim_fixture.h"

#define KERNEL_NS 1000000u
#define LARGE ((size_t)256 << 10)

enum memory { PAGEABLE, PINNED, DEVICE, OTHER_DEVICE, OTHER_PAGEABLE, N_MEMORY };
static CUdeviceptr address[N_MEMORY];
static CUfunction kernel;
static CUstream stream;

enum form { SYNC, ASYNC, SET_SYNC, SET_ASYNC };

static const struct row {
	const char *rule;
	enum form form;
	enum memory from, to;
	size_t bytes;
	bool waits;            /* for the kernel before it */
	bool certifies_before; /* the kernel */
	bool certifies_itself;
} rows[] = {
	{ "R1 small", SYNC, PAGEABLE, DEVICE, 4, true, true, false },
	{ "R1 large", SYNC, PAGEABLE, DEVICE, LARGE, true, true, false },
	{ "R2", SYNC, PINNED, DEVICE, 4, true, true, true },
	{ "R3 pageable", SYNC, DEVICE, PAGEABLE, 4, true, true, true },
	{ "R3 pinned", SYNC, DEVICE, PINNED, 4, true, true, true },
	{ "R4", SYNC, DEVICE, OTHER_DEVICE, 4, false, false, false },
	{ "R5", SYNC, PAGEABLE, OTHER_PAGEABLE, 4, true, true, true },
	{ "R6a small", ASYNC, DEVICE, PAGEABLE, 4, true, true, true },
	{ "R6a large", ASYNC, DEVICE, PAGEABLE, LARGE, true, true, true },
	{ "R6b, R7 at the limit", ASYNC, PAGEABLE, DEVICE, 65536, false, false, false },
	{ "R6b, R7 above: held, but no document promises it", ASYNC, PAGEABLE, DEVICE, 65537, true, false, false },
	{ "R8", ASYNC, PAGEABLE, PINNED, 4, true, true, true },
	{ "R9 up", ASYNC, PINNED, DEVICE, LARGE, false, false, false },
	{ "R9 down", ASYNC, DEVICE, PINNED, LARGE, false, false, false },
	{ "R9 inside", ASYNC, DEVICE, OTHER_DEVICE, 4, false, false, false },
	{ "R12 device", SET_SYNC, DEVICE, DEVICE, 4, false, false, false },
	{ "R12 pinned", SET_SYNC, PINNED, PINNED, 4, true, true, true },
	{ "R13 pinned", SET_ASYNC, PINNED, PINNED, 4, false, false, false },
};

static void call(const struct row *row)
{
	switch (row->form) {
	case SYNC:
		ok(cuMemcpy(address[row->to], address[row->from], row->bytes));
		break;
	case ASYNC:
		ok(cuMemcpyAsync(address[row->to], address[row->from], row->bytes, stream));
		break;
	case SET_SYNC:
		ok(cuMemsetD8_v2(address[row->to], 1, row->bytes));
		break;
	case SET_ASYNC:
		ok(cuMemsetD8Async(address[row->to], 1, row->bytes, stream));
		break;
	}
}

static void check(const struct row *row)
{
	CUevent before;
	bool is_sync = row->form == SYNC || row->form == SET_SYNC;
	CUstream s = is_sync ? 0 : stream;

	print_message("           %s\n", row->rule);
	ok(cuCtxSynchronize());
	ok(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
	sim_fixture_launch(kernel, s);
	ok(cuEventRecord(before, s));
	call(row);
	struct ledger_line line = ledger_last();
	assert_true(line.is_pending);
	assert_int_equal(line.bytes, row->bytes);
	if (row->waits)
		assert_in_range(line.waited_ns, KERNEL_NS / 2, 3 * KERNEL_NS);
	else
		assert_int_equal(line.waited_ns, 0);
	ok(cuEventSynchronize(before));
	assert_int_equal(ledger_last().is_pending, !row->certifies_before);
	ok(cuStreamSynchronize(s));
	assert_int_equal(ledger_last().is_pending, !row->certifies_itself);
	ok(cuEventDestroy_v2(before));
}

static void every_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check(&rows[i]);
}

static void kinds_are_noted(void **state)
{
	(void)state;
	ok(cuMemcpyAsync(address[DEVICE], address[PINNED], 4, stream));
	struct ledger_line line = ledger_last();
	assert_string_equal(line.source, "pinned");
	assert_string_equal(line.destination, "device");
	ok(cuMemcpyDtoH_v2((void *)address[PAGEABLE], address[DEVICE], 4));
	line = ledger_last();
	assert_string_equal(line.class, "COPY_SYNC");
	assert_string_equal(line.source, "device");
	assert_string_equal(line.destination, "pageable");
}

int main(void)
{
	static char pageable[2][LARGE];
	void *pinned;
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_row), cmocka_unit_test(kinds_are_noted) };

	sim_fixture_start("clock=virtual,kernel_ns=1000000,call_ns=1,launch_call_ns=1");
	sim_fixture_context();
	kernel = sim_fixture_kernel("only takes time");
	ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ok(cuMemAllocHost_v2(&pinned, LARGE));
	ok(cuMemAlloc_v2(&address[DEVICE], LARGE));
	ok(cuMemAlloc_v2(&address[OTHER_DEVICE], LARGE));
	address[PAGEABLE] = (CUdeviceptr)pageable[0];
	address[OTHER_PAGEABLE] = (CUdeviceptr)pageable[1];
	address[PINNED] = (CUdeviceptr)pinned;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
