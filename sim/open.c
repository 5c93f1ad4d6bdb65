/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/open.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim/clock.h"
#include "sim/event.h"
#include "sim/lock.h"
#include "sim/readback.h"

enum {
	LOOK_NS = 100000000,  /* how often to look after what nobody announces: a rank that died */
	LINGER_NS = 50000000, /* how long a query waits for the other ranks on the virtual clock */
};

struct after {
	const struct sim_stream *stream;
	uint64_t number;
};

struct sim_open {
	struct sim_open *next;
	struct sim_stream *stream;
	uint64_t number;   /* on the stream */
	uint64_t start_ns; /* the latest so far of what it comes after */
	uint64_t duration_ns;
	struct sim_exchange *exchange; /* NULL: an ordinary operation */
	bool is_published;
	struct sim_tell *tells;
	size_t n_tells;
	struct sim_effect *effects;
	size_t n_effects;
	unsigned n_after;
	struct after after[]; /* what it comes after and is open */
};

static struct {
	struct sim_open *first, **end; /* in order of submission */
	struct sim_open *last;         /* submitted, if it is still in the list */
	bool is_ahead_due;             /* other ranks may need what this device gives at ahead_ns */
	uint64_t ahead_ns;
} list = { .end = &list.first };

static _Atomic bool has_failed;
static SIM_TLS struct sim_exchange *next_launch;

bool sim_open_any(void)
{
	return list.first != NULL;
}

bool sim_open_covers(const struct sim_vector *covered)
{
	return list.first && sim_streams_completion(covered) == SIM_OPEN_NS;
}

static bool is_open(const struct after *after)
{
	return after->stream && sim_stream_completion(after->stream, after->number) == SIM_OPEN_NS;
}

/* At most one operation of each stream matters, and of the same exchange's predecessor one. */
static struct sim_open *make(const struct sim_stream *stream, const struct sim_turn *turn, size_t n_effects)
{
	struct after previous = { turn ? turn->stream : NULL, turn ? turn->number : 0 };
	size_t most = stream->covers.n + 1;
	struct sim_open *open = calloc(1, sizeof *open + most * sizeof open->after[0]);

	if (!open)
		return NULL;
	for (unsigned i = 0; i < stream->covers.n; i++) {
		struct after after = { sim_stream_of_slot(i), stream->covers.at[i] };
		if (after.number && is_open(&after))
			open->after[open->n_after++] = after;
	}
	if (is_open(&previous))
		open->after[open->n_after++] = previous;
	open->n_effects = n_effects;
	open->effects = calloc(n_effects + 1, sizeof *open->effects);
	if (open->effects)
		return open;
	free(open);
	return NULL;
}

bool sim_open_prepare(const struct sim_stream *stream, size_t n, struct sim_open **open)
{
	*open = NULL;
	if (!sim_open_covers(&stream->covers))
		return true;
	*open = make(stream, NULL, n);
	return *open != NULL;
}

void sim_open_drop(struct sim_open *open)
{
	if (!open)
		return;
	free(open->effects);
	free(open->tells);
	free(open);
}

static void append(struct sim_open *open, struct sim_stream *stream, uint64_t start_ns)
{
	open->stream = stream;
	open->number = stream->n_submitted;
	open->start_ns = start_ns;
	*list.end = open;
	list.end = &open->next;
	list.last = open;
}

void sim_open_append(struct sim_open *open, struct sim_stream *stream, const struct sim_span *span,
                     const struct sim_effect *effects)
{
	if (open->n_effects)
		memcpy(open->effects, effects, open->n_effects * sizeof *effects);
	open->duration_ns = span->duration_ns;
	append(open, stream, span->start_ns);
}

bool sim_open_tell(const struct sim_stream *stream, const struct sim_tell *tell)
{
	struct sim_open *open = list.last;

	if (!open || open->stream != stream || open->number != stream->n_submitted)
		return true;
	struct sim_tell *tells = realloc(open->tells, (open->n_tells + 1) * sizeof *tells);
	if (!tells)
		return false;
	open->tells = tells;
	tells[open->n_tells++] = *tell;
	return true;
}

/* What an exchange does to memory: `send` and `receive` in turn are two effects. */
struct exchange_op {
	struct sim_op op;
	struct sim_exchange *exchange;
	bool is_over; /* it moves nothing more */
};

static void apply_send(struct sim_op *op)
{
	struct sim_exchange *exchange = ((struct exchange_op *)op)->exchange;

	if (!exchange->send(exchange))
		sim_open_fail();
}

static void apply_receive(struct sim_op *base)
{
	struct exchange_op *op = (struct exchange_op *)base;

	if (!op->is_over && !op->exchange->receive(op->exchange))
		sim_open_fail();
	sim_lock();
	op->exchange->end(op->exchange);
	sim_unlock();
}

static bool add_effect(struct sim_exchange *exchange, void (*apply)(struct sim_op *op), bool is_over, uint64_t at_ns)
{
	struct exchange_op *op = malloc(sizeof *op);

	if (!op)
		return false;
	op->op = (struct sim_op){ .apply = apply, .is_patient = true };
	op->exchange = exchange;
	op->is_over = is_over;
	sim_timeline_add(&op->op, at_ns);
	return true;
}

/* True once the others know when this rank's part begins. */
static bool publish(struct sim_open *open)
{
	struct sim_exchange *exchange = open->exchange;

	/* What the device has taken so far makes room for what comes. */
	list.is_ahead_due = true;
	if (open->start_ns > list.ahead_ns)
		list.ahead_ns = open->start_ns;
	if (!exchange->publish(exchange, open->start_ns))
		return false;
	if (!add_effect(exchange, apply_send, false, open->start_ns))
		sim_open_fail();
	return true;
}

/* The end of an exchange, SIM_OPEN_NS if it is not known yet. */
static uint64_t end_of_exchange(struct sim_open *open)
{
	uint64_t complete_ns = open->start_ns;
	enum sim_exchange_state state = open->exchange->ask(open->exchange, &complete_ns);

	if (state == SIM_EXCHANGE_OPEN)
		return SIM_OPEN_NS;
	if (state == SIM_EXCHANGE_FAILED)
		sim_open_fail();
	if (!add_effect(open->exchange, apply_receive, state != SIM_EXCHANGE_KNOWN, complete_ns))
		sim_open_fail();
	return complete_ns;
}

/* Takes in what has become known of what it comes after. True if nothing is left. */
static bool is_start_known(struct sim_open *open)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < open->n_after; i++) {
		uint64_t ns = sim_stream_completion(open->after[i].stream, open->after[i].number);
		if (ns == SIM_OPEN_NS)
			open->after[kept++] = open->after[i];
		else if (ns > open->start_ns)
			open->start_ns = ns;
	}
	open->n_after = kept;
	return kept == 0;
}

static void settle(struct sim_open *open, uint64_t complete_ns)
{
	sim_timeline_settle(open->stream, open->number, complete_ns);
	for (size_t i = 0; i < open->n_effects; i++)
		sim_timeline_add(open->effects[i].op, open->start_ns + open->effects[i].after_ns);
	for (size_t i = 0; i < open->n_tells; i++) {
		const struct sim_tell *tell = &open->tells[i];
		sim_event_settle(tell->event, tell->record,
		                 tell->is_end ? complete_ns : open->start_ns + tell->after_ns);
	}
	sim_open_drop(open);
}

/* One look at an operation. Its end, or SIM_OPEN_NS; *moves: it is one step further. */
static uint64_t look(struct sim_open *open, bool *moves)
{
	if (!is_start_known(open))
		return SIM_OPEN_NS;
	if (!open->exchange)
		return open->start_ns + open->duration_ns;
	if (!open->is_published) {
		open->is_published = publish(open);
		*moves = *moves || open->is_published;
	}
	return end_of_exchange(open);
}

void sim_open_resolve(void)
{
	bool moves = list.first != NULL, has_settled = false;

	/* Ranks may be threads of this process: what one says now, another may have waited for. */
	while (moves) {
		moves = false;
		for (struct sim_open **link = &list.first; *link;) {
			struct sim_open *open = *link;
			uint64_t complete_ns = look(open, &moves);
			if (complete_ns == SIM_OPEN_NS) {
				link = &open->next;
				continue;
			}
			*link = open->next;
			if (!*link)
				list.end = link;
			if (list.last == open)
				list.last = NULL;
			settle(open, complete_ns);
			moves = has_settled = true;
		}
	}
	if (has_settled)
		sim_lock_wake();
}

uint64_t sim_open_hold(const struct sim_vector *covered)
{
	for (;;) {
		sim_open_resolve();
		uint64_t complete_ns = sim_streams_completion(covered);
		if (complete_ns != SIM_OPEN_NS)
			return complete_ns;
		sim_lock_wait();
	}
}

void sim_open_linger(const struct sim_vector *covered)
{
	if (!sim_clock_is_virtual() || !sim_open_covers(covered))
		return;
	sim_open_resolve();
	uint64_t deadline = sim_clock_machine() + LINGER_NS;
	while (sim_open_covers(covered) && sim_lock_wait_until(deadline))
		continue;
}

void sim_open_cancel(uintptr_t base, size_t bytes)
{
	for (struct sim_open *open = list.first; open; open = open->next) {
		size_t kept = 0;
		for (size_t i = 0; i < open->n_effects; i++) {
			struct sim_op *op = open->effects[i].op;
			if (op->host_bytes && op->host_base < base + bytes && base < op->host_base + op->host_bytes)
				free(op);
			else
				open->effects[kept++] = open->effects[i];
		}
		open->n_effects = kept;
	}
}

CUresult sim_open_failure(void)
{
	return atomic_load_explicit(&has_failed, memory_order_relaxed) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

void sim_open_fail(void)
{
	atomic_store_explicit(&has_failed, true, memory_order_relaxed);
}

/* What small readbacks may show of the result, in order of submission. */
static void account(const struct sim_exchange *exchange)
{
	bool is_known = true;

	for (unsigned i = 0; i < exchange->n_reads; i++) {
		struct sim_region *span = &exchange->reads[i];
		span->is_known = sim_readback_is_known(span->address, span->bytes);
		is_known = is_known && span->is_known;
	}
	for (unsigned i = 0; i < exchange->n_writes; i++)
		sim_readback_note_write(exchange->writes[i].address, exchange->writes[i].bytes, is_known);
}

CUresult sim_open_submit(struct sim_stream *stream, struct sim_exchange *exchange)
{
	uint64_t start_ns = sim_timeline_begin(stream);
	struct sim_open *open = sim_stream_order(stream) ? make(stream, exchange->turn, 0) : NULL;

	if (!open)
		return CUDA_ERROR_OUT_OF_MEMORY;
	const struct sim_turn *turn = exchange->turn;
	uint64_t previous = turn->stream ? sim_stream_completion(turn->stream, turn->number) : 0;
	if (previous != SIM_OPEN_NS && previous > start_ns)
		start_ns = previous;
	open->exchange = exchange;
	account(exchange);
	sim_timeline_append(stream, SIM_OPEN_NS);
	append(open, stream, start_ns);
	*exchange->turn = (struct sim_turn){ stream, stream->n_submitted };
	sim_open_resolve();
	return CUDA_SUCCESS;
}

bool sim_launch_exchange(struct sim_exchange *exchange)
{
	bool had_one = next_launch != NULL;

	next_launch = exchange;
	return had_one;
}

struct sim_exchange *sim_open_take_launch(void)
{
	struct sim_exchange *exchange = next_launch;

	next_launch = NULL;
	return exchange;
}

CUresult sim_exchange_wait(const struct sim_turn *turn)
{
	struct sim_vector covered = { 0 };

	sim_lock();
	if (turn->stream && sim_vector_reserve(&covered, turn->stream->slot + 1)) {
		covered.at[turn->stream->slot] = turn->number;
		uint64_t until_ns = sim_open_hold(&covered);
		sim_timeline_wait(until_ns);
	}
	sim_unlock();
	sim_vector_free(&covered);
	return sim_open_failure();
}

uint64_t sim_exchange_progress(void)
{
	uint64_t look_again = LOOK_NS;

	sim_lock();
	sim_open_resolve();
	if (sim_clock_is_virtual()) {
		bool is_due = list.is_ahead_due;
		list.is_ahead_due = false;
		if (is_due)
			sim_timeline_run_ahead(list.ahead_ns);
	} else {
		uint64_t now = sim_timeline_catch_up_locked(), next = sim_timeline_next();
		if (next < now + look_again)
			look_again = next > now ? next - now : 0;
	}
	sim_open_resolve();
	sim_unlock();
	return look_again;
}
