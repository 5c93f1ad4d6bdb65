/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"

struct graph_fixture the;

static void run_adder(const struct synctally_sim_launch *launch)
{
	int *at = synctally_sim_host_view(*(void **)launch->args[0]);

	*at += *(int *)launch->args[1];
}

int graph_fixture_settle(void **state)
{
	(void)state;
	ok(cuCtxSynchronize());
	memset(the.host, 0, GRAPH_BYTES);
	ok(cuMemsetD8_v2(the.device, 0, GRAPH_BYTES));
	ok(cuCtxSynchronize());
	return 0;
}

CUgraph new_graph(void)
{
	CUgraph graph;

	ok(cuGraphCreate(&graph, 0));
	return graph;
}

CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *before, size_t n)
{
	CUDA_KERNEL_NODE_PARAMS params = { .func = the.kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL, NULL };
	CUgraphNode node;

	ok(cuGraphAddKernelNode(&node, graph, before, n, &params));
	return node;
}

CUgraphNode add_adder(CUgraph graph, const CUgraphNode *before, size_t n, int amount)
{
	void *args[] = { &the.device, &amount };
	CUDA_KERNEL_NODE_PARAMS params = { .func = the.adder, 1, 1, 1, 1, 1, 1, 0, args, NULL, NULL, NULL };
	CUgraphNode node;

	ok(cuGraphAddKernelNode(&node, graph, before, n, &params));
	return node;
}

CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec;

	ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

uint64_t time_of(CUgraphExec exec)
{
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	return ledger_last().waited_ns;
}

int value_on_device(void)
{
	return *(int *)synctally_sim_host_view((void *)the.device);
}

size_t n_nodes(CUgraph graph)
{
	size_t n = 0;

	ok(cuGraphGetNodes(graph, NULL, &n));
	return n;
}

CUresult add_on(CUstream stream, int amount)
{
	void *args[] = { &the.device, &amount };

	return cuLaunchKernel(the.adder, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
}

void graph_fixture_start(void)
{
	static const size_t sizes[] = { sizeof(void *), sizeof(int) };
	const struct synctally_sim_kernel adding = {
		.name = "adder", .run = run_adder, .n_args = 2, .arg_bytes = sizes
	};

	sim_fixture_start(
		"clock=virtual,kernel_ns=10000,latency_ns=0,call_ns=1,launch_call_ns=1,wait_call_ns=1,"
		"queue_depth=16,host_func_ns=0,d2h_rate=1000000000,h2d_rate=1000000000");
	sim_fixture_context();
	synctally_sim_register_kernel(&adding);
	the.kernel = sim_fixture_kernel("only takes time");
	the.adder = sim_fixture_kernel("adder");
	ok(cuStreamCreate(&the.stream, CU_STREAM_NON_BLOCKING));
	ok(cuMemAlloc_v2(&the.device, GRAPH_BYTES));
	ok(cuMemAllocHost_v2((void **)&the.host, GRAPH_BYTES));
}
