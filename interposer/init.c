/* SPDX-License-Identifier: Apache-2.0 */
/* init.c - what happens before main and after it */
#include "interposer/clock.h"
#include "interposer/config.h"
#include "interposer/dl.h"
#include "interposer/follow.h"
#include "interposer/log.h"
#include "interposer/out.h"
#include "interposer/real.h"
#include "interposer/runtimes.h"
#include "interposer/state.h"
#include "interposer/step.h"

#include <errno.h>

__attribute__((constructor)) static void begin(void)
{
	int saved_errno = errno;
	int error;

	if (!sy_real_dlsym)
		sy_dl_init();
	sy_log_init();
	sy_config_read();
	sy_follow_init(sy_config.follows_all);
	if (sy_config.is_active) {
		sy_real_keep_loaded();
		sy_runtimes_init();
		sy_out_init();
		sy_clock_find();
		error = sy_thread_init();
		if (!error)
			error = sy_state_create();
		if (error)
			sy_log("switched off: ", sy_log_reason(error));
		else
			sy_step_watch_python();
	}
	errno = saved_errno;
}

/*
 * Only a courtesy to readers: a trace is complete without it. Not run by _exit,
 * abort or a signal; then the state stays "running".
 */
__attribute__((destructor)) static void end(void)
{
	struct sy_state *state = sy_state;

	if (state && __atomic_load_n(&state->phase, __ATOMIC_ACQUIRE) == SY_PHASE_TRACING) {
		sy_coverage_end(state);
		__atomic_store_n(&state->writer.header->state, SY_STATE_ENDED, __ATOMIC_RELAXED);
	}
}
