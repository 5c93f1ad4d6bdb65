/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/sim_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char ledger_path[] = "/tmp/synctally-ledger-XXXXXX";

static void remove_ledger(void)
{
	unlink(ledger_path);
}

void sim_fixture_start(const char *settings)
{
	int fd = mkstemp(ledger_path);

	if (fd < 0) {
		perror("mkstemp");
		exit(1);
	}
	close(fd);
	atexit(remove_ledger);
	setenv("SYNCTALLY_SIM", settings, 1);
	setenv("SYNCTALLY_SIM_LEDGER", ledger_path, 1);
}

void sim_fixture_context(void)
{
	CUcontext context;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
}

static bool parse(const char *text, struct ledger_line *line)
{
	int is_pending;
	int n = sscanf(text,
	               "%lu\t%*s\t%63s\t%31s\t%15s\t%*s\t%" SCNu64 "\t%" SCNu64 "\t%" SCNu64 "\t%d\t%" SCNu64
	               "\t%15s\t%15s\t%d",
	               &line->n, line->api, line->class, line->stream, &line->enter_ns, &line->leave_ns,
	               &line->waited_ns, &is_pending, &line->bytes, line->source, line->destination, &line->status);

	line->is_pending = is_pending;
	return n == 12;
}

static unsigned long read_ledger(struct ledger_line *last)
{
	char text[512];
	unsigned long count = 0;
	FILE *file = fopen(ledger_path, "r");

	assert_non_null(file);
	while (fgets(text, sizeof text, file)) {
		if (text[0] < '0' || text[0] > '9')
			continue;
		assert_true(parse(text, last));
		count++;
	}
	fclose(file);
	return count;
}

struct ledger_line ledger_last(void)
{
	struct ledger_line last = { 0 };

	assert_true(read_ledger(&last) > 0);
	return last;
}

unsigned long ledger_count(void)
{
	struct ledger_line last;

	return read_ledger(&last);
}

void sim_fixture_ok(CUresult result, const char *call, const char *file, int line)
{
	const char *text = NULL;

	if (result == CUDA_SUCCESS)
		return;
	cuGetErrorString(result, &text);
	print_error("%s: %d %s\n", call, (int)result, text ? text : "");
	_fail(file, line);
}

CUfunction sim_fixture_kernel(const char *name)
{
	static CUmodule module;
	CUfunction function;

	if (!module)
		ok(cuModuleLoadData(&module, "image"));
	ok(cuModuleGetFunction(&function, module, name));
	return function;
}

void sim_fixture_launch(CUfunction kernel, CUstream stream)
{
	ok(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}
