/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_task.h - one call of NCCL's, seen from one rank: its part in an operation of a channel
 */
#ifndef SIM_NCCL_TASK_H
#define SIM_NCCL_TASK_H

#include "sim/nccl.h"

/* What a party of a task does. Bytes. */
struct sim_share {
	unsigned party;
	size_t sends;          /* what it gives */
	unsigned from, n_from; /* the parties it reads */
	size_t offset, reads;  /* what it reads of each of them */
	bool is_reduced;       /* into one, or else one after the other */
};

struct sim_share sim_task_share(const struct sim_nccl_task *task);

/* Bytes received in all. */
size_t sim_share_received(const struct sim_share *share);

int sim_task_ranks(const struct sim_nccl_task *task);

/* The rank behind a party. */
int sim_task_rank_of(const struct sim_nccl_task *task, unsigned party);

struct sim_channel sim_task_channel(const struct sim_nccl_task *task);

#endif
