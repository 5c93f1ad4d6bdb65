/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/timeline.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "sim/clock.h"
#include "sim/knobs.h"
#include "sim/lock.h"
#include "sim/open.h"
#include "sim/scope.h"

static struct {
	struct sim_op **heap; /* earliest completion first; ties in order of submission */
	size_t n;
	size_t capacity;
	uint64_t n_pushed;
	struct applying *applying; /* threads that run something with the lock let go */
	_Atomic uint64_t next_ns;  /* completion of heap[0]; readable without the lock */
} timeline = { .next_ns = UINT64_MAX };

/* On the stack of the thread. */
struct applying {
	struct applying *next;
	uint64_t complete_ns;
};

static SIM_TLS bool in_host_function;

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

static struct sim_op *take(size_t i)
{
	struct sim_op *op = timeline.heap[i];

	timeline.n--;
	if (i < timeline.n) {
		timeline.heap[i] = timeline.heap[timeline.n];
		sift_down(i);
		sift_up(i);
	}
	note_next();
	return op;
}

static void run_unlocked(struct sim_op *op)
{
	struct applying self = { timeline.applying, op->complete_ns }, **link;

	timeline.applying = &self;
	sim_unlock();
	in_host_function = op->is_unlocked;
	op->apply(op);
	in_host_function = false;
	sim_lock();
	for (link = &timeline.applying; *link != &self; link = &(*link)->next)
		continue;
	*link = self.next;
	sim_lock_wake();
}

static void apply(struct sim_op *op)
{
	if (op->is_unlocked || op->is_patient)
		run_unlocked(op);
	else
		op->apply(op);
	free(op);
}

/* Completion of the earliest of what other threads are running. */
static uint64_t earliest_applying(void)
{
	uint64_t earliest = UINT64_MAX;

	for (const struct applying *a = timeline.applying; a; a = a->next)
		if (a->complete_ns < earliest)
			earliest = a->complete_ns;
	return earliest;
}

/* Applies everything that completes by then, in order. */
static void apply_until(uint64_t until_ns)
{
	for (;;) {
		uint64_t next = timeline.n ? timeline.heap[0]->complete_ns : UINT64_MAX;
		uint64_t applying = earliest_applying();
		if (next <= until_ns && next < applying)
			apply(take(0));
		else if (applying <= until_ns)
			sim_lock_wait(); /* what follows it in time must not overtake it */
		else if (next > until_ns)
			return;
	}
}

/* The earliest operation that has something to do inside the device; timeline.n if there is none by then. */
static size_t find_inside(uint64_t until_ns)
{
	size_t best = timeline.n;

	for (size_t i = 0; i < timeline.n; i++) {
		const struct sim_op *op = timeline.heap[i];
		if (op->complete_ns <= until_ns && !op->is_fetched &&
		    (best == timeline.n || is_before(op, timeline.heap[best])))
			best = i;
	}
	return best;
}

/* The device does its part of an operation that the host will see at its time. */
static void fetch(size_t i)
{
	struct sim_op *fetched = timeline.heap[i]->fetch(timeline.heap[i]);

	timeline.heap[i] = fetched;
	fetched->is_fetched = true;
}

void sim_timeline_run_ahead(uint64_t until_ns)
{
	for (;;) {
		size_t i = find_inside(until_ns);
		uint64_t next = i < timeline.n ? timeline.heap[i]->complete_ns : UINT64_MAX;
		uint64_t applying = earliest_applying();
		if (next < applying && timeline.heap[i]->fetch)
			fetch(i);
		else if (next < applying)
			apply(take(i));
		else if (applying <= until_ns)
			sim_lock_wait();
		else
			return;
	}
}

uint64_t sim_timeline_next(void)
{
	return timeline.n ? timeline.heap[0]->complete_ns : UINT64_MAX;
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

CUresult sim_timeline_wait_for(const struct sim_vector *covered, uint64_t until_ns)
{
	if (sim_open_any()) {
		uint64_t start = sim_clock_now(), complete_ns = sim_open_hold(covered);
		sim_scope_add_wait(sim_clock_now() - start);
		if (complete_ns > until_ns)
			until_ns = complete_ns;
	}
	sim_timeline_wait(until_ns);
	return sim_open_failure();
}

CUresult sim_timeline_wait_device(const struct sim_device *device)
{
	struct sim_vector covered = { 0 };

	/* Without memory only what is known is waited for. */
	if (sim_open_any())
		(void)!sim_streams_snapshot_device(device, &covered);
	CUresult result = sim_timeline_wait_for(&covered, device->ready_ns);
	sim_vector_free(&covered);
	return result;
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
	if (!timeline.applying)
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
		if (oldest == SIM_OPEN_NS) {
			sim_open_resolve();
			if (stream->completions[stream->n_submitted % depth] == SIM_OPEN_NS)
				sim_lock_wait();
		} else {
			sim_unlock();
			sim_clock_wait_until(oldest);
			sim_lock();
			apply_until(oldest);
		}
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

static void note_ready(struct sim_stream *stream, uint64_t complete_ns)
{
	struct sim_device *device = stream->device;

	if (complete_ns > stream->ready_ns)
		stream->ready_ns = complete_ns;
	if (complete_ns > device->ready_ns)
		device->ready_ns = complete_ns;
	if (sim_stream_is_blocking(stream) && complete_ns > device->blocking_ready_ns)
		device->blocking_ready_ns = complete_ns;
}

void sim_timeline_append(struct sim_stream *stream, uint64_t complete_ns)
{
	stream->completions[stream->n_submitted % sim_knobs()->queue_depth] = complete_ns;
	stream->covers.at[stream->slot] = ++stream->n_submitted;
	if (sim_stream_is_blocking(stream))
		stream->device->n_blocking_submitted++;
	if (complete_ns != SIM_OPEN_NS)
		note_ready(stream, complete_ns);
}

void sim_timeline_settle(struct sim_stream *stream, uint64_t number, uint64_t complete_ns)
{
	stream->completions[(number - 1) % sim_knobs()->queue_depth] = complete_ns;
	note_ready(stream, complete_ns);
}

CUresult sim_timeline_submit_effects(struct sim_stream *stream, const struct sim_span *span,
                                     const struct sim_effect *effects, size_t n)
{
	struct sim_open *open;

	if (!reserve(n) || !sim_stream_order(stream) || !sim_open_prepare(stream, n, &open)) {
		for (size_t i = 0; i < n; i++)
			free(effects[i].op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_timeline_append(stream, open ? SIM_OPEN_NS : span->start_ns + span->duration_ns);
	if (open) {
		sim_open_append(open, stream, span, effects);
		return CUDA_SUCCESS;
	}
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

	sim_open_cancel(base, bytes);
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
