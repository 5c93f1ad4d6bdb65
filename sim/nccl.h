/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h - the simulated NCCL: what its files share
 *
 * NVIDIA's header is not needed to build: enumerators and layouts are facts
 * from the public NCCL user guide. Enum parameters are declared int, which
 * calls the same way.
 *
 * A call is one task; a group, or a call outside of one, is one batch per
 * communicator and stream. A batch is one launch, and one exchange of the
 * core (exchange.h). All ranks are processes or threads of one machine.
 */
#ifndef SIM_NCCL_H
#define SIM_NCCL_H

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/exchange.h"
#include "sim/knobs.h"
#include "sim/nccl_segment.h"
#include "sim/vendor_launch.h"

/* ncclResult_t */
enum sim_nccl_result {
	SIM_NCCL_SUCCESS = 0,
	SIM_NCCL_CUDA_ERROR = 1,
	SIM_NCCL_SYSTEM_ERROR = 2,
	SIM_NCCL_INTERNAL_ERROR = 3,
	SIM_NCCL_INVALID_ARGUMENT = 4,
	SIM_NCCL_INVALID_USAGE = 5,
	SIM_NCCL_REMOTE_ERROR = 6,
};

/* ncclDataType_t */
enum sim_nccl_type {
	SIM_NCCL_INT8,
	SIM_NCCL_UINT8,
	SIM_NCCL_INT32,
	SIM_NCCL_UINT32,
	SIM_NCCL_INT64,
	SIM_NCCL_UINT64,
	SIM_NCCL_FLOAT16,
	SIM_NCCL_FLOAT32,
	SIM_NCCL_FLOAT64,
	SIM_NCCL_BFLOAT16,
	SIM_NCCL_FLOAT8_E4M3,
	SIM_NCCL_FLOAT8_E5M2,
	SIM_NCCL_N_TYPES,
};

/* ncclRedOp_t; what a program makes itself comes after */
enum sim_nccl_reduction {
	SIM_NCCL_SUM,
	SIM_NCCL_PROD,
	SIM_NCCL_MAX,
	SIM_NCCL_MIN,
	SIM_NCCL_AVG,
	SIM_NCCL_N_REDUCTIONS,
};

/* ncclUniqueId, passed by value */
typedef struct {
	char internal[128];
} sim_nccl_id;

/* ncclRedOpCreatePreMulSum(): the sum of what the ranks give, each times its scalar. */
struct sim_nccl_factor {
	bool is_live;
	int type;
	uintptr_t device; /* where the scalar is when it is needed; 0: it is here */
	char scalar[8];
};

enum { SIM_NCCL_MAX_FACTORS = 64 };

/* ncclComm_t. One thread at a time, as the real one, except for ncclCommAbort() and ncclCommGetAsyncError(). */
struct sim_comm {
	struct sim_vendor device;
	int ordinal;
	struct sim_attachment shared;
	struct sim_place place;
	uint64_t n_collectives;
	uint64_t n_sent[SIM_NCCL_MAX_RANKS];     /* to that rank */
	uint64_t n_received[SIM_NCCL_MAX_RANKS]; /* from that rank */
	struct sim_turn turn;
	struct sim_nccl_factor factors[SIM_NCCL_MAX_FACTORS];
	unsigned n_splits;
	pthread_t thread;
	bool has_thread;
	_Atomic int error; /* an enum sim_nccl_result, for ncclCommGetAsyncError() */
	_Atomic bool is_aborted;
	_Atomic bool is_ending;   /* its thread is to end */
	_Atomic unsigned n_users; /* the program, and every batch under way; the last one frees */
};

enum sim_nccl_kind {
	SIM_NCCL_ALL_REDUCE,
	SIM_NCCL_REDUCE,
	SIM_NCCL_BROADCAST,
	SIM_NCCL_ALL_GATHER,
	SIM_NCCL_REDUCE_SCATTER,
	SIM_NCCL_ALL_TO_ALL,
	SIM_NCCL_GATHER,
	SIM_NCCL_SCATTER,
	SIM_NCCL_SEND,
	SIM_NCCL_RECEIVE,
};

/* One call. */
struct sim_nccl_task {
	struct sim_comm *comm;
	CUstream stream;
	enum sim_nccl_kind kind;
	uintptr_t send, receive;
	uint64_t count; /* elements, as the call counts them */
	int type, reduction;
	int root;   /* or the other rank of a send or receive */
	uint64_t n; /* it is the n-th of its channel */
};

/* Remembers a failure for ncclGetLastError() and says it in one line; returns `result`. */
int sim_nccl_fail(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *sim_nccl_last_failure(void);
const char *sim_nccl_result_text(int result);

/* nccl_objects.c: for the PyTorch that `caller` is in, once: how large objects are that ranks send each other. */
void sim_nccl_know_objects(const void *caller);

/* nccl_comm.c: a batch begins or ends to use a communicator. */
void sim_comm_hold(struct sim_comm *comm);
void sim_comm_let_go(struct sim_comm *comm);

/* A failure that the program finds with ncclCommGetAsyncError(). The first one stays. True if this is it. */
bool sim_comm_fail(struct sim_comm *comm, int result);

/* nccl_group.c: groups nest; depth is 0 outside of any. */
int sim_group_depth(void);

/* The task, now or at the end of the group. An enum sim_nccl_result. */
int sim_group_add(const struct sim_nccl_task *task);

/* A communicator whose ranks need not all be there before the end of the group. */
int sim_group_await(struct sim_comm *comm);

/* nccl_comm.c: waits until all ranks are there. */
int sim_comm_await_ranks(struct sim_comm *comm);

/* nccl_batch.c: submits tasks of one communicator and stream as one launch. */
int sim_batch_submit(const struct sim_nccl_task *tasks, size_t n);

/* nccl_task.c: device time of such a batch. */
uint64_t sim_batch_ns(const struct sim_nccl_task *tasks, size_t n);

/* nccl_reduce.c */
size_t sim_nccl_element_bytes(int type);

/* into = into reduction from, for n elements of what sim_reduce_begin() made; the type decides about their size. */
struct sim_accumulator {
	int type, reduction, n_ranks;
	size_t room; /* elements */
	union {
		double *f64;
		float *f32;
		uint64_t *u64;
	} sum;
};

/* False without memory. */
bool sim_reduce_begin(struct sim_accumulator *sum, int type, int reduction, int n_ranks, size_t room);
void sim_reduce_add(struct sim_accumulator *sum, const void *elements, size_t n, bool is_first);
void sim_reduce_store(const struct sim_accumulator *sum, void *elements, size_t n);
void sim_reduce_end(struct sim_accumulator *sum);

/* Multiplies elements by a scalar of their type. */
void sim_reduce_scale(int type, void *elements, size_t n, const void *scalar);

#endif
