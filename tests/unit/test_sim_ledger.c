/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_ledger.c - the ledger is the same in every run, and one line per outermost call */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

enum { N_CALLS = 3000, N_STREAMS = 4 };

static const char *self;
static char stub;

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

/* A seeded mixture of everything that is recorded. Runs in a process of its own. */
static void play(void)
{
	cudaStream_t streams[N_STREAMS] = { 0 };
	struct synctally_sim_kernel kernel = { .name = "k", .stub = &stub };
	cudaEvent_t event;
	void *device, *pinned;
	char host[64];
	dim3 one = { 1, 1, 1 };
	unsigned seed = 1;

	synctally_sim_register_kernel(&kernel);
	for (int i = 1; i < N_STREAMS; i++)
		cudaStreamCreateWithFlags(&streams[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault);
	cudaEventCreate(&event);
	cudaMalloc(&device, 4096);
	cudaMallocHost(&pinned, 4096);
	for (int i = 0; i < N_CALLS; i++) {
		cudaStream_t s = streams[next_random(&seed) % N_STREAMS];
		switch (next_random(&seed) % 9) {
		case 0:
		case 1:
		case 2:
			cudaLaunchKernel(&stub, one, one, NULL, 0, s);
			break;
		case 3:
			cudaMemcpyAsync(host, device, next_random(&seed) % 64, cudaMemcpyDeviceToHost, s);
			break;
		case 4:
			cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToDevice, s);
			break;
		case 5:
			cudaStreamSynchronize(s);
			break;
		case 6:
			cudaEventRecord(event, s);
			break;
		case 7:
			cudaEventSynchronize(event);
			break;
		case 8:
			cudaMemset(device, 0, 64);
			break;
		}
	}
	cudaDeviceSynchronize();
	cudaFree(device);
	cudaFreeHost(pinned);
}

static void run_child(char *path)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		setenv("SYNCTALLY_SIM_LEDGER", path, 1);
		execl(self, self, "play", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The line without its second column: the number of the thread is the kernel's choice. */
static bool next_line(FILE *file, char *line, size_t size)
{
	if (!fgets(line, (int)size, file))
		return false;
	char *tid = strchr(line, '\t');
	char *rest = tid ? strchr(tid + 1, '\t') : NULL;
	if (rest)
		memmove(tid, rest, strlen(rest) + 1);
	return true;
}

static void two_runs_write_the_same_ledger(void **state)
{
	char paths[2][64], lines[2][512];
	FILE *files[2];
	unsigned n = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof paths[i], "/tmp/synctally-twice-%ld-%d", (long)getpid(), i);
		run_child(paths[i]);
		files[i] = fopen(paths[i], "r");
		assert_non_null(files[i]);
	}
	while (next_line(files[0], lines[0], sizeof lines[0])) {
		assert_true(next_line(files[1], lines[1], sizeof lines[1]));
		assert_string_equal(lines[0], lines[1]);
		n++;
	}
	assert_false(next_line(files[1], lines[1], sizeof lines[1]));
	assert_true(n > N_CALLS / 3);
	for (int i = 0; i < 2; i++) {
		fclose(files[i]);
		unlink(paths[i]);
	}
}

static void a_runtime_call_is_one_line_in_its_own_name(void **state)
{
	void *device;
	int value = 0;

	(void)state;
	assert_int_equal(cudaMalloc(&device, 64), cudaSuccess);
	unsigned long before = ledger_count();
	assert_int_equal(cudaMemcpyAsync(device, &value, sizeof value, cudaMemcpyHostToDevice, 0), cudaSuccess);
	assert_int_equal(ledger_count(), before + 1);
	struct ledger_line line = ledger_last();
	assert_string_equal(line.api, "cudaMemcpyAsync");
	assert_string_equal(line.class, "COPY_ASYNC");
	assert_string_equal(line.stream, "s0");
	assert_int_equal(line.n, before + 1);
	assert_true(line.leave_ns > line.enter_ns);
	/* Calls that fail are lines too, with what they returned. */
	assert_int_equal(cudaMemcpyAsync(device, &value, 10000, cudaMemcpyHostToDevice, 0), cudaErrorInvalidValue);
	assert_int_equal(ledger_last().status, cudaErrorInvalidValue);
	assert_int_equal(cudaFree(device), cudaSuccess);
	assert_string_equal(ledger_last().class, "FREE_DEVICE");
	cudaGetLastError();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_runs_write_the_same_ledger),
		cmocka_unit_test(a_runtime_call_is_one_line_in_its_own_name),
	};

	self = argv[0];
	if (argc > 1) {
		play();
		return 0;
	}
	sim_fixture_start("clock=virtual");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
