/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_comm.c - communicators: made, split, ended
 */
#include "sim/nccl_exports.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/clock.h"
#include "sim/say.h"

#define LOOK_NS 100000000u
#define NS_PER_S 1000000000u

_Static_assert(sizeof(struct sim_place) <= sizeof(sim_nccl_id), "an id holds a place");

void sim_comm_hold(struct sim_comm *comm)
{
	atomic_fetch_add(&comm->n_users, 1);
}

void sim_comm_let_go(struct sim_comm *comm)
{
	if (atomic_fetch_sub(&comm->n_users, 1) != 1)
		return;
	sim_segment_detach(&comm->shared);
	free(comm);
}

bool sim_comm_fail(struct sim_comm *comm, int result)
{
	int none = SIM_NCCL_SUCCESS;

	return atomic_compare_exchange_strong(&comm->error, &none, result);
}

/* What the real library has threads for too: the ranks' operations go on while the program does something else. */
static void *run(void *argument)
{
	struct sim_comm *comm = argument;

	for (;;) {
		uint32_t heard = sim_segment_listen(&comm->shared);
		if (atomic_load(&comm->is_ending))
			return NULL;
		uint64_t look_again = sim_exchange_progress();
		sim_segment_wait(&comm->shared, heard, look_again);
	}
}

static bool start_thread(struct sim_comm *comm)
{
	sigset_t all, before;

	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	comm->has_thread = pthread_create(&comm->thread, NULL, run, comm) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return comm->has_thread;
}

static void stop_thread(struct sim_comm *comm)
{
	if (!comm->has_thread)
		return;
	atomic_store(&comm->is_ending, true);
	sim_segment_ring(&comm->shared);
	pthread_join(comm->thread, NULL);
	comm->has_thread = false;
}

/* The rank has left; what it has given stays. */
static void drop(struct sim_comm *comm)
{
	sim_segment_leave(&comm->shared);
	stop_thread(comm);
	sim_comm_let_go(comm);
}

/* A rank that does not come, by its number; -1 if all that are here live. */
static int missing_rank(struct sim_comm *comm)
{
	for (int rank = 0; rank < comm->shared.n_ranks; rank++)
		if (sim_segment_is_gone(&comm->shared, rank))
			return rank;
	return -1;
}

int sim_comm_await_ranks(struct sim_comm *comm)
{
	uint64_t deadline = sim_clock_machine() + sim_knobs()->peer_wait_s * NS_PER_S;

	for (;;) {
		uint32_t heard = sim_segment_listen(&comm->shared);
		if (sim_segment_is_complete(&comm->shared))
			break;
		int gone = missing_rank(comm);
		if (gone >= 0)
			return sim_nccl_fail(SIM_NCCL_REMOTE_ERROR, "rank %d is gone before all ranks were there",
			                     gone);
		if (sim_clock_machine() >= deadline)
			return sim_nccl_fail(SIM_NCCL_REMOTE_ERROR, "rank %d of %d has waited %llu s for the others",
			                     comm->shared.rank, comm->shared.n_ranks,
			                     (unsigned long long)sim_knobs()->peer_wait_s);
		sim_segment_wait(&comm->shared, heard, LOOK_NS);
	}
	sim_segment_forget(&comm->shared, &comm->place);
	return SIM_NCCL_SUCCESS;
}

static int check_ranks(int n_ranks, int rank)
{
	if (n_ranks < 1 || rank < 0 || rank >= n_ranks)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "rank %d of %d", rank, n_ranks);
	if (n_ranks > SIM_NCCL_MAX_RANKS)
		return sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "%d ranks; the simulated devices have at most %d", n_ranks,
		                     SIM_NCCL_MAX_RANKS);
	return SIM_NCCL_SUCCESS;
}

/* A rank of the segment at that place, in the current context; the others need not be there yet. */
static int join(struct sim_comm **into, const struct sim_place *place, int n_ranks, int rank)
{
	struct sim_comm *comm = calloc(1, sizeof *comm);

	if (!comm)
		return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory for a communicator");
	CUresult opened = sim_vendor_open(&comm->device, "ncclDevKernel_Generic");
	if (opened == CUDA_SUCCESS)
		opened = sim_vendor_ordinal(&comm->ordinal);
	if (opened != CUDA_SUCCESS) {
		free(comm);
		return sim_nccl_fail(SIM_NCCL_CUDA_ERROR, "no device: CUDA error %d", (int)opened);
	}
	const char *reason = sim_segment_attach(place, n_ranks, rank, &comm->shared);
	if (reason) {
		free(comm);
		return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "rank %d of %d cannot find the others: %s", rank, n_ranks,
		                     reason);
	}
	comm->place = *place;
	atomic_store(&comm->n_users, 1);
	if (!start_thread(comm)) {
		drop(comm);
		return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no thread for a communicator");
	}
	*into = comm;
	return SIM_NCCL_SUCCESS;
}

/* Waits for the others, unless a group is open: then that is for its end. */
static int finish(struct sim_comm **into, struct sim_comm *comm)
{
	int result = sim_group_depth() > 0 ? sim_group_await(comm) : sim_comm_await_ranks(comm);

	if (result != SIM_NCCL_SUCCESS) {
		drop(comm);
		return result;
	}
	*into = comm;
	return SIM_NCCL_SUCCESS;
}

int ncclGetUniqueId(sim_nccl_id *id)
{
	struct sim_place place;

	if (!id)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclGetUniqueId: no place for the id");
	if (!sim_segment_make(&place))
		return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory to share between ranks");
	memset(id, 0, sizeof *id);
	memcpy(id->internal, &place, sizeof place);
	return SIM_NCCL_SUCCESS;
}

static int init_rank(struct sim_comm **into, int n_ranks, const sim_nccl_id *id, int rank, const void *caller)
{
	struct sim_comm *comm;
	struct sim_place place;
	int result = into ? check_ranks(n_ranks, rank) : SIM_NCCL_INVALID_ARGUMENT;

	sim_nccl_know_objects(caller);
	memcpy(&place, id->internal, sizeof place);
	if (result == SIM_NCCL_SUCCESS)
		result = join(&comm, &place, n_ranks, rank);
	return result == SIM_NCCL_SUCCESS ? finish(into, comm) : result;
}

int ncclCommInitRank(struct sim_comm **into, int n_ranks, sim_nccl_id id, int rank)
{
	return init_rank(into, n_ranks, &id, rank, __builtin_return_address(0));
}

/* The settings tune what is not simulated. A communicator that may be made without blocking is made all the same. */
int ncclCommInitRankConfig(struct sim_comm **into, int n_ranks, sim_nccl_id id, int rank, const void *config)
{
	(void)config;
	return init_rank(into, n_ranks, &id, rank, __builtin_return_address(0));
}

int ncclCommInitRankScalable(struct sim_comm **into, int n_ranks, int rank, int n_ids, const sim_nccl_id *ids,
                             const void *config)
{
	(void)config;
	if (n_ids < 1 || !ids)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommInitRankScalable: no id");
	return init_rank(into, n_ranks, &ids[0], rank, __builtin_return_address(0));
}

int ncclCommInitAll(struct sim_comm **comms, int n_devices, const int *devices)
{
	struct sim_place place;
	int result = comms ? check_ranks(n_devices, 0) : SIM_NCCL_INVALID_ARGUMENT, n = 0;

	if (result == SIM_NCCL_SUCCESS && !sim_segment_make(&place))
		result = sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory to share between ranks");
	for (; n < n_devices && result == SIM_NCCL_SUCCESS; n++) {
		CUresult chosen = sim_vendor_choose(devices ? devices[n] : n);
		result = chosen == CUDA_SUCCESS
		                 ? join(&comms[n], &place, n_devices, n)
		                 : sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "no device %d", devices ? devices[n] : n);
	}
	if (result == SIM_NCCL_SUCCESS)
		return sim_comm_await_ranks(comms[0]);
	while (--n > 0)
		drop(comms[n - 1]);
	return result;
}

/* Waits until all ranks have counted to n. */
static int await_split(struct sim_comm *comm, size_t counter, uint32_t n)
{
	for (int rank = 0; rank < comm->shared.n_ranks; rank++) {
		const char *split = (const char *)sim_segment_split(&comm->shared, rank);
		const _Atomic uint32_t *count = (const _Atomic uint32_t *)(split + counter);
		for (;;) {
			uint32_t heard = sim_segment_listen(&comm->shared);
			if (atomic_load(count) >= n)
				break;
			bool is_gone = sim_segment_is_gone(&comm->shared, rank);
			if (is_gone && atomic_load(count) < n)
				return sim_nccl_fail(SIM_NCCL_REMOTE_ERROR, "rank %d is gone while ranks are split",
				                     rank);
			sim_segment_wait(&comm->shared, heard, LOOK_NS);
		}
	}
	return SIM_NCCL_SUCCESS;
}

/* Where this rank stands among those of its color, how many there are, and which of them comes first. */
static void find_group(struct sim_comm *comm, int *n, int *own, int *first)
{
	const struct sim_split *self = sim_segment_split(&comm->shared, comm->shared.rank);

	*n = *own = 0;
	*first = -1;
	for (int rank = 0; rank < comm->shared.n_ranks; rank++) {
		const struct sim_split *other = sim_segment_split(&comm->shared, rank);
		if (other->color != self->color)
			continue;
		(*n)++;
		if (other->key < self->key || (other->key == self->key && rank < comm->shared.rank))
			(*own)++;
		if (*first < 0)
			*first = rank;
	}
}

static int split(struct sim_comm *comm, struct sim_comm **into)
{
	struct sim_split *self = sim_segment_split(&comm->shared, comm->shared.rank);
	uint32_t n_splits = comm->n_splits;
	int n, own, first;
	int result = await_split(comm, offsetof(struct sim_split, n_asked), n_splits);

	if (result != SIM_NCCL_SUCCESS)
		return result;
	find_group(comm, &n, &own, &first);
	if (self->color >= 0 && first == comm->shared.rank && !sim_segment_make(&self->place))
		return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory to share between ranks");
	atomic_store(&self->n_placed, n_splits);
	sim_segment_ring(&comm->shared);
	result = await_split(comm, offsetof(struct sim_split, n_placed), n_splits);
	if (result == SIM_NCCL_SUCCESS && self->color >= 0)
		result = join(into, &sim_segment_split(&comm->shared, first)->place, n, own);
	return result;
}

int ncclCommSplit(struct sim_comm *comm, int color, int key, struct sim_comm **into, const void *config)
{
	struct sim_comm *part = NULL;

	(void)config;
	if (!comm || !into || color < SIM_NCCL_NO_COLOR)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommSplit: color=%d", color);
	struct sim_split *self = sim_segment_split(&comm->shared, comm->shared.rank);
	/* What was said for the last split may be overwritten once all have read it. */
	int result = await_split(comm, offsetof(struct sim_split, n_done), comm->n_splits);
	if (result != SIM_NCCL_SUCCESS)
		return result;
	self->color = color;
	self->key = key;
	atomic_store(&self->n_asked, ++comm->n_splits);
	sim_segment_ring(&comm->shared);
	result = split(comm, &part);
	atomic_store(&self->n_done, comm->n_splits);
	sim_segment_ring(&comm->shared);
	*into = NULL;
	return result == SIM_NCCL_SUCCESS && part ? finish(into, part) : result;
}

/* Outstanding operations end first. */
int ncclCommFinalize(struct sim_comm *comm)
{
	if (!comm)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommFinalize: no communicator");
	if (atomic_load(&comm->is_aborted) || atomic_load(&comm->error))
		return atomic_load(&comm->error);
	return sim_exchange_wait(&comm->turn) == CUDA_SUCCESS ? SIM_NCCL_SUCCESS : SIM_NCCL_CUDA_ERROR;
}

int ncclCommDestroy(struct sim_comm *comm)
{
	if (!comm)
		return SIM_NCCL_SUCCESS;
	int result = ncclCommFinalize(comm);
	drop(comm);
	return result;
}

int ncclCommAbort(struct sim_comm *comm)
{
	if (!comm)
		return SIM_NCCL_SUCCESS;
	atomic_store(&comm->is_aborted, true);
	sim_segment_ring(&comm->shared);
	/* Who waits for its operations waits no more. */
	sim_exchange_progress();
	drop(comm);
	return SIM_NCCL_SUCCESS;
}

int ncclCommGetAsyncError(struct sim_comm *comm, int *error)
{
	if (!comm || !error)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommGetAsyncError: no communicator");
	*error = atomic_load(&comm->error);
	return SIM_NCCL_SUCCESS;
}

int ncclCommCount(const struct sim_comm *comm, int *count)
{
	if (!comm || !count)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommCount: no communicator");
	*count = comm->shared.n_ranks;
	return SIM_NCCL_SUCCESS;
}

int ncclCommCuDevice(const struct sim_comm *comm, int *device)
{
	if (!comm || !device)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommCuDevice: no communicator");
	*device = comm->ordinal;
	return SIM_NCCL_SUCCESS;
}

int ncclCommUserRank(const struct sim_comm *comm, int *rank)
{
	if (!comm || !rank)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "ncclCommUserRank: no communicator");
	*rank = comm->shared.rank;
	return SIM_NCCL_SUCCESS;
}
