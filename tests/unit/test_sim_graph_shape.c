/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_graph_shape.c - graphs as a program builds, copies and changes them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/graph_fixture.h"

static void shape_can_be_listed_and_changed(void **state)
{
	CUgraph graph = new_graph();
	CUgraphNode a = add_kernel(graph, NULL, 0), b = add_kernel(graph, &a, 1), c = add_kernel(graph, &b, 1);
	CUgraphNode nodes[4], from[4], to[4];
	size_t n = 4;

	(void)state;
	ok(cuGraphGetNodes(graph, nodes, &n));
	assert_int_equal(n, 3);
	assert_true(nodes[0] == a && nodes[1] == b && nodes[2] == c && nodes[3] == NULL);
	n = 4;
	ok(cuGraphGetRootNodes(graph, nodes, &n));
	assert_true(n == 1 && nodes[0] == a);
	ok(cuGraphAddDependencies(graph, &a, &c, NULL, 1));
	assert_int_equal(cuGraphAddDependencies(graph, &a, &c, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	n = 4;
	ok(cuGraphGetEdges(graph, from, to, NULL, &n));
	assert_int_equal(n, 3);
	ok(cuGraphRemoveDependencies(graph, &b, &c, NULL, 1));
	assert_int_equal(cuGraphRemoveDependencies(graph, &b, &c, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	n = 4;
	ok(cuGraphNodeGetDependencies(c, nodes, NULL, &n));
	assert_true(n == 1 && nodes[0] == a);
	n = 4;
	ok(cuGraphNodeGetDependentNodes(a, nodes, NULL, &n));
	assert_true(n == 2 && nodes[0] == b && nodes[1] == c);
	ok(cuGraphDestroyNode(a));
	assert_int_equal(cuGraphDestroyNode(a), CUDA_ERROR_INVALID_VALUE);
	n = 0;
	ok(cuGraphGetNodes(graph, NULL, &n));
	assert_int_equal(n, 2);
	ok(cuGraphDestroy(graph));
	assert_int_equal(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
}

static void a_circle_cannot_be_instantiated(void **state)
{
	CUgraph graph = new_graph();
	CUgraphNode a = add_kernel(graph, NULL, 0), b = add_kernel(graph, &a, 1);
	CUDA_GRAPH_INSTANTIATE_PARAMS params = { 0 };
	CUgraphExec exec;

	(void)state;
	ok(cuGraphAddDependencies(graph, &b, &a, NULL, 1));
	assert_int_equal(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
	ok(cuGraphDestroy(graph));
}

static void a_clone_is_independent(void **state)
{
	CUgraph graph = new_graph(), clone;
	CUgraphNode node = add_adder(graph, NULL, 0, 1), copy;
	int amount = 5;
	void *args[] = { &the.device, &amount };
	CUDA_KERNEL_NODE_PARAMS params = { .func = the.adder, 1, 1, 1, 1, 1, 1, 0, args, NULL, NULL, NULL };

	(void)state;
	ok(cuGraphClone(&clone, graph));
	ok(cuGraphNodeFindInClone(&copy, node, clone));
	assert_true(copy != node);
	ok(cuGraphKernelNodeSetParams(node, &params));
	ok(cuGraphDestroy(graph));
	CUgraphExec exec = instantiate(clone);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 1);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(clone));
}

static void an_executable_takes_new_parameters(void **state)
{
	CUgraph graph = new_graph();
	CUgraphNode node = add_adder(graph, NULL, 0, 1), other = add_kernel(graph, &node, 1);
	CUgraphExec exec = instantiate(graph);
	int amount = 5;
	void *args[] = { &the.device, &amount };
	CUDA_KERNEL_NODE_PARAMS params = { .func = the.adder, 1, 1, 1, 1, 1, 1, 0, args, NULL, NULL, NULL };
	unsigned is_enabled = 0;

	(void)state;
	ok(cuGraphExecKernelNodeSetParams(exec, node, &params));
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 5);
	ok(cuGraphNodeGetEnabled(exec, other, &is_enabled));
	assert_int_equal(is_enabled, 1);
	ok(cuGraphNodeSetEnabled(exec, other, 0));
	assert_in_range(time_of(exec), KERNEL_NS - 100, KERNEL_NS);
	ok(cuGraphExecDestroy(exec));
	assert_int_equal(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphLaunch(exec, the.stream), CUDA_ERROR_INVALID_VALUE);
	ok(cuGraphDestroy(graph));
}

static void an_update_needs_the_same_shape(void **state)
{
	CUgraph graph = new_graph(), same = new_graph(), longer = new_graph(), kind = new_graph(), edge = new_graph();
	CUgraphNode node = add_adder(graph, NULL, 0, 1);
	CUgraphExecUpdateResultInfo info;
	CUgraphNode empty;

	(void)state;
	add_kernel(graph, &node, 1);
	CUgraphExec exec = instantiate(graph);
	node = add_adder(same, NULL, 0, 7);
	add_kernel(same, &node, 1);
	ok(cuGraphExecUpdate(exec, same, &info));
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 7);
	add_kernel(longer, NULL, 0);
	assert_int_equal(cuGraphExecUpdate(exec, longer, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	add_kernel(kind, NULL, 0);
	ok(cuGraphAddEmptyNode(&empty, kind, NULL, 0));
	assert_int_equal(cuGraphExecUpdate(exec, kind, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	assert_true(info.errorNode == empty);
	add_kernel(edge, NULL, 0);
	node = add_kernel(edge, NULL, 0);
	assert_int_equal(cuGraphExecUpdate(exec, edge, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	assert_true(info.errorNode == node);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
	ok(cuGraphDestroy(same));
	ok(cuGraphDestroy(longer));
	ok(cuGraphDestroy(kind));
	ok(cuGraphDestroy(edge));
}

#define TEST(function) cmocka_unit_test_setup(function, graph_fixture_settle)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(shape_can_be_listed_and_changed), TEST(a_circle_cannot_be_instantiated),
		TEST(a_clone_is_independent),          TEST(an_executable_takes_new_parameters),
		TEST(an_update_needs_the_same_shape),
	};

	graph_fixture_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
