/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_ranks.h - tests of the simulated NCCL: its functions, and ranks that are processes
 *
 * The test process never starts a device: each rank is a child of it, which
 * reports with its exit status. Ranks share an id that the parent made.
 */
#ifndef SY_TESTS_NCCL_RANKS_H
#define SY_TESTS_NCCL_RANKS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, E4M3, E5M2, N_TYPES };
enum { SUM, PROD, MAX, MIN, AVG, N_REDUCTIONS };
enum { SUCCESS = 0, CUDA_FAILED = 1, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };
enum { MAX_RANKS = 8, FAILED = 99 };

typedef struct {
	char internal[128];
} unique_id;
typedef struct comm *comm_t;

/* The functions under test: pointers of the same names, and a table to fill those. */
#define FUNCTIONS(F)                                                                                                   \
	F(int, ncclGetVersion, (int *))                                                                                \
	F(int, ncclGetUniqueId, (unique_id *))                                                                         \
	F(int, ncclCommInitRank, (comm_t *, int, unique_id, int))                                                      \
	F(int, ncclCommSplit, (comm_t, int, int, comm_t *, void *))                                                    \
	F(int, ncclCommDestroy, (comm_t))                                                                              \
	F(int, ncclCommAbort, (comm_t))                                                                                \
	F(int, ncclCommGetAsyncError, (comm_t, int *))                                                                 \
	F(int, ncclCommCount, (comm_t, int *))                                                                         \
	F(int, ncclCommUserRank, (comm_t, int *))                                                                      \
	F(int, ncclCommCuDevice, (comm_t, int *))                                                                      \
	F(const char *, ncclGetErrorString, (int))                                                                     \
	F(const char *, ncclGetLastError, (comm_t))                                                                    \
	F(int, ncclGroupStart, (void))                                                                                 \
	F(int, ncclGroupEnd, (void))                                                                                   \
	F(int, ncclAllReduce, (CUdeviceptr, CUdeviceptr, size_t, int, int, comm_t, CUstream))                          \
	F(int, ncclReduce, (CUdeviceptr, CUdeviceptr, size_t, int, int, int, comm_t, CUstream))                        \
	F(int, ncclBroadcast, (CUdeviceptr, CUdeviceptr, size_t, int, int, comm_t, CUstream))                          \
	F(int, ncclAllGather, (CUdeviceptr, CUdeviceptr, size_t, int, comm_t, CUstream))                               \
	F(int, ncclReduceScatter, (CUdeviceptr, CUdeviceptr, size_t, int, int, comm_t, CUstream))                      \
	F(int, ncclAlltoAll, (CUdeviceptr, CUdeviceptr, size_t, int, comm_t, CUstream))                                \
	F(int, ncclGather, (CUdeviceptr, CUdeviceptr, size_t, int, int, comm_t, CUstream))                             \
	F(int, ncclScatter, (CUdeviceptr, CUdeviceptr, size_t, int, int, comm_t, CUstream))                            \
	F(int, ncclSend, (CUdeviceptr, size_t, int, int, comm_t, CUstream))                                            \
	F(int, ncclRecv, (CUdeviceptr, size_t, int, int, comm_t, CUstream))                                            \
	F(int, ncclRedOpCreatePreMulSum, (int *, void *, int, int, comm_t))                                            \
	F(int, ncclRedOpDestroy, (int, comm_t))

#define DECLARE_FUNCTION(result, name, params) extern result(*name) params;
FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

/* For cmocka_run_group_tests(): finds the functions. */
int nccl_set_up(void **state);

/* In a rank: nothing of cmocka, which would go on to the next test in each of them. */
#define check(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			_exit(FAILED);                                                                                 \
		}                                                                                                      \
	} while (0)

struct rank {
	int rank, n;
	comm_t comm;
	CUstream stream;
	int *shared; /* MAX_SHARED numbers that all ranks and the parent see */
};

enum { MAX_SHARED = 64 };

/* What a rank does; its exit status. */
typedef int (*body_fn)(struct rank *self);

/* Begins n ranks. */
void nccl_start_ranks(int n, body_fn body);

/* Waits for a rank to end: its exit status; a signal s is 1000 + s. */
int nccl_wait_rank(int rank);

/* The same for all of them. */
void nccl_wait_ranks(int statuses[MAX_RANKS]);

/* The process of a rank. */
pid_t nccl_rank_pid(int rank);

/* What the ranks share, for the parent. */
int *nccl_shared(void);

/* Both, and all ranks must have returned 0. */
void nccl_run_ranks(int n, body_fn body);

#endif
