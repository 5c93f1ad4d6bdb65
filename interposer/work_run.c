/* SPDX-License-Identifier: Apache-2.0 */
/* work_run.c - launches in a row, which get their number from whoever asks next */
#include "interposer/compiler.h"
#include "interposer/work_internal.h"

#include <stddef.h>

#define ACQUIRE(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

/*
 * Numbers what the run has launched since the last time, as one operation.
 * What that is ordered after, its stream knows already: nothing it could be
 * ordered after has been submitted since the run was opened. Mutex held.
 */
static void number(struct sy_work *work, struct sy_work_run *run, uint64_t upto)
{
	if (upto != run->numbered)
		raise_to(&run->stream->last, __atomic_add_fetch(&work->order, 1, __ATOMIC_SEQ_CST));
	STORE(run->numbered, upto);
}

/* Mutex held. */
static void settle(struct sy_work *work, struct sy_work_run *run)
{
	/* In this order: who has returned from the one that started last has nothing in flight. */
	uint64_t started = ACQUIRE(run->started);
	bool is_in_flight = ACQUIRE(run->returned) < started;

	/* In flight before numbered, as in sy_work_submit. */
	if (is_in_flight && !run->is_in_flight)
		__atomic_fetch_add(&run->stream->n_in_flight, 1, __ATOMIC_SEQ_CST);
	number(work, run, started);
	if (!is_in_flight && run->is_in_flight)
		__atomic_fetch_sub(&run->stream->n_in_flight, 1, __ATOMIC_SEQ_CST);
	STORE(run->is_in_flight, is_in_flight);
}

static bool is_settled(const struct sy_work_run *run)
{
	return ACQUIRE(run->started) == LOAD(run->numbered) && !LOAD(run->is_in_flight);
}

void sy_work_settle(struct sy_work *work)
{
	uint32_t n = ACQUIRE(work->n_runs);

	for (uint32_t i = 0; i < n; i++) {
		struct sy_work_run *run = &work->runs[i];

		if (SY_LIKELY(is_settled(run)))
			continue;
		pthread_mutex_lock(&work->mutex);
		settle(work, run);
		pthread_mutex_unlock(&work->mutex);
	}
}

struct sy_work_run *sy_work_run_add(struct sy_work *work)
{
	struct sy_work_run *run = NULL;

	pthread_mutex_lock(&work->mutex);
	if (work->n_runs < SY_WORK_RUNS) {
		run = &work->runs[work->n_runs];
		__atomic_store_n(&work->n_runs, work->n_runs + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&work->mutex);
	return run;
}

static void close_run(struct sy_work *work, struct sy_work_run *run)
{
	STORE(run->key, 0);
	if (run->stream)
		settle(work, run);
}

void sy_work_run_close(struct sy_work *work, struct sy_work_run *run)
{
	if (!LOAD(run->key))
		return;
	pthread_mutex_lock(&work->mutex);
	close_run(work, run);
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_run_open(struct sy_work *work, struct sy_work_run *run, struct sy_work_stream *stream,
                      const struct sy_work_op *op, uint64_t key)
{
	pthread_mutex_lock(&work->mutex);
	close_run(work, run);
	STORE(run->stream, stream);
	if (!LOAD(stream->capture) && !LOAD(stream->is_gone)) {
		__atomic_store_n(&run->key, key, __ATOMIC_SEQ_CST);
		/* Somebody may have been ordered after the launch, and looked for runs, before there was one. */
		if (!(LOAD(stream->flags) & SY_STREAM_NON_BLOCKING) && LOAD(work->n_blocking) != 0 &&
		    __atomic_load_n(&work->order, __ATOMIC_SEQ_CST) != op->number)
			STORE(run->key, 0);
	}
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_run_take_back(struct sy_work *work, struct sy_work_run *run)
{
	pthread_mutex_lock(&work->mutex);
	/* If somebody numbered it the number stays, which only promises less. */
	if (run->numbered < run->started && run->stream) {
		number(work, run, run->started - 1);
		STORE(run->numbered, run->started);
	}
	pthread_mutex_unlock(&work->mutex);
}

void sy_work_close_runs_on(struct sy_work *work, const struct sy_work_stream *stream)
{
	for (uint32_t i = 0; i < work->n_runs; i++)
		if (work->runs[i].stream == stream)
			close_run(work, &work->runs[i]);
}

/* Is the one ordered after the other by the legacy rule? */
static bool is_ordered(const struct sy_work_stream *a, const struct sy_work_stream *b)
{
	if (LOAD(a->flags) & SY_STREAM_LEGACY)
		return is_blocking_peer(b, a);
	return (LOAD(b->flags) & SY_STREAM_LEGACY) && is_blocking_peer(a, b);
}

void sy_work_close_runs_before(struct sy_work *work, const struct sy_work_stream *stream)
{
	uint32_t n = ACQUIRE(work->n_runs);

	for (uint32_t i = 0; i < n; i++) {
		struct sy_work_run *run = &work->runs[i];
		const struct sy_work_stream *other = LOAD(run->stream);

		if (!__atomic_load_n(&run->key, __ATOMIC_SEQ_CST) || !other || !is_ordered(other, stream))
			continue;
		pthread_mutex_lock(&work->mutex);
		if (is_ordered(run->stream, stream))
			close_run(work, run);
		pthread_mutex_unlock(&work->mutex);
	}
}
