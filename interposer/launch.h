/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - the short way of a launch
 *
 * The launches of a thread on one stream, one after another, are counted in
 * its run (work.h) and get no number: that is a few stores to memory that
 * nobody else writes. A jump past us could be had for less, but would not tell
 * when the launch had returned, nor whether it had failed, and the account of
 * outstanding work is to be exact. Everything else takes the way of call.h,
 * which opens the run.
 *
 * The queue of a stream is finite (R14), and a launch into a full one is held
 * until there is room. Where a thread has launched SY_LAUNCH_DEEP times and
 * nothing of it is known to be complete, the host is far ahead, and time costs
 * it nothing: then launches are timed, and one that takes several times as long
 * as the shortest is recorded, as an event of its function.
 */
#ifndef SY_INTERPOSER_LAUNCH_H
#define SY_INTERPOSER_LAUNCH_H

#include "interposer/call.h"
#include "interposer/compiler.h"
#include "interposer/work.h"

#include <stdbool.h>
#include <stdint.h>

#define SY_LAUNCH_DEEP 256u /* a quarter of what a queue is known to hold */

struct sy_state;
struct sy_thread;

/* Is the calling thread inside a launch that went the short way? */
static inline bool sy_launch_is_inside(void)
{
	const struct sy_work_run *run = sy_call_own.run;

	return __atomic_load_n(&run->returned, __ATOMIC_RELAXED) != __atomic_load_n(&run->started, __ATOMIC_RELAXED);
}

/* Begins a launch; `zero` is what stream 0 means in the spelling, where it is not itself. NULL: it goes the long way. */
static inline struct sy_work_run *sy_launch_begin(uint64_t stream, uint64_t zero)
{
	struct sy_work_run *run = sy_call_own.run;
	uint64_t key = (stream ? stream : zero) + sy_call_own.salt, n = run->started;

	/* Before the key: a run that is not open has neither started nor returned. */
	if (SY_UNLIKELY(__atomic_load_n(&run->key, __ATOMIC_RELAXED) != key || run->returned != n ||
	                n >= run->watch_from || sy_call_own.depth))
		return NULL;
	__atomic_store_n(&run->started, n + 1, __ATOMIC_RELEASE);
	return run;
}

/* The launch has failed: it submitted nothing. */
void sy_launch_failed(struct sy_work_run *run);

static inline void sy_launch_end(struct sy_work_run *run, bool has_failed)
{
	if (SY_UNLIKELY(has_failed))
		sy_launch_failed(run);
	__atomic_store_n(&run->returned, run->started, __ATOMIC_RELEASE);
}

/*
 * For a launch that sy_launch_begin has refused: whether that was only because
 * it is to be timed. Otherwise it goes the long way.
 */
struct sy_launch_watch {
	struct sy_work_run *run; /* NULL: the launch goes the long way */
	uint64_t begin_ticks;    /* 0: it need not be timed */
};
struct sy_launch_watch sy_launch_watch_begin(uint64_t stream, uint64_t zero);
void sy_launch_watch_end(const struct sy_launch_watch *watch, enum sy_api api, const void *caller, bool has_failed);

/* The same for one that goes the long way: before it, and after it if there is something in begin_ticks. */
void sy_launch_long_begin(struct sy_call *call);
void sy_launch_long_end(const struct sy_call *call);

/* Called in the thread that begins and that ends. */
void sy_launch_begin_thread(struct sy_thread *thread);
void sy_launch_end_thread(struct sy_thread *thread);

/* A launch that went the long way has succeeded: counts it, and has the next one on its stream go the short way. */
void sy_launch_done(const struct sy_call *call);

/* What the stream handles mean to the calling thread has changed: the next launch goes the long way. */
void sy_launch_forget(const struct sy_thread *thread);

/* Launches by all threads so far. */
uint64_t sy_launch_count(const struct sy_state *state);

#endif
