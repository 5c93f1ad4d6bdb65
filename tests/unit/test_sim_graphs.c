/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_graphs.c - launches of graphs: what runs when, and what it does */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/graph_fixture.h"

static CUDA_MEMCPY3D line_to_host(void *to, CUdeviceptr from, size_t bytes)
{
	return (CUDA_MEMCPY3D){ .srcMemoryType = CU_MEMORYTYPE_DEVICE,
		                .srcDevice = from,
		                .dstMemoryType = CU_MEMORYTYPE_HOST,
		                .dstHost = to,
		                .WidthInBytes = bytes,
		                .Height = 1,
		                .Depth = 1 };
}

static CUgraphNode add_readback(CUgraph graph, const CUgraphNode *before, size_t n)
{
	CUDA_MEMCPY3D copy = line_to_host(the.host, the.device, GRAPH_BYTES);
	CUgraphNode node;

	ok(cuGraphAddMemcpyNode(&node, graph, before, n, &copy, NULL));
	return node;
}

static void nodes_run_one_after_another_and_side_by_side(void **state)
{
	CUgraph graph = new_graph();
	CUgraphNode first = add_kernel(graph, NULL, 0);
	CUgraphNode middle[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		middle[i] = add_kernel(graph, &first, 1);
	add_kernel(graph, middle, 3);
	CUgraphExec exec = instantiate(graph);
	assert_in_range(time_of(exec), 3 * KERNEL_NS - 100, 3 * KERNEL_NS);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void a_launch_is_one_operation_and_no_entry_of_the_ledger(void **state)
{
	CUgraph graph = new_graph();

	(void)state;
	for (int i = 0; i < 40; i++)
		add_kernel(graph, NULL, 0);
	CUgraphExec exec = instantiate(graph);
	unsigned long n = ledger_count();
	/* The queue holds 16 operations: were each node one, this would block. */
	ok(cuGraphLaunch(exec, the.stream));
	assert_int_equal(ledger_count(), n);
	ok(cuStreamSynchronize(the.stream));
	assert_true(ledger_last().is_pending);
	ok(cuStreamSynchronize(the.stream));
	assert_false(ledger_last().is_pending);
	/* The seventeenth launch waits for the first. */
	for (int i = 0; i < 17; i++)
		ok(cuGraphLaunch(exec, the.stream));
	assert_string_equal(ledger_last().class, "BACKPRESSURE");
	assert_string_equal(ledger_last().api, "cuGraphLaunch");
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void arguments_are_copied_when_the_node_is_made(void **state)
{
	CUgraph graph = new_graph();
	CUgraphNode first = add_adder(graph, NULL, 0, 3);

	(void)state;
	add_adder(graph, &first, 1, 4);
	CUgraphExec exec = instantiate(graph);
	assert_int_equal(value_on_device(), 0);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuGraphLaunch(exec, the.stream));
	assert_int_equal(value_on_device(), 0);
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 2 * (3 + 4));
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void memory_changes_when_each_node_is_complete(void **state)
{
	CUgraph graph = new_graph();
	CUgraphNode node = add_adder(graph, NULL, 0, 1);

	(void)state;
	node = add_kernel(graph, &node, 1);
	add_adder(graph, &node, 1, 1);
	CUgraphExec exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	synctally_sim_host_work(KERNEL_NS + KERNEL_NS / 2);
	assert_int_equal(cuStreamQuery(the.stream), CUDA_ERROR_NOT_READY);
	assert_int_equal(value_on_device(), 1);
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 2);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void launches_of_one_executable_do_not_overlap(void **state)
{
	CUgraph graph = new_graph();
	CUstream other;

	(void)state;
	ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	add_kernel(graph, NULL, 0);
	CUgraphExec exec = instantiate(graph), second = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuGraphLaunch(exec, other));
	ok(cuStreamSynchronize(other));
	assert_in_range(ledger_last().waited_ns, 2 * KERNEL_NS - 100, 2 * KERNEL_NS);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuGraphLaunch(second, other));
	ok(cuStreamSynchronize(other));
	assert_in_range(ledger_last().waited_ns, KERNEL_NS - 100, KERNEL_NS);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphExecDestroy(second));
	ok(cuGraphDestroy(graph));
	ok(cuStreamDestroy_v2(other));
}

static void append_letter(void *letter)
{
	size_t length = strlen(the.host);

	the.host[length] = *(char *)letter;
	the.host[length + 1] = '\0';
}

static void host_nodes_run_in_order(void **state)
{
	static char letters[] = "abc";
	CUgraph graph = new_graph();
	CUgraphNode nodes[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		CUDA_HOST_NODE_PARAMS params = { append_letter, &letters[i] };
		ok(cuGraphAddHostNode(&nodes[i], graph, NULL, 0, &params));
	}
	/* c before b before a. */
	ok(cuGraphAddDependencies(graph, &nodes[2], &nodes[1], NULL, 1));
	ok(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], NULL, 1));
	CUgraphExec exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_string_equal(the.host, "cbacba");
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void copies_and_sets_are_made_at_the_launch(void **state)
{
	CUgraph graph = new_graph();
	CUDA_MEMSET_NODE_PARAMS set = { the.device, 0, 7, 1, GRAPH_BYTES, 1 };
	CUgraphNode node;

	(void)state;
	ok(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, NULL));
	add_readback(graph, &node, 1);
	CUgraphExec exec = instantiate(graph);
	assert_int_equal(the.host[0], 0);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(the.host[0], 7);
	assert_int_equal(the.host[GRAPH_BYTES - 1], 7);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void kernels_in_a_graph_make_the_device_unknown(void **state)
{
	CUgraph graph = new_graph();
	int value = -1;

	(void)state;
	ok(cuMemsetD8_v2(the.device, 9, GRAPH_BYTES));
	add_kernel(graph, NULL, 0);
	CUgraphExec exec = instantiate(graph);
	ok(cuMemcpyDtoH_v2(&value, the.device, sizeof value));
	assert_int_equal(value, 0x09090909);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	ok(cuMemcpyDtoH_v2(&value, the.device, sizeof value));
	assert_int_equal(value, 0);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void a_child_graph_is_a_copy(void **state)
{
	CUgraph child = new_graph(), graph = new_graph(), inside;
	CUgraphNode node;
	size_t n = 0;

	(void)state;
	add_adder(child, NULL, 0, 1);
	ok(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	add_adder(child, NULL, 0, 1);
	ok(cuGraphDestroy(child));
	ok(cuGraphChildGraphNodeGetGraph(node, &inside));
	ok(cuGraphGetNodes(inside, NULL, &n));
	assert_int_equal(n, 1);
	assert_int_equal(cuGraphDestroy(inside), CUDA_ERROR_INVALID_VALUE);
	add_adder(graph, &node, 1, 10);
	CUgraphExec exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 11);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void events_are_recorded_and_waited_for_inside(void **state)
{
	CUgraph graph = new_graph();
	CUevent start, middle;
	CUgraphNode node;

	(void)state;
	ok(cuEventCreate(&start, CU_EVENT_DEFAULT));
	ok(cuEventCreate(&middle, CU_EVENT_DEFAULT));
	/* Another stream is busy for three kernels; the graph waits for it, then takes two. */
	for (int i = 0; i < 3; i++)
		sim_fixture_launch(the.kernel, CU_STREAM_PER_THREAD);
	ok(cuEventRecord(start, CU_STREAM_PER_THREAD));
	ok(cuGraphAddEventWaitNode(&node, graph, NULL, 0, start));
	node = add_kernel(graph, &node, 1);
	ok(cuGraphAddEventRecordNode(&node, graph, &node, 1, middle));
	add_kernel(graph, &node, 1);
	CUgraphExec exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuEventSynchronize(middle));
	assert_in_range(ledger_last().waited_ns, 4 * KERNEL_NS - 100, 4 * KERNEL_NS);
	/* The event says nothing about the rest of the graph, but something about what the graph waited for. */
	ok(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	assert_false(ledger_last().is_pending);
	ok(cuStreamSynchronize(the.stream));
	assert_true(ledger_last().is_pending);
	assert_in_range(ledger_last().waited_ns, KERNEL_NS - 100, KERNEL_NS);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

#define TEST(function) cmocka_unit_test_setup(function, graph_fixture_settle)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nodes_run_one_after_another_and_side_by_side),
		TEST(a_launch_is_one_operation_and_no_entry_of_the_ledger),
		TEST(arguments_are_copied_when_the_node_is_made),
		TEST(memory_changes_when_each_node_is_complete),
		TEST(launches_of_one_executable_do_not_overlap),
		TEST(host_nodes_run_in_order),
		TEST(copies_and_sets_are_made_at_the_launch),
		TEST(kernels_in_a_graph_make_the_device_unknown),
		TEST(a_child_graph_is_a_copy),
		TEST(events_are_recorded_and_waited_for_inside),
	};

	graph_fixture_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
