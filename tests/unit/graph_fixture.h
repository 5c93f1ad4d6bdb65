/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_fixture.h - what the tests of captures and graphs share
 *
 * kernel_ns=10000 and latency_ns=0, a call costs 1 ns and a queue holds 16
 * operations: what takes time is the kernels.
 */
#ifndef SY_TESTS_GRAPH_FIXTURE_H
#define SY_TESTS_GRAPH_FIXTURE_H

#include "tests/unit/sim_fixture.h"

#define KERNEL_NS 10000u

enum { GRAPH_BYTES = 4096 };

/* Made by graph_fixture_start(). */
struct graph_fixture {
	CUfunction kernel; /* only takes time */
	CUfunction adder;  /* adds its second argument to the int that its first points at */
	CUstream stream;   /* does not block */
	CUdeviceptr device;
	char *host; /* pinned */
};
extern struct graph_fixture the;

/* Call first in main(). */
void graph_fixture_start(void);

/* The set-up of each test: nothing outstanding, both buffers zero. */
int graph_fixture_settle(void **state);

CUgraph new_graph(void);
size_t n_nodes(CUgraph graph);
CUgraphExec instantiate(CUgraph graph);
CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *before, size_t n);
CUgraphNode add_adder(CUgraph graph, const CUgraphNode *before, size_t n, int amount);

/* Launches the adder. */
CUresult add_on(CUstream stream, int amount);

/* How long the host waits for one launch. */
uint64_t time_of(CUgraphExec exec);

/* The first int of the device's buffer. */
int value_on_device(void);

#endif
