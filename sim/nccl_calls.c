/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_calls.c - collectives and sends: each call becomes a task
 */
#include "sim/nccl_exports.h"
#include "sim/nccl_task.h"

#include <string.h>

#include "sim/memory.h"

/* Larger than any device, and small enough that sizes do not overflow. */
#define MAX_COUNT ((size_t)1 << 38)

static bool is_reduction(const struct sim_comm *comm, int reduction, int type)
{
	int i = reduction - SIM_NCCL_N_REDUCTIONS;

	if (i < 0)
		return reduction >= 0;
	return i < SIM_NCCL_MAX_FACTORS && comm->factors[i].is_live && comm->factors[i].type == type;
}

static int check(const char *call, const struct sim_nccl_task *task)
{
	const struct sim_comm *comm = task->comm;

	if (!comm)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no communicator", call);
	if (task->type < 0 || task->type >= SIM_NCCL_N_TYPES)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no such type: %d", call, task->type);
	if (!is_reduction(comm, task->reduction, task->type))
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no such reduction: %d", call, task->reduction);
	if (task->root < 0 || task->root >= comm->shared.n_ranks)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no such rank: %d", call, task->root);
	if (task->count > MAX_COUNT)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: count=%llu", call,
		                     (unsigned long long)task->count);
	if (atomic_load(&comm->error))
		return atomic_load(&comm->error);
	return SIM_NCCL_SUCCESS;
}

/* True if the device can reach both ends of the buffer. */
static bool is_reachable(uintptr_t address, size_t bytes)
{
	struct sim_memory_facts first, last;

	if (bytes == 0)
		return true;
	sim_memory_facts(address, &first);
	sim_memory_facts(address + bytes - 1, &last);
	return first.kind != SIM_MEMORY_PAGEABLE && last.kind != SIM_MEMORY_PAGEABLE;
}

static int check_buffers(const char *call, const struct sim_nccl_task *task)
{
	struct sim_share share = sim_task_share(task);

	if (is_reachable(task->send, share.sends) && is_reachable(task->receive, sim_share_received(&share)))
		return SIM_NCCL_SUCCESS;
	return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT,
	                     "%s: a buffer that is not the device's: send=%#llx receive=%#llx", call,
	                     (unsigned long long)task->send, (unsigned long long)task->receive);
}

static int call(const char *name, const struct sim_nccl_task *task)
{
	int result = check(name, task);

	if (result == SIM_NCCL_SUCCESS)
		result = check_buffers(name, task);
	return result == SIM_NCCL_SUCCESS ? sim_group_add(task) : result;
}

/* Members that a call does not have are 0: the sum, and rank 0. */
#define TASK(kind_, ...)                                                                                               \
	(&(struct sim_nccl_task){                                                                                      \
		.comm = comm, .stream = stream, .kind = kind_, .count = count, .type = type, __VA_ARGS__ })
#define SEND .send = (uintptr_t)send
#define RECEIVE .receive = (uintptr_t)receive

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_ALL_REDUCE, SEND, RECEIVE, .reduction = reduction));
}

int ncclReduce(const void *send, void *receive, size_t count, int type, int reduction, int root, comm_t comm,
               CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_REDUCE, SEND, RECEIVE, .reduction = reduction, .root = root));
}

int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_BROADCAST, SEND, RECEIVE, .root = root));
}

int ncclBcast(void *buffer, size_t count, int type, int root, comm_t comm, CUstream stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclAllGather(const void *send, void *receive, size_t count, int type, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_ALL_GATHER, SEND, RECEIVE));
}

int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int reduction, comm_t comm,
                      CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_REDUCE_SCATTER, SEND, RECEIVE, .reduction = reduction));
}

int ncclAlltoAll(const void *send, void *receive, size_t count, int type, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_ALL_TO_ALL, SEND, RECEIVE));
}

int ncclGather(const void *send, void *receive, size_t count, int type, int root, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_GATHER, SEND, RECEIVE, .root = root));
}

int ncclScatter(const void *send, void *receive, size_t count, int type, int root, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_SCATTER, SEND, RECEIVE, .root = root));
}

int ncclSend(const void *send, size_t count, int type, int peer, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_SEND, SEND, .root = peer));
}

int ncclRecv(void *receive, size_t count, int type, int peer, comm_t comm, CUstream stream)
{
	return call(__func__, TASK(SIM_NCCL_RECEIVE, RECEIVE, .root = peer));
}

int ncclRedOpCreatePreMulSum(int *reduction, void *scalar, int type, int residence, comm_t comm)
{
	/* ncclScalarDevice: read when an operation needs it; ncclScalarHostImmediate: now. */
	enum { ON_DEVICE = 0, ON_HOST = 1 };

	if (!reduction || !scalar || !comm || type < 0 || type >= SIM_NCCL_N_TYPES ||
	    (residence != ON_DEVICE && residence != ON_HOST))
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: type=%d residence=%d", __func__, type, residence);
	for (int i = 0; i < SIM_NCCL_MAX_FACTORS; i++) {
		struct sim_nccl_factor *factor = &comm->factors[i];
		if (factor->is_live)
			continue;
		*factor = (struct sim_nccl_factor){ .is_live = true, .type = type };
		if (residence == ON_DEVICE)
			factor->device = (uintptr_t)scalar;
		else
			memcpy(factor->scalar, scalar, sim_nccl_element_bytes(type));
		*reduction = SIM_NCCL_N_REDUCTIONS + i;
		return SIM_NCCL_SUCCESS;
	}
	return sim_nccl_fail(SIM_NCCL_INVALID_USAGE, "%s: more than %d reductions", __func__, SIM_NCCL_MAX_FACTORS);
}

int ncclRedOpDestroy(int reduction, comm_t comm)
{
	int i = reduction - SIM_NCCL_N_REDUCTIONS;

	if (!comm || i < 0 || i >= SIM_NCCL_MAX_FACTORS || !comm->factors[i].is_live)
		return sim_nccl_fail(SIM_NCCL_INVALID_ARGUMENT, "%s: no such reduction: %d", __func__, reduction);
	comm->factors[i].is_live = false;
	return SIM_NCCL_SUCCESS;
}
