/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - everything the interposer knows about this process
 *
 * One sparse mapping that the kernel hands to a forked child zeroed
 * (MADV_WIPEONFORK): the child starts as a new process of its own, cannot write
 * into its parent's trace and holds no lock of its parent's.
 */
#ifndef SY_INTERPOSER_STATE_H
#define SY_INTERPOSER_STATE_H

#include "interposer/coverage.h"
#include "interposer/memory.h"
#include "interposer/thread.h"
#include "interposer/work.h"
#include "trace/writer.h"

#include <pthread.h>
#include <stdint.h>

enum sy_phase {
	SY_PHASE_FRESH = 0, /* no CUDA call yet (also a forked child) */
	SY_PHASE_TRACING,
	SY_PHASE_STOPPED /* the trace could not be written (any more); events are counted as discarded */
};

struct sy_state {
	uint32_t phase;          /* atomic; enum sy_phase */
	uint32_t n_streams;      /* atomic; stream definitions written */
	uint32_t n_steppers;     /* atomic; things that ended steps so far */
	uint32_t n_thread_slots; /* atomic */
	uint64_t n_steps;        /* atomic */
	uint32_t step_source;    /* enum sy_step_source noted in the trace; under the mutex */
	pthread_mutex_t mutex;   /* start of the trace, birth and end of threads, process definitions */
	struct sy_writer writer;
	struct sy_coverage coverage;
	struct sy_thread threads[SY_MAX_THREADS];
	struct sy_work work;
	struct sy_memory_map memory;
};

/* NULL while the library is switched off. Set once, before main. */
extern struct sy_state *sy_state;

/* Maps the state. Returns an errno value, 0 for success. Before main, one thread. */
int sy_state_create(void);

/* Starts the trace of this process if that has not been tried. True: events can be recorded. */
bool sy_state_start(struct sy_state *state);

/* Recording is over, for the reason given; said once. */
void sy_state_stop(struct sy_state *state, const char *what, int error);

/* Counts an event that could not be recorded, where there is a trace to count it in. */
void sy_state_discard(struct sy_state *state);

/* A process definition of later than the start, such as which source of steps was found. */
void sy_state_note(struct sy_state *state, const char *key, const char *value);

#endif
