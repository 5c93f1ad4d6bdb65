/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_exports.h - the functions of libnccl.so.2, as the NCCL user guide has them
 */
#ifndef SIM_NCCL_EXPORTS_H
#define SIM_NCCL_EXPORTS_H

#include "sim/nccl.h"

/* NCCL_SPLIT_NOCOLOR: the rank takes part in a split, and in none of its communicators. */
enum { SIM_NCCL_NO_COLOR = -1 };

/* ncclSimInfo_t, as far as it is written here. */
struct sim_nccl_estimate {
	size_t bytes;
	unsigned magic, version;
	float time_us;
};

typedef struct sim_comm *comm_t;

#define NCCL(...) SIM_EXPORT int __VA_ARGS__;

NCCL(ncclGetVersion(int *version))
NCCL(ncclGetUniqueId(sim_nccl_id *id))
NCCL(ncclCommInitRank(comm_t *comm, int n_ranks, sim_nccl_id id, int rank))
NCCL(ncclCommInitRankConfig(comm_t *comm, int n_ranks, sim_nccl_id id, int rank, const void *config))
NCCL(ncclCommInitRankScalable(comm_t *comm, int n_ranks, int rank, int n_ids, const sim_nccl_id *ids,
                              const void *config))
NCCL(ncclCommInitAll(comm_t *comms, int n_devices, const int *devices))
NCCL(ncclCommSplit(comm_t comm, int color, int key, comm_t *part, const void *config))
NCCL(ncclCommFinalize(comm_t comm))
NCCL(ncclCommDestroy(comm_t comm))
NCCL(ncclCommAbort(comm_t comm))
NCCL(ncclCommGetAsyncError(comm_t comm, int *error))
NCCL(ncclCommCount(const struct sim_comm *comm, int *count))
NCCL(ncclCommCuDevice(const struct sim_comm *comm, int *device))
NCCL(ncclCommUserRank(const struct sim_comm *comm, int *rank))
NCCL(ncclCommRegister(comm_t comm, void *buffer, size_t bytes, void **handle))
NCCL(ncclCommDeregister(comm_t comm, void *handle))
NCCL(ncclMemAlloc(void **address, size_t bytes))
NCCL(ncclMemFree(void *address))

NCCL(ncclGroupStart(void))
NCCL(ncclGroupEnd(void))
NCCL(ncclGroupSimulateEnd(struct sim_nccl_estimate *estimate))

NCCL(ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction, comm_t comm,
                   CUstream stream))
NCCL(ncclReduce(const void *send, void *receive, size_t count, int type, int reduction, int root, comm_t comm,
                CUstream stream))
NCCL(ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, comm_t comm, CUstream stream))
NCCL(ncclBcast(void *buffer, size_t count, int type, int root, comm_t comm, CUstream stream))
NCCL(ncclAllGather(const void *send, void *receive, size_t count, int type, comm_t comm, CUstream stream))
NCCL(ncclReduceScatter(const void *send, void *receive, size_t count, int type, int reduction, comm_t comm,
                       CUstream stream))
NCCL(ncclAlltoAll(const void *send, void *receive, size_t count, int type, comm_t comm, CUstream stream))
NCCL(ncclGather(const void *send, void *receive, size_t count, int type, int root, comm_t comm, CUstream stream))
NCCL(ncclScatter(const void *send, void *receive, size_t count, int type, int root, comm_t comm, CUstream stream))
NCCL(ncclSend(const void *send, size_t count, int type, int peer, comm_t comm, CUstream stream))
NCCL(ncclRecv(void *receive, size_t count, int type, int peer, comm_t comm, CUstream stream))

NCCL(ncclRedOpCreatePreMulSum(int *reduction, void *scalar, int type, int residence, comm_t comm))
NCCL(ncclRedOpDestroy(int reduction, comm_t comm))

#undef NCCL

SIM_EXPORT const char *ncclGetErrorString(int result);
SIM_EXPORT const char *ncclGetLastError(const struct sim_comm *comm);

#endif
