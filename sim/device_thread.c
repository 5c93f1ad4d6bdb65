/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "sim/clock.h"
#include "sim/timeline.h"

enum {
	LOOK_NS = 1000000,    /* real time: how late a host function may be */
	STALLED_LOOKS = 2000, /* virtual time: looks without a call until the program must be waiting for the device */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Virtual time stands still while the program makes no call. If it waits for
 * a host function in that time, nobody but us can move the clock; two seconds
 * of standstill are no computation any test does.
 */
static void move_a_stalled_clock(uint64_t *last_now, unsigned *n_same)
{
	uint64_t now = sim_clock_now(), next = sim_timeline_next_host_function();

	*n_same = now == *last_now && next != UINT64_MAX ? *n_same + 1 : 0;
	*last_now = now;
	if (*n_same < STALLED_LOOKS)
		return;
	*n_same = 0;
	sim_clock_wait_until(next);
	sim_timeline_catch_up();
}

static void *run(void *unused)
{
	const struct timespec look = { 0, LOOK_NS };
	uint64_t last_now = 0;
	unsigned n_same = 0;

	for (;;) {
		nanosleep(&look, NULL);
		if (sim_clock_is_virtual())
			move_a_stalled_clock(&last_now, &n_same);
		else
			sim_timeline_catch_up();
	}
	return unused;
}

static void start(void)
{
	pthread_t thread;
	sigset_t all, before;

	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sim_device_thread_start(void)
{
	pthread_once(&once, start);
}
