/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_real_time.c - the real clock: waits last at least as long as the work, host functions need no call
 *
 * Nothing here fails because the machine is slow: only lower bounds are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <pthread.h>

#include "api/clock.h"
#include "tests/unit/sim_fixture.h"

#define KERNEL_NS 3000000u

uint64_t synctally_virtual_clock_ns(void);

static CUfunction kernel;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void a_wait_really_waits(void **state)
{
	(void)state;
	uint64_t start = now();
	sim_fixture_launch(kernel, 0);
	ok(cuStreamSynchronize(0));
	assert_true(now() - start >= KERNEL_NS);
	struct ledger_line line = ledger_last();
	assert_true(line.waited_ns <= line.leave_ns - line.enter_ns);
	assert_true(line.enter_ns >= start && line.leave_ns <= now());
	assert_int_equal(synctally_virtual_clock_ns(), 0);
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
	uint64_t at_ns;
} told = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

static void tell(void *data)
{
	(void)data;
	pthread_mutex_lock(&told.lock);
	told.is_done = true;
	told.at_ns = now();
	pthread_cond_signal(&told.done);
	pthread_mutex_unlock(&told.lock);
}

static void a_host_function_runs_without_a_call(void **state)
{
	(void)state;
	uint64_t start = now();
	sim_fixture_launch(kernel, 0);
	ok(cuLaunchHostFunc(0, tell, NULL));
	pthread_mutex_lock(&told.lock);
	while (!told.is_done)
		pthread_cond_wait(&told.done, &told.lock);
	pthread_mutex_unlock(&told.lock);
	assert_true(told.at_ns - start >= KERNEL_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_really_waits),
		cmocka_unit_test(a_host_function_runs_without_a_call),
	};

	sim_fixture_start("kernel_ns=3000000");
	sim_fixture_context();
	kernel = sim_fixture_kernel("only takes time");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
