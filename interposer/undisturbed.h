/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undisturbed.h - what the program must not notice of our slow paths
 *
 * errno; and that they make system calls at which a pending pthread_cancel()
 * acts, which would end the thread in our midst, perhaps with a lock held.
 */
#ifndef SY_INTERPOSER_UNDISTURBED_H
#define SY_INTERPOSER_UNDISTURBED_H

#include <errno.h>
#include <pthread.h>

struct sy_undisturbed {
	int error;
	int cancel_state;
};

static inline void sy_undisturbed_begin(struct sy_undisturbed *saved)
{
	saved->error = errno;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved->cancel_state);
}

static inline void sy_undisturbed_end(const struct sy_undisturbed *saved)
{
	int ignored;

	(void)pthread_setcancelstate(saved->cancel_state, &ignored);
	errno = saved->error;
}

#endif
