/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what the device is doing, and when it will be done
 *
 * When an operation ends is known when it is submitted. What it does to memory
 * happens later: the device catches up, in the order of completion, whenever
 * the program makes a call or waits. So bytes move when they would.
 */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/stream.h"

/*
 * What an operation does once complete; the first member of a larger struct,
 * allocated with malloc. The timeline owns it from sim_timeline_submit() on,
 * calls apply exactly once (or never, if cancelled), and frees it.
 */
struct sim_op {
	void (*apply)(struct sim_op *op); /* with the lock, unless is_unlocked */
	bool is_unlocked;                 /* runs code of the program */
	bool is_patient;                  /* may wait for other ranks (exchange.h): without the lock too */
	bool is_fetched;                  /* what is left to do is the host's to see */
	/*
	 * For operations that write to the host: takes what they read from the
	 * device, so that only the writing is left. Returns the operation, which
	 * may have moved. NULL: there is no such division.
	 */
	struct sim_op *(*fetch)(struct sim_op *op);
	uint64_t complete_ns;
	uint64_t number;     /* in the order of submission, which decides where times are equal */
	uintptr_t host_base; /* host memory it will touch, for sim_timeline_cancel() */
	size_t host_bytes;
};

/*
 * Appends an operation to the stream: it begins when all it is ordered after
 * is complete. op may be NULL: the operation then only takes time. Blocks while
 * the queue of the stream is full. CUDA_ERROR_OUT_OF_MEMORY submits nothing and
 * frees op. Lock held; let go while blocked.
 */
CUresult sim_timeline_submit(struct sim_stream *stream, uint64_t duration_ns, struct sim_op *op);

/* One of several things that an operation does, some time after it has begun. */
struct sim_effect {
	struct sim_op *op;
	uint64_t after_ns;
};

/*
 * Waits for room in the queue of the stream; then says when an operation
 * submitted now would begin, which stays true as long as the lock is held.
 * Lock as above.
 */
uint64_t sim_timeline_begin(struct sim_stream *stream);

/*
 * Submits an operation that begins then and does several things: in order of
 * time, and as listed where times are equal. CUDA_ERROR_OUT_OF_MEMORY submits
 * nothing; the effects are the timeline's in any case. Lock held.
 */
struct sim_span {
	uint64_t start_ns; /* not before what sim_timeline_begin() said */
	uint64_t duration_ns;
};
CUresult sim_timeline_submit_effects(struct sim_stream *stream, const struct sim_span *span,
                                     const struct sim_effect *effects, size_t n);

/* What no stream does, at a time to come. Without memory it is dropped. Lock held. */
void sim_timeline_add(struct sim_op *op, uint64_t complete_ns);

/* Runs code of the program that may make no API call, now. Lock not held. */
void sim_timeline_call_host_function(CUhostFn func, void *data);

/* Makes operations that come next to the stream begin no earlier than this. Lock held. */
void sim_timeline_delay(struct sim_stream *stream, uint64_t until_ns);

/* Holds the host until then and applies what is complete. The time is noted in the call's scope. Lock as above. */
void sim_timeline_wait(uint64_t until_ns);

/*
 * The same for when all of this is complete, of which until_ns is as much as
 * is known without it. Returns CUDA_SUCCESS, or the failure that the device has had.
 */
CUresult sim_timeline_wait_for(const struct sim_vector *covered, uint64_t until_ns);

/* The same for everything the device has to do. */
CUresult sim_timeline_wait_device(const struct sim_device *device);

/*
 * The device does all it has to do by then, whatever time it is for the
 * program: other ranks need what it gives. What the host would see of it waits
 * until its time, except what a host function does. Lock as above.
 */
void sim_timeline_run_ahead(uint64_t until_ns);

/* When the next operation completes, UINT64_MAX if there is none. Lock held. */
uint64_t sim_timeline_next(void);

/* For open.c: an operation's place in the order of its stream, its end possibly SIM_OPEN_NS; and its end, later. */
void sim_timeline_append(struct sim_stream *stream, uint64_t complete_ns);
void sim_timeline_settle(struct sim_stream *stream, uint64_t number, uint64_t complete_ns);

/* Applies what is complete by now, unless another thread is at it. Takes the lock only if there is something. */
void sim_timeline_catch_up(void);

/* The same with the lock held, and waits for another thread that is at it. Returns "now" of the answer. For queries. */
uint64_t sim_timeline_catch_up_locked(void);

/* Drops the effects of operations that would touch this host memory, which is about to go. Lock held. */
void sim_timeline_cancel(uintptr_t base, size_t bytes);

/* Completion time of the next host function, or of a kernel that has one; UINT64_MAX if none waits. Takes the lock. */
uint64_t sim_timeline_next_host_function(void);

/* True on a thread that is running a host function for the device: it may make no API call. */
bool sim_timeline_in_host_function(void);

#endif
