/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_batch.c - one launch of NCCL's: tasks, done together with other ranks
 *
 * A task is the n-th operation of a channel: of the one for all ranks, or of
 * the one from a rank to another. Its parties say in the shared segment when
 * they begin, write what they give, read what they need, and say that they
 * have. When all have said when they begin, all know when it ends.
 */
#include "sim/nccl_task.h"

#include <stdlib.h>
#include <string.h>

#include "sim/clock.h"
#include "sim/memory.h"
#include "sim/say.h"

/* Bytes added at once; what is added stays in the cache. */
enum { CHUNK = 32768 };

#define LOOK_NS 100000000u
#define NS_PER_S 1000000000u

struct batch {
	struct sim_exchange exchange;
	struct sim_comm *comm;
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t deadline_ns; /* of the machine's clock: until then the others must have come */
	struct sim_region *spans;
	size_t n;
	struct sim_nccl_task tasks[];
};

static bool publish(struct sim_exchange *exchange, uint64_t start_ns)
{
	struct batch *batch = (struct batch *)exchange;

	if (atomic_load(&batch->comm->error) || atomic_load(&batch->comm->is_aborted))
		return false;
	for (size_t i = 0; i < batch->n; i++) {
		struct sim_channel channel = sim_task_channel(&batch->tasks[i]);
		if (!sim_channel_has_room(&channel, batch->tasks[i].n))
			return false;
	}
	for (size_t i = 0; i < batch->n; i++) {
		const struct sim_nccl_task *task = &batch->tasks[i];
		struct sim_channel channel = sim_task_channel(task);
		struct sim_part *part = sim_channel_part(&channel, task->n, sim_task_share(task).party);
		bool is_pair = task->kind == SIM_NCCL_SEND || task->kind == SIM_NCCL_RECEIVE;
		part->start_ns = start_ns;
		part->count = task->count;
		part->kind = is_pair ? SIM_NCCL_SEND : (int)task->kind;
		part->type = task->type;
		part->reduction = task->reduction < SIM_NCCL_N_REDUCTIONS ? task->reduction : SIM_NCCL_N_REDUCTIONS;
		part->root = is_pair ? 0 : task->root;
		atomic_store(&part->published, task->n + 1);
	}
	batch->start_ns = start_ns;
	batch->deadline_ns = sim_clock_machine() + sim_knobs()->peer_wait_s * NS_PER_S;
	sim_segment_ring(&batch->comm->shared);
	return true;
}

/* A rank has not come, or not given what it announced, and will not: says so. True if that is so. */
static bool is_missing(struct batch *batch, const struct sim_nccl_task *task, unsigned party,
                       const _Atomic uint64_t *counter)
{
	struct sim_comm *comm = batch->comm;
	int rank = sim_task_rank_of(task, party);
	bool is_gone = sim_segment_is_gone(&comm->shared, rank);

	/* It may have said it just before it went. */
	if (atomic_load(counter) >= task->n + 1)
		return false;
	if (!is_gone && (batch->deadline_ns == 0 || sim_clock_machine() < batch->deadline_ns))
		return false;
	if (!sim_comm_fail(comm, SIM_NCCL_REMOTE_ERROR))
		return true;
	if (is_gone)
		sim_nccl_fail(SIM_NCCL_REMOTE_ERROR, "rank %d is gone, and rank %d waits for it in a collective", rank,
		              comm->shared.rank);
	else
		sim_nccl_fail(SIM_NCCL_REMOTE_ERROR,
		              "rank %d has waited %llu s for rank %d in a collective; SYNCTALLY_SIM=peer_wait_s=N "
		              "waits longer",
		              comm->shared.rank, (unsigned long long)sim_knobs()->peer_wait_s, rank);
	return true;
}

static bool is_same(const struct sim_part *a, const struct sim_part *b)
{
	return a->count == b->count && a->kind == b->kind && a->type == b->type && a->reduction == b->reduction &&
	       a->root == b->root;
}

/* All parties must mean the same call. */
static bool is_agreed(struct batch *batch, const struct sim_nccl_task *task, const struct sim_channel *channel)
{
	static const char *const names[] = { "all-reduce", "reduce", "broadcast", "all-gather",      "reduce-scatter",
		                             "all-to-all", "gather", "scatter",   "send and receive" };
	const struct sim_part *first = sim_channel_part(channel, task->n, 0);

	for (unsigned party = 1; party < channel->n_parties; party++) {
		const struct sim_part *other = sim_channel_part(channel, task->n, party);
		if (is_same(first, other))
			continue;
		if (sim_comm_fail(batch->comm, SIM_NCCL_INVALID_USAGE))
			sim_nccl_fail(SIM_NCCL_INVALID_USAGE,
			              "the ranks disagree: rank %d calls %s of %llu elements of type %d, rank %d %s of "
			              "%llu of type %d "
			              "(or with another reduction or root)",
			              sim_task_rank_of(task, 0), names[first->kind], (unsigned long long)first->count,
			              first->type, sim_task_rank_of(task, party), names[other->kind],
			              (unsigned long long)other->count, other->type);
		return false;
	}
	return true;
}

/* The latest start of a task's parties; 0 if some have not said, and *fails if they will not. */
static uint64_t latest_start(struct batch *batch, const struct sim_nccl_task *task, bool *fails)
{
	struct sim_channel channel = sim_task_channel(task);
	uint64_t latest = 0;

	for (unsigned party = 0; party < channel.n_parties; party++) {
		const struct sim_part *part = sim_channel_part(&channel, task->n, party);
		if (atomic_load(&part->published) != task->n + 1) {
			*fails = *fails || is_missing(batch, task, party, &part->published);
			return 0;
		}
		if (part->start_ns > latest)
			latest = part->start_ns;
	}
	*fails = *fails || !is_agreed(batch, task, &channel);
	return latest;
}

static enum sim_exchange_state ask(struct sim_exchange *exchange, uint64_t *complete_ns)
{
	struct batch *batch = (struct batch *)exchange;
	uint64_t latest = 0;
	bool is_whole = true, fails = false;

	if (atomic_load(&batch->comm->is_aborted))
		return SIM_EXCHANGE_GONE;
	if (atomic_load(&batch->comm->error))
		return SIM_EXCHANGE_FAILED;
	for (size_t i = 0; i < batch->n && !fails; i++) {
		uint64_t start_ns = latest_start(batch, &batch->tasks[i], &fails);
		is_whole = is_whole && start_ns != 0;
		if (start_ns > latest)
			latest = start_ns;
	}
	if (fails)
		return SIM_EXCHANGE_FAILED;
	if (!is_whole)
		return SIM_EXCHANGE_OPEN;
	*complete_ns = latest + batch->duration_ns;
	return SIM_EXCHANGE_KNOWN;
}

/* What kernels were to compute is not there: as in a small readback, few bytes of it are zeros. */
static bool gives_zeros(const struct batch *batch, size_t i)
{
	const struct sim_region *span = &batch->exchange.reads[i];

	return span->bytes <= 16 && !span->is_known && sim_knobs()->readback != SIM_READBACK_STALE;
}

static bool give(const struct batch *batch, size_t i)
{
	const struct sim_nccl_task *task = &batch->tasks[i];
	const struct sim_attachment *shared = &batch->comm->shared;
	struct sim_channel channel = sim_task_channel(task);
	struct sim_share share = sim_task_share(task);
	const void *from = sim_memory_view(task->send);
	static const char zeros[16];

	if (gives_zeros(batch, i))
		from = zeros;
	if (task->reduction < SIM_NCCL_N_REDUCTIONS)
		return sim_channel_write(shared, &channel, task->n, share.party, from, share.sends);
	const struct sim_nccl_factor *factor = &batch->comm->factors[task->reduction - SIM_NCCL_N_REDUCTIONS];
	char *scaled = malloc(share.sends + 1);
	if (!scaled)
		return false;
	memcpy(scaled, from, share.sends);
	sim_reduce_scale(task->type, scaled, share.sends / sim_nccl_element_bytes(task->type),
	                 factor->device ? sim_memory_view(factor->device) : factor->scalar);
	bool is_given = sim_channel_write(shared, &channel, task->n, share.party, scaled, share.sends);
	free(scaled);
	return is_given;
}

static bool out_of_memory(struct batch *batch)
{
	if (sim_comm_fail(batch->comm, SIM_NCCL_SYSTEM_ERROR))
		sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory for what the ranks give each other");
	return false;
}

static bool send_all(struct sim_exchange *exchange)
{
	struct batch *batch = (struct batch *)exchange;
	bool is_given = true;

	for (size_t i = 0; i < batch->n && is_given; i++) {
		const struct sim_nccl_task *task = &batch->tasks[i];
		struct sim_channel channel = sim_task_channel(task);
		struct sim_share share = sim_task_share(task);
		is_given = share.sends == 0 || give(batch, i);
		if (is_given)
			atomic_store(&sim_channel_part(&channel, task->n, share.party)->sent, task->n + 1);
	}
	sim_segment_ring(&batch->comm->shared);
	return is_given || out_of_memory(batch);
}

/* Waits until a party has given what it gives. */
static bool await(struct batch *batch, const struct sim_nccl_task *task, const struct sim_channel *channel,
                  unsigned party)
{
	struct sim_comm *comm = batch->comm;
	const struct sim_part *part = sim_channel_part(channel, task->n, party);

	for (;;) {
		uint32_t heard = sim_segment_listen(&comm->shared);
		if (atomic_load(&part->sent) == task->n + 1)
			return true;
		if (atomic_load(&comm->is_aborted) || is_missing(batch, task, party, &part->sent))
			return false;
		sim_segment_wait(&comm->shared, heard, LOOK_NS);
	}
}

static bool copy_in(const struct batch *batch, const struct sim_nccl_task *task, const struct sim_share *share)
{
	const struct sim_attachment *shared = &batch->comm->shared;
	struct sim_channel channel = sim_task_channel(task);
	char *to = sim_memory_view(task->receive);

	for (unsigned i = 0; i < share->n_from; i++)
		if (!sim_channel_read(shared, &channel, task->n, share->from + i, share->offset, to + i * share->reads,
		                      share->reads))
			return false;
	return true;
}

static bool reduce_in(const struct batch *batch, const struct sim_nccl_task *task, const struct sim_share *share)
{
	const struct sim_attachment *shared = &batch->comm->shared;
	struct sim_channel channel = sim_task_channel(task);
	size_t element = sim_nccl_element_bytes(task->type);
	char *to = sim_memory_view(task->receive), chunk[CHUNK];
	struct sim_accumulator sum;

	if (!sim_reduce_begin(&sum, task->type, task->reduction, sim_task_ranks(task), CHUNK / element))
		return false;
	bool is_read = true;
	for (size_t at = 0; at < share->reads && is_read; at += CHUNK) {
		size_t bytes = share->reads - at < CHUNK ? share->reads - at : CHUNK;
		for (unsigned i = 0; i < share->n_from && is_read; i++) {
			is_read = sim_channel_read(shared, &channel, task->n, share->from + i, share->offset + at,
			                           chunk, bytes);
			if (is_read)
				sim_reduce_add(&sum, chunk, bytes / element, i == 0);
		}
		if (is_read)
			sim_reduce_store(&sum, to + at, bytes / element);
	}
	sim_reduce_end(&sum);
	return is_read;
}

static bool take(struct batch *batch, const struct sim_nccl_task *task)
{
	struct sim_channel channel = sim_task_channel(task);
	struct sim_share share = sim_task_share(task);

	/* Even without elements the others' parts are awaited: a place in the ring is free only when all are done with it. */
	for (unsigned i = 0; i < share.n_from; i++) {
		if (share.reads && !await(batch, task, &channel, share.from + i))
			return false;
	}
	bool is_read = share.is_reduced ? reduce_in(batch, task, &share) : copy_in(batch, task, &share);
	sim_channel_release(&batch->comm->shared, &channel, task->n, share.party);
	return is_read || out_of_memory(batch);
}

static bool receive_all(struct sim_exchange *exchange)
{
	struct batch *batch = (struct batch *)exchange;

	for (size_t i = 0; i < batch->n; i++) {
		if (!take(batch, &batch->tasks[i]))
			/* What was called off is no failure of the device. */
			return atomic_load(&batch->comm->is_aborted);
	}
	sim_segment_ring(&batch->comm->shared);
	return true;
}

static void free_batch(struct batch *batch)
{
	sim_comm_let_go(batch->comm);
	free(batch->spans);
	free(batch);
}

static void end(struct sim_exchange *exchange)
{
	free_batch((struct batch *)exchange);
}

/* The i-th task reads the i-th span, of no bytes if it gives nothing. */
static void fill_spans(struct batch *batch)
{
	struct sim_exchange *exchange = &batch->exchange;

	exchange->reads = batch->spans;
	exchange->writes = batch->spans + batch->n;
	exchange->n_reads = exchange->n_writes = (unsigned)batch->n;
	for (size_t i = 0; i < batch->n; i++) {
		const struct sim_nccl_task *task = &batch->tasks[i];
		struct sim_share share = sim_task_share(task);
		exchange->reads[i] = (struct sim_region){ task->send, share.sends, false };
		exchange->writes[i] = (struct sim_region){ task->receive, sim_share_received(&share), false };
	}
}

static struct batch *make_batch(const struct sim_nccl_task *tasks, size_t n)
{
	struct batch *batch = calloc(1, sizeof *batch + n * sizeof *tasks);

	if (!batch)
		return NULL;
	batch->spans = calloc(2 * n, sizeof *batch->spans);
	if (!batch->spans) {
		free(batch);
		return NULL;
	}
	batch->comm = tasks[0].comm;
	batch->n = n;
	memcpy(batch->tasks, tasks, n * sizeof *tasks);
	batch->duration_ns = sim_batch_ns(tasks, n);
	batch->exchange.publish = publish;
	batch->exchange.ask = ask;
	batch->exchange.send = send_all;
	batch->exchange.receive = receive_all;
	batch->exchange.end = end;
	batch->exchange.turn = &batch->comm->turn;
	fill_spans(batch);
	sim_comm_hold(batch->comm);
	return batch;
}

/* Gives the tasks their numbers. False, and nothing given, if the ring is too small for them. */
static bool number(struct sim_nccl_task *tasks, size_t n)
{
	struct sim_comm *comm = tasks[0].comm;
	size_t n_collectives = 0, n_sent[SIM_NCCL_MAX_RANKS] = { 0 }, n_received[SIM_NCCL_MAX_RANKS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct sim_nccl_task *task = &tasks[i];
		size_t *count = task->kind == SIM_NCCL_SEND      ? &n_sent[task->root]
		                : task->kind == SIM_NCCL_RECEIVE ? &n_received[task->root]
		                                                 : &n_collectives;
		uint64_t *done = task->kind == SIM_NCCL_SEND      ? &comm->n_sent[task->root]
		                 : task->kind == SIM_NCCL_RECEIVE ? &comm->n_received[task->root]
		                                                  : &comm->n_collectives;
		task->n = *done + (*count)++;
		if (*count > SIM_NCCL_RING)
			return false;
	}
	comm->n_collectives += n_collectives;
	for (int rank = 0; rank < SIM_NCCL_MAX_RANKS; rank++) {
		comm->n_sent[rank] += n_sent[rank];
		comm->n_received[rank] += n_received[rank];
	}
	return true;
}

int sim_batch_submit(const struct sim_nccl_task *tasks, size_t n)
{
	struct batch *batch = make_batch(tasks, n);
	CUstream stream = tasks[0].stream;
	const struct sim_vendor_work none = { 0, 0 };

	if (!batch)
		return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory for a collective");
	if (!number(batch->tasks, n)) {
		free_batch(batch);
		return sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "a group of more than %d operations with the same ranks",
		                     SIM_NCCL_RING);
	}
	sim_launch_exchange(&batch->exchange);
	CUresult result = sim_vendor_launch(&batch->comm->device, stream, &none);
	sim_launch_exchange(NULL);
	if (result == CUDA_SUCCESS)
		return SIM_NCCL_SUCCESS;
	free_batch(batch);
	return sim_nccl_fail(SIM_NCCL_CUDA_ERROR, "the launch of a collective failed: CUDA error %d", (int)result);
}
