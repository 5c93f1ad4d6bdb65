/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/lock.h"

#include <pthread.h>

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
