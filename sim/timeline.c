/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/timeline.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "sim/clock.h"
#include "sim/knobs.h"
#include "sim/lock.h"
#include "sim/scope.h"

static struct {
	struct sim_op **heap; /* earliest completion first; ties in order of submission */
	size_t n;
	size_t capacity;
	uint64_t n_pushed;
	bool is_applying;         /* a thread runs a host function with the lock let go */
	uint64_t applying_ns;     /* completion time of that function */
	_Atomic uint64_t next_ns; /* completion of heap[0]; readable without the lock */
} timeline = { .next_ns = UINT64_MAX };

static __thread bool in_host_function;

static bool is_before(const struct sim_op *a, const struct sim_op *b)
{
	return a->complete_ns < b->complete_ns || (a->complete_ns == b->complete_ns && a->number < b->number);
}

static void note_next(void)
{
	uint64_t next = timeline.n ? timeline.heap[0]->complete_ns : UINT64_MAX;

	atomic_store_explicit(&timeline.next_ns, next, memory_order_relaxed);
}

static bool reserve(size_t n)
{
	if (n <= timeline.capacity - timeline.n)
		return true;
	size_t capacity = timeline.capacity ? 2 * timeline.capacity : 256;
	while (capacity - timeline.n < n)
		capacity *= 2;
	struct sim_op **heap = realloc(timeline.heap, capacity * sizeof(*heap));
	if (!heap)
		return false;
	timeline.heap = heap;
	timeline.capacity = capacity;
	return true;
}

static void sift_up(size_t i)
{
	struct sim_op *op = timeline.heap[i];

	while (i > 0 && is_before(op, timeline.heap[(i - 1) / 2])) {
		timeline.heap[i] = timeline.heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	timeline.heap[i] = op;
}

static void sift_down(size_t i)
{
	struct sim_op *op = timeline.heap[i];

	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= timeline.n)
			break;
		if (child + 1 < timeline.n && is_before(timeline.heap[child + 1], timeline.heap[child]))
			child++;
		if (!is_before(timeline.heap[child], op))
			break;
		timeline.heap[i] = timeline.heap[child];
		i = child;
	}
	timeline.heap[i] = op;
}

static struct sim_op *pop(void)
{
	struct sim_op *first = timeline.heap[0];

	timeline.heap[0] = timeline.heap[--timeline.n];
	if (timeline.n)
		sift_down(0);
	note_next();
	return first;
}

static void run_unlocked(struct sim_op *op)
{
	timeline.is_applying = true;
	timeline.applying_ns = op->complete_ns;
	sim_unlock();
	in_host_function = true;
	op->apply(op);
	in_host_function = false;
	sim_lock();
	timeline.is_applying = false;
	sim_lock_wake();
}

/* Applies everything that completes by then, in order. */
static void apply_until(uint64_t until_ns)
{
	for (;;) {
		if (timeline.is_applying) {
			/* What follows it in time must not overtake it. */
			if (timeline.applying_ns > until_ns)
				return;
			sim_lock_wait();
			continue;
		}
		if (timeline.n == 0 || timeline.heap[0]->complete_ns > until_ns)
			return;
		struct sim_op *op = pop();
		if (op->is_unlocked)
			run_unlocked(op);
		else
			op->apply(op);
		free(op);
	}
}

void sim_timeline_wait(uint64_t until_ns)
{
	uint64_t start = sim_clock_now();

	if (until_ns > start) {
		sim_unlock();
		sim_clock_wait_until(until_ns);
		sim_lock();
	}
	apply_until(until_ns > start ? until_ns : start);
	if (until_ns > start)
		sim_scope_add_wait(sim_clock_now() - start);
}

uint64_t sim_timeline_catch_up_locked(void)
{
	uint64_t now = sim_clock_now();

	apply_until(now);
	return now;
}

void sim_timeline_catch_up(void)
{
	uint64_t now = sim_clock_now();

	if (atomic_load_explicit(&timeline.next_ns, memory_order_relaxed) > now || in_host_function)
		return;
	sim_lock();
	if (!timeline.is_applying)
		apply_until(now);
	sim_unlock();
}

static void block_on_full_queue(struct sim_stream *stream)
{
	uint64_t depth = sim_knobs()->queue_depth;

	for (;;) {
		uint64_t oldest = stream->completions[stream->n_submitted % depth];
		uint64_t start = sim_clock_now();
		if (oldest <= start)
			return;
		sim_unlock();
		sim_clock_wait_until(oldest);
		sim_lock();
		apply_until(oldest);
		sim_scope_add_backpressure(sim_clock_now() - start);
	}
}

static void push(struct sim_op *op, uint64_t complete_ns)
{
	op->complete_ns = complete_ns;
	op->number = ++timeline.n_pushed;
	timeline.heap[timeline.n] = op;
	sift_up(timeline.n++);
	note_next();
}

uint64_t sim_timeline_begin(struct sim_stream *stream)
{
	block_on_full_queue(stream);
	uint64_t start = sim_stream_target(stream, SIM_REACH_SUBMIT), now = sim_clock_now();
	return start > now ? start : now;
}

/* The operation's place in the order of its stream. */
static void append(struct sim_stream *stream, uint64_t complete)
{
	struct sim_device *device = stream->device;

	stream->completions[stream->n_submitted % sim_knobs()->queue_depth] = complete;
	stream->covers.at[stream->slot] = ++stream->n_submitted;
	stream->ready_ns = complete;
	if (complete > device->ready_ns)
		device->ready_ns = complete;
	if (sim_stream_is_blocking(stream)) {
		device->n_blocking_submitted++;
		if (complete > device->blocking_ready_ns)
			device->blocking_ready_ns = complete;
	}
}

CUresult sim_timeline_submit_effects(struct sim_stream *stream, const struct sim_span *span,
                                     const struct sim_effect *effects, size_t n)
{
	if (!reserve(n) || !sim_stream_order(stream)) {
		for (size_t i = 0; i < n; i++)
			free(effects[i].op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	append(stream, span->start_ns + span->duration_ns);
	for (size_t i = 0; i < n; i++)
		push(effects[i].op, span->start_ns + effects[i].after_ns);
	return CUDA_SUCCESS;
}

CUresult sim_timeline_submit(struct sim_stream *stream, uint64_t duration_ns, struct sim_op *op)
{
	struct sim_span span = { sim_timeline_begin(stream), duration_ns };
	struct sim_effect effect = { op, duration_ns };

	return sim_timeline_submit_effects(stream, &span, &effect, op ? 1 : 0);
}

void sim_timeline_add(struct sim_op *op, uint64_t complete_ns)
{
	if (reserve(1))
		push(op, complete_ns);
	else
		free(op);
}

void sim_timeline_call_host_function(CUhostFn func, void *data)
{
	bool was_in = in_host_function;

	in_host_function = true;
	func(data);
	in_host_function = was_in;
}

void sim_timeline_delay(struct sim_stream *stream, uint64_t until_ns)
{
	if (until_ns > stream->ready_ns)
		stream->ready_ns = until_ns;
}

void sim_timeline_cancel(uintptr_t base, size_t bytes)
{
	size_t kept = 0;

	for (size_t i = 0; i < timeline.n; i++) {
		struct sim_op *op = timeline.heap[i];
		if (op->host_bytes && op->host_base < base + bytes && base < op->host_base + op->host_bytes)
			free(op);
		else
			timeline.heap[kept++] = op;
	}
	timeline.n = kept;
	for (size_t i = kept / 2; i-- > 0;)
		sift_down(i);
	note_next();
}

uint64_t sim_timeline_next_host_function(void)
{
	uint64_t next = UINT64_MAX;

	sim_lock();
	for (size_t i = 0; i < timeline.n; i++)
		if (timeline.heap[i]->is_unlocked && timeline.heap[i]->complete_ns < next)
			next = timeline.heap[i]->complete_ns;
	sim_unlock();
	return next;
}

bool sim_timeline_in_host_function(void)
{
	return in_host_function;
}
