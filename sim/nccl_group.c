/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_group.c - groups of calls, and the calls that make up one of their own
 */
#include "sim/nccl_exports.h"

#include <stdlib.h>

/* The calling thread's open group. */
static __thread struct {
	int depth;
	int result; /* the first failure of its calls */
	struct sim_nccl_task *tasks;
	size_t n, room;
	struct sim_comm *awaited[SIM_NCCL_MAX_RANKS];
	unsigned n_awaited;
} group;

int sim_group_depth(void)
{
	return group.depth;
}

int sim_group_await(struct sim_comm *comm)
{
	if (group.n_awaited == SIM_NCCL_MAX_RANKS)
		return sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "a group that makes more than %d communicators",
		                     SIM_NCCL_MAX_RANKS);
	group.awaited[group.n_awaited++] = comm;
	return SIM_NCCL_SUCCESS;
}

static int add(const struct sim_nccl_task *task)
{
	if (group.n == group.room) {
		size_t room = group.room ? 2 * group.room : 16;
		struct sim_nccl_task *tasks = realloc(group.tasks, room * sizeof *tasks);
		if (!tasks)
			return sim_nccl_fail(SIM_NCCL_SYSTEM_ERROR, "no memory for a group");
		group.tasks = tasks;
		group.room = room;
	}
	group.tasks[group.n++] = *task;
	return SIM_NCCL_SUCCESS;
}

/* Moves the tasks of the first one's communicator and stream to the front, in order, and returns how many they are. */
static size_t gather_batch(struct sim_nccl_task *tasks, size_t n)
{
	size_t same = 1;

	for (size_t i = 1; i < n; i++) {
		struct sim_nccl_task task = tasks[i];
		if (task.comm != tasks[0].comm || task.stream != tasks[0].stream)
			continue;
		for (size_t k = i; k > same; k--)
			tasks[k] = tasks[k - 1];
		tasks[same++] = task;
	}
	return same;
}

/* One rank has nobody to talk to: its call is a copy inside the device, if anything. */
static int submit_alone(const struct sim_nccl_task *task)
{
	size_t bytes = task->count * sim_nccl_element_bytes(task->type);

	if (task->send == task->receive || bytes == 0)
		return SIM_NCCL_SUCCESS;
	CUresult result = sim_vendor_copy(&task->comm->device, task->stream, task->receive, task->send, bytes);
	return result == CUDA_SUCCESS ? SIM_NCCL_SUCCESS
	                              : sim_nccl_fail(SIM_NCCL_CUDA_ERROR, "a copy failed: CUDA error %d", (int)result);
}

static bool is_alone(const struct sim_nccl_task *task)
{
	return task->comm->shared.n_ranks == 1 && task->reduction < SIM_NCCL_N_REDUCTIONS &&
	       task->kind != SIM_NCCL_SEND && task->kind != SIM_NCCL_RECEIVE;
}

static int submit(struct sim_nccl_task *tasks, size_t n)
{
	int result = SIM_NCCL_SUCCESS;

	for (size_t done = 0; done < n && result == SIM_NCCL_SUCCESS;) {
		if (is_alone(&tasks[done])) {
			result = submit_alone(&tasks[done++]);
			continue;
		}
		size_t same = gather_batch(tasks + done, n - done);
		result = sim_batch_submit(tasks + done, same);
		done += same;
	}
	return result;
}

/* The group is over; its result. */
static int end_group(bool submits)
{
	int result = group.result;

	for (unsigned i = 0; i < group.n_awaited && result == SIM_NCCL_SUCCESS; i++)
		result = sim_comm_await_ranks(group.awaited[i]);
	if (result == SIM_NCCL_SUCCESS && submits)
		result = submit(group.tasks, group.n);
	free(group.tasks);
	group.tasks = NULL;
	group.n = group.room = 0;
	group.n_awaited = 0;
	group.result = SIM_NCCL_SUCCESS;
	return result;
}

int sim_group_add(const struct sim_nccl_task *task)
{
	struct sim_nccl_task alone = *task;

	if (group.depth == 0)
		return submit(&alone, 1);
	int result = add(task);
	if (group.result == SIM_NCCL_SUCCESS)
		group.result = result;
	return result;
}

int ncclGroupStart(void)
{
	group.depth++;
	return SIM_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
	if (group.depth == 0)
		return sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "ncclGroupEnd without ncclGroupStart");
	return --group.depth == 0 ? end_group(true) : SIM_NCCL_SUCCESS;
}

int ncclGroupSimulateEnd(struct sim_nccl_estimate *estimate)
{
	uint64_t ns = 0;

	if (group.depth == 0)
		return sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "ncclGroupSimulateEnd without ncclGroupStart");
	for (size_t done = 0; done < group.n;) {
		size_t same = gather_batch(group.tasks + done, group.n - done);
		ns += sim_batch_ns(group.tasks + done, same);
		done += same;
	}
	if (estimate)
		estimate->time_us = (float)ns / 1000.0f;
	return --group.depth == 0 ? end_group(false) : SIM_NCCL_SUCCESS;
}
