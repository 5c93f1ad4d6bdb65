/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one intercepted CUDA call, from entry to return
 *
 * A wrapper asks sy_call_begin; if it says no (we are off, or inside another
 * wrapped call of this thread, which is then the one that counts) it only
 * passes the call through. Otherwise it notes the facts, calls enter, the true
 * function, and leave. Nothing here fails, waits, or makes a CUDA call.
 */
#ifndef SY_INTERPOSER_CALL_H
#define SY_INTERPOSER_CALL_H

#include "api/api.h"
#include "interposer/compiler.h"
#include "interposer/work.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stdint.h>

struct sy_thread;

struct sy_call {
	/* the facts of the call, set by FACT_* */
	uint64_t stream; /* handle as passed; see sy_work_stream */
	uint64_t event;
	uint64_t dst, src; /* addresses; 0: none or not an address */
	uint64_t bytes;    /* size; height for a pitched allocation; flags or ordinal where no size is meant */
	void *out;         /* where the function stores what it creates */
	const size_t *out_pitch;
	uint8_t direction; /* enum sy_direction */
	/* filled by enter for leave */
	uint8_t class; /* enum sy_class */
	uint8_t src_memory, dst_memory;
	enum sy_api api;
	uint64_t begin_ticks; /* of a launch that is timed; 0: it is not */
	const void *caller;   /* return address in the code that called the wrapper */
	struct sy_thread *thread;
	struct sy_event *record; /* NULL: not recorded */
	struct sy_work_stream *on;
	struct sy_work_op op;       /* what this call submits */
	struct sy_work_cover cover; /* what its success proves complete */
};

/*
 * The calling thread's. Its run is in memory that a forked child finds zeroed
 * and may use anew; the salt, new for each thread of each process, makes a key
 * unlike those of whoever has it then.
 */
struct sy_call_own {
	struct sy_work_run *run; /* never NULL */
	uint64_t salt;
	int depth; /* its calls that are inside a wrapper now, but for a launch that goes the short way */
};
extern SY_TLS struct sy_call_own sy_call_own;

/* True: this call counts; enter and leave must follow. False: pass it through, then call sy_call_pass. */
bool sy_call_begin(struct sy_call *call, enum sy_api api, const void *caller);
void sy_call_enter(struct sy_call *call);
void sy_call_leave(struct sy_call *call, int status);

static inline void sy_call_pass(void)
{
	sy_call_own.depth--;
}

#endif
