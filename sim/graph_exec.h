/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_exec.h - executable graphs: making them, launching them, changing them
 *
 * A launch is one operation of its stream. Its nodes run inside it, each as
 * soon as those before it are complete, and change memory when they would on a
 * device. These functions take the lock themselves.
 */
#ifndef SIM_GRAPH_EXEC_H
#define SIM_GRAPH_EXEC_H

#include <cuda.h>
#include <stdbool.h>

#include "sim/graph_work.h"
#include "sim/knobs.h"

/* CUDA_ERROR_INVALID_VALUE for a graph with a circle. Submits nothing. */
SIM_EXPORT CUresult sim_exec_create(CUgraphExec *exec, CUgraph graph, unsigned long long flags);

/* Launches in flight go on; what the graph kept alive for them lives until they are complete. */
SIM_EXPORT CUresult sim_exec_destroy(CUgraphExec exec);

SIM_EXPORT CUresult sim_exec_flags(CUgraphExec exec, cuuint64_t *flags);

/* In a capturing stream the launch becomes a child graph node. */
SIM_EXPORT CUresult sim_exec_launch(CUgraphExec exec, CUstream stream);

/* Says whether both exist: uploading takes no time here and is no operation. */
SIM_EXPORT CUresult sim_exec_upload(CUgraphExec exec, CUstream stream);

/* Takes over the parameters of a graph of the same shape; CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, and why, of another. */
SIM_EXPORT CUresult sim_exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);

/* Other work for the copy of one node of the graph that the executable was made of. */
SIM_EXPORT CUresult sim_exec_set(CUgraphExec exec, CUgraphNode node, const struct sim_work *work);
SIM_EXPORT CUresult sim_exec_set_enabled(CUgraphExec exec, CUgraphNode node, bool is_enabled);
SIM_EXPORT CUresult sim_exec_is_enabled(CUgraphExec exec, CUgraphNode node, unsigned *is_enabled);

#endif
