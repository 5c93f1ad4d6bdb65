/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_capture.c - stream capture: what becomes a node, and in what order nodes come (R20) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/graph_fixture.h"

static void begin(CUstream stream)
{
	ok(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static CUgraph end(CUstream stream)
{
	CUgraph graph = NULL;

	ok(cuStreamEndCapture(stream, &graph));
	assert_non_null(graph);
	return graph;
}

static CUgraphNodeType type_of(CUgraph graph, size_t place)
{
	CUgraphNode nodes[16];
	CUgraphNodeType type;
	size_t n = 16;

	ok(cuGraphGetNodes(graph, nodes, &n));
	assert_true(place < n);
	ok(cuGraphNodeGetType(nodes[place], &type));
	return type;
}

static size_t n_edges(CUgraph graph)
{
	size_t n = 0;

	ok(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
	return n;
}

static void mark(void *flag)
{
	*(int *)flag += 1;
}

static void work_becomes_nodes_and_is_not_done(void **state)
{
	static int n_calls;
	CUdeviceptr memory;

	(void)state;
	the.host[0] = 5;
	begin(the.stream);
	ok(add_on(the.stream, 1));
	ok(cuMemcpyHtoDAsync_v2(the.device + 64, the.host, 8, the.stream));
	ok(cuMemsetD8Async(the.device + 128, 3, 8, the.stream));
	ok(cuLaunchHostFunc(the.stream, mark, &n_calls));
	ok(cuMemAllocAsync(&memory, 256, the.stream));
	ok(cuMemFreeAsync(memory, the.stream));
	CUgraph graph = end(the.stream);
	const CUgraphNodeType expected[] = { CU_GRAPH_NODE_TYPE_KERNEL,    CU_GRAPH_NODE_TYPE_MEMCPY,
		                             CU_GRAPH_NODE_TYPE_MEMSET,    CU_GRAPH_NODE_TYPE_HOST,
		                             CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE };
	assert_int_equal(n_nodes(graph), 6);
	assert_int_equal(n_edges(graph), 5);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(type_of(graph, i), expected[i]);
	ok(cuStreamSynchronize(the.stream));
	assert_false(ledger_last().is_pending);
	assert_int_equal(value_on_device(), 0);
	assert_int_equal(n_calls, 0);
	CUgraphExec exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 1);
	assert_int_equal(((char *)synctally_sim_host_view((void *)the.device))[64], 5);
	assert_int_equal(((char *)synctally_sim_host_view((void *)the.device))[128], 3);
	assert_int_equal(n_calls, 1);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void captured_copies_are_in_the_ledger_and_wait_for_nothing(void **state)
{
	char pageable[64] = { 0 };
	CUstream other;

	(void)state;
	ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	/* Outside the capture this would wait for the kernel. */
	sim_fixture_launch(the.kernel, the.stream);
	begin(the.stream);
	ok(cuMemcpyDtoHAsync_v2(pageable, the.device, sizeof pageable, the.stream));
	struct ledger_line line = ledger_last();
	assert_string_equal(line.api, "cuMemcpyDtoHAsync_v2");
	assert_int_equal(line.status, 0);
	assert_int_equal(line.waited_ns, 0);
	assert_false(line.is_pending);
	assert_int_equal(line.bytes, sizeof pageable);
	assert_string_equal(line.destination, "pageable");
	/* Work of other streams goes on as ever. */
	sim_fixture_launch(the.kernel, other);
	ok(cuMemcpyDtoHAsync_v2(the.host, the.device, 4, other));
	assert_true(ledger_last().is_pending);
	ok(cuGraphDestroy(end(the.stream)));
	/* The kernel from before the capture is still to be waited for. */
	ok(cuStreamSynchronize(the.stream));
	assert_true(ledger_last().is_pending);
	ok(cuStreamSynchronize(other));
	ok(cuStreamDestroy_v2(other));
}

static void streams_join_by_events_and_come_back(void **state)
{
	CUstream other;
	CUevent fork, join;

	(void)state;
	ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ok(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
	ok(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
	begin(the.stream);
	sim_fixture_launch(the.kernel, the.stream);
	ok(cuEventRecord(fork, the.stream));
	ok(cuStreamWaitEvent(other, fork, CU_EVENT_WAIT_DEFAULT));
	sim_fixture_launch(the.kernel, other);
	sim_fixture_launch(the.kernel, the.stream);
	ok(cuEventRecord(join, other));
	ok(cuStreamWaitEvent(the.stream, join, CU_EVENT_WAIT_DEFAULT));
	sim_fixture_launch(the.kernel, the.stream);
	CUgraph graph = end(the.stream);
	CUstreamCaptureStatus status;
	ok(cuStreamIsCapturing(other, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	/* A diamond: four kernels, three of them after one another. */
	assert_int_equal(n_nodes(graph), 4);
	assert_int_equal(n_edges(graph), 4);
	CUgraphExec exec = instantiate(graph);
	assert_in_range(time_of(exec), 3 * KERNEL_NS - 100, 3 * KERNEL_NS);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
	ok(cuStreamDestroy_v2(other));
}

static void external_events_become_nodes(void **state)
{
	CUevent before, after;

	(void)state;
	ok(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
	ok(cuEventCreate(&after, CU_EVENT_DISABLE_TIMING));
	ok(cuEventRecord(before, CU_STREAM_PER_THREAD));
	begin(the.stream);
	ok(cuStreamWaitEvent(the.stream, before, CU_EVENT_WAIT_EXTERNAL));
	sim_fixture_launch(the.kernel, the.stream);
	ok(cuEventRecordWithFlags(after, the.stream, CU_EVENT_RECORD_EXTERNAL));
	CUgraph graph = end(the.stream);
	assert_int_equal(type_of(graph, 0), CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	assert_int_equal(type_of(graph, 2), CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	CUgraphExec exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuEventSynchronize(after));
	assert_in_range(ledger_last().waited_ns, KERNEL_NS - 100, KERNEL_NS);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void a_graph_launched_in_a_capture_is_a_child(void **state)
{
	CUgraph inner = new_graph();

	(void)state;
	add_adder(inner, NULL, 0, 2);
	CUgraphExec exec = instantiate(inner);
	begin(the.stream);
	ok(cuGraphLaunch(exec, the.stream));
	ok(add_on(the.stream, 1));
	CUgraph graph = end(the.stream);
	assert_int_equal(type_of(graph, 0), CU_GRAPH_NODE_TYPE_GRAPH);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(inner));
	exec = instantiate(graph);
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(value_on_device(), 3);
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphDestroy(graph));
}

static void the_capture_tells_about_itself(void **state)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	const CUgraphNode *before = NULL;
	const CUgraphEdgeData *edges = NULL;
	cuuint64_t id = 0, other_id = 0;
	CUgraph graph = NULL;
	size_t n = 9;

	(void)state;
	ok(cuStreamGetCaptureInfo_v3(the.stream, &status, &id, &graph, &before, &edges, &n));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	assert_true(id == 0 && graph == NULL && n == 9);
	begin(the.stream);
	sim_fixture_launch(the.kernel, the.stream);
	ok(cuStreamGetCaptureInfo_v3(the.stream, &status, &id, &graph, &before, &edges, &n));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_true(id != 0 && n == 1 && edges[0].type == 0);
	assert_int_equal(n_nodes(graph), 1);
	assert_int_equal(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
	assert_true(end(the.stream) == graph);
	begin(the.stream);
	ok(cuStreamGetCaptureInfo_v3(the.stream, &status, &other_id, NULL, NULL, NULL, NULL));
	assert_true(other_id != id);
	ok(cuGraphDestroy(end(the.stream)));
	ok(cuGraphDestroy(graph));
}

static void dependencies_can_be_added_and_replaced(void **state)
{
	CUstreamCaptureStatus status;
	const CUgraphNode *before;
	CUgraphNode manual;
	CUgraph graph;
	size_t n;

	(void)state;
	assert_int_equal(cuStreamUpdateCaptureDependencies_v2(the.stream, NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
	begin(the.stream);
	sim_fixture_launch(the.kernel, the.stream);
	ok(cuStreamGetCaptureInfo_v3(the.stream, &status, NULL, &graph, &before, NULL, &n));
	ok(cuGraphAddEmptyNode(&manual, graph, before, n));
	ok(cuStreamUpdateCaptureDependencies_v2(the.stream, &manual, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	sim_fixture_launch(the.kernel, the.stream); /* after the kernel and the empty node */
	assert_int_equal(n_edges(graph), 3);
	ok(cuStreamUpdateCaptureDependencies_v2(the.stream, &manual, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	sim_fixture_launch(the.kernel, the.stream); /* after the empty node alone */
	assert_int_equal(n_edges(graph), 4);
	ok(cuGraphDestroy(end(the.stream)));
}

static void a_capture_can_fill_a_graph_of_the_program(void **state)
{
	CUgraph graph = new_graph(), same;
	CUgraphNode first = add_adder(graph, NULL, 0, 1);

	(void)state;
	ok(cuStreamBeginCaptureToGraph(the.stream, graph, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
	ok(add_on(the.stream, 2));
	ok(cuStreamEndCapture(the.stream, &same));
	assert_true(same == graph);
	assert_int_equal(n_nodes(graph), 2);
	assert_int_equal(n_edges(graph), 1);
	/* A capture that fails leaves the program its graph. */
	ok(cuStreamBeginCaptureToGraph(the.stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
	assert_int_equal(cuStreamSynchronize(the.stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_int_equal(cuStreamEndCapture(the.stream, &same), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_null(same);
	ok(cuGraphDestroy(graph));
}

static void memory_of_a_graph_lives_from_launch_to_free(void **state)
{
	CUdeviceptr memory;
	size_t before, after, total;
	CUgraphExec exec, freeing;

	(void)state;
	ok(cuMemGetInfo_v2(&before, &total));
	begin(the.stream);
	ok(cuMemAllocAsync(&memory, 1 << 20, the.stream));
	ok(cuMemsetD8Async(memory, 1, 1 << 20, the.stream));
	CUgraph graph = end(the.stream), clone;
	assert_int_equal(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
	exec = instantiate(graph);
	/* Nothing is alive before the launch; afterwards it must be freed before the next. */
	assert_int_equal(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
	ok(cuGraphLaunch(exec, the.stream));
	assert_int_equal(cuGraphLaunch(exec, the.stream), CUDA_ERROR_INVALID_VALUE);
	ok(cuMemFreeAsync(memory, the.stream));
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuMemFree_v2(memory));
	ok(cuGraphInstantiateWithFlags(&freeing, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
	ok(cuGraphLaunch(freeing, the.stream));
	ok(cuGraphLaunch(freeing, the.stream));
	ok(cuMemFreeAsync(memory, the.stream));
	ok(cuGraphExecDestroy(exec));
	ok(cuGraphExecDestroy(freeing));
	ok(cuGraphDestroy(graph));
	ok(cuCtxSynchronize());
	ok(cuMemGetInfo_v2(&after, &total));
	assert_int_equal(after, before);
}

static void what_a_graph_needs_lives_as_long_as_it_does(void **state)
{
	static int n_destroyed;
	CUuserObject object;
	CUgraph graph = new_graph(), clone;

	(void)state;
	add_kernel(graph, NULL, 0);
	ok(cuUserObjectCreate(&object, &n_destroyed, mark, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	ok(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	ok(cuGraphClone(&clone, graph));
	CUgraphExec exec = instantiate(clone);
	ok(cuGraphDestroy(graph));
	ok(cuGraphDestroy(clone));
	ok(cuGraphLaunch(exec, the.stream));
	ok(cuGraphExecDestroy(exec));
	/* The launch is not complete yet. */
	assert_int_equal(n_destroyed, 0);
	ok(cuStreamSynchronize(the.stream));
	assert_int_equal(n_destroyed, 1);
	assert_int_equal(cuUserObjectRetain(object, 1), CUDA_ERROR_INVALID_VALUE);
	ok(cuUserObjectCreate(&object, &n_destroyed, mark, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	ok(cuUserObjectRelease(object, 1));
	assert_int_equal(n_destroyed, 1);
	ok(cuUserObjectRelease(object, 1));
	assert_int_equal(n_destroyed, 2);
}

#define TEST(function) cmocka_unit_test_setup(function, graph_fixture_settle)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(work_becomes_nodes_and_is_not_done),
		TEST(captured_copies_are_in_the_ledger_and_wait_for_nothing),
		TEST(streams_join_by_events_and_come_back),
		TEST(external_events_become_nodes),
		TEST(a_graph_launched_in_a_capture_is_a_child),
		TEST(the_capture_tells_about_itself),
		TEST(dependencies_can_be_added_and_replaced),
		TEST(a_capture_can_fill_a_graph_of_the_program),
		TEST(memory_of_a_graph_lives_from_launch_to_free),
		TEST(what_a_graph_needs_lives_as_long_as_it_does),
	};

	graph_fixture_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
