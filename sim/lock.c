/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/lock.h"

#include <pthread.h>
#include <time.h>

#define NS_PER_S 1000000000u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void sim_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

void sim_lock_wait(void)
{
	pthread_cond_wait(&changed, &mutex);
}

void sim_lock_wake(void)
{
	pthread_cond_broadcast(&changed);
}

bool sim_lock_wait_until(uint64_t until_ns)
{
	struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };

	return pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &until) == 0;
}
