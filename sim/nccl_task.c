/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_task.c - what each rank gives and takes in each collective, and what that costs
 */
#include "sim/nccl_task.h"

#define NS_PER_US 1000u

int sim_task_ranks(const struct sim_nccl_task *task)
{
	return task->comm->shared.n_ranks;
}

struct sim_channel sim_task_channel(const struct sim_nccl_task *task)
{
	const struct sim_attachment *shared = &task->comm->shared;

	if (task->kind == SIM_NCCL_SEND)
		return sim_segment_pair(shared, shared->rank, task->root);
	if (task->kind == SIM_NCCL_RECEIVE)
		return sim_segment_pair(shared, task->root, shared->rank);
	return sim_segment_collective(shared);
}

struct sim_share sim_task_share(const struct sim_nccl_task *task)
{
	unsigned n = (unsigned)sim_task_ranks(task), rank = (unsigned)task->comm->shared.rank,
		 root = (unsigned)task->root;
	size_t bytes = task->count * sim_nccl_element_bytes(task->type);
	bool is_root = rank == root;

	switch (task->kind) {
	case SIM_NCCL_ALL_REDUCE:
		return (struct sim_share){ rank, bytes, 0, n, 0, bytes, true };
	case SIM_NCCL_REDUCE:
		return (struct sim_share){ rank, bytes, 0, is_root ? n : 0, 0, is_root ? bytes : 0, true };
	case SIM_NCCL_BROADCAST:
		return (struct sim_share){ rank, is_root ? bytes : 0, root, 1, 0, bytes, false };
	case SIM_NCCL_ALL_GATHER:
		return (struct sim_share){ rank, bytes, 0, n, 0, bytes, false };
	case SIM_NCCL_REDUCE_SCATTER:
		return (struct sim_share){ rank, n * bytes, 0, n, rank * bytes, bytes, true };
	case SIM_NCCL_ALL_TO_ALL:
		return (struct sim_share){ rank, n * bytes, 0, n, rank * bytes, bytes, false };
	case SIM_NCCL_GATHER:
		return (struct sim_share){ rank, bytes, 0, is_root ? n : 0, 0, is_root ? bytes : 0, false };
	case SIM_NCCL_SCATTER:
		return (struct sim_share){ rank, is_root ? n * bytes : 0, root, 1, rank * bytes, bytes, false };
	case SIM_NCCL_SEND:
		return (struct sim_share){ 0, bytes, 0, 0, 0, 0, false };
	default:
		return (struct sim_share){ 1, 0, 0, 1, 0, bytes, false };
	}
}

size_t sim_share_received(const struct sim_share *share)
{
	return share->reads * (share->is_reduced ? 1 : share->n_from);
}

int sim_task_rank_of(const struct sim_nccl_task *task, unsigned party)
{
	int own = task->comm->shared.rank;

	if (task->kind == SIM_NCCL_SEND)
		return party == 0 ? own : task->root;
	if (task->kind == SIM_NCCL_RECEIVE)
		return party == 0 ? task->root : own;
	return (int)party;
}

/* What crosses the slowest link, by the usual algorithms: a ring for collectives. */
static double moved(const struct sim_nccl_task *task)
{
	double n = sim_task_ranks(task), bytes = (double)(task->count * sim_nccl_element_bytes(task->type));

	switch (task->kind) {
	case SIM_NCCL_ALL_REDUCE:
		return 2 * bytes * (n - 1) / n;
	case SIM_NCCL_ALL_GATHER:
	case SIM_NCCL_REDUCE_SCATTER:
	case SIM_NCCL_ALL_TO_ALL:
	case SIM_NCCL_GATHER:
	case SIM_NCCL_SCATTER:
		return bytes * (n - 1);
	default:
		return bytes;
	}
}

uint64_t sim_batch_ns(const struct sim_nccl_task *tasks, size_t n)
{
	double bytes = 0, rate = (double)sim_knobs()->nccl_rate;

	for (size_t i = 0; i < n; i++)
		bytes += moved(&tasks[i]);
	/* An exchange ends after it has begun, whatever the knobs say. */
	return 1 + sim_knobs()->nccl_latency_ns + (uint64_t)(bytes * NS_PER_US / rate);
}
