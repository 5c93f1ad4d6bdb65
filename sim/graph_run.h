/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_run.h - one execution of a graph
 */
#ifndef SIM_GRAPH_RUN_H
#define SIM_GRAPH_RUN_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/graph_core.h"
#include "sim/stream.h"

/*
 * Submits the graph as one operation of the stream, not to begin before
 * not_before_ns; *complete_ns is when it ends. The graph must be sorted. On
 * failure nothing is submitted. may_be_alive: memory of a launch before, which
 * nobody freed, is freed now instead of being an error. Lock held; let go
 * while the stream's queue is full, so the graph must be kept by the caller.
 */
CUresult sim_graph_run(const struct sim_graph *graph, struct sim_stream *stream, uint64_t not_before_ns,
                       bool may_be_alive, uint64_t *complete_ns);

#endif
