/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_runtime_graphs.c - capture and graphs through the runtime: its own structures, kernels named by stubs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "sim/include/synctally_sim.h"
#include "tests/unit/sim_fixture.h"

#define fine(call) assert_int_equal((int)(call), cudaSuccess)

enum { BYTES = 1024 };

static cudaStream_t stream;
static char *device, *host;

/* Addresses stand for kernels: one that is registered, and one that is not. */
static char stub, unknown;

static void run_add(const struct synctally_sim_launch *launch)
{
	*(int *)synctally_sim_host_view(*(void **)launch->args[0]) += *(int *)launch->args[1];
}

static struct cudaKernelNodeParams adding(void **args)
{
	return (struct cudaKernelNodeParams){
		.func = &stub, .gridDim = { 1, 1, 1 }, .blockDim = { 1, 1, 1 }, .kernelParams = args
	};
}

static int settle(void **state)
{
	(void)state;
	fine(cudaDeviceSynchronize());
	memset(host, 0, BYTES);
	fine(cudaMemset(device, 0, BYTES));
	fine(cudaDeviceSynchronize());
	return 0;
}

static int value(void)
{
	return *(int *)synctally_sim_host_view(device);
}

static void run(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	fine(cudaGraphInstantiate(&exec, graph, 0));
	fine(cudaGraphLaunch(exec, stream));
	fine(cudaStreamSynchronize(stream));
	fine(cudaGraphExecDestroy(exec));
}

static void a_captured_launch_is_replayed(void **state)
{
	int amount = 2;
	void *args[] = { &device, &amount };
	enum cudaStreamCaptureStatus status;
	const cudaGraphNode_t *before;
	unsigned long long id;
	cudaGraph_t graph;
	size_t n;

	(void)state;
	fine(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	fine(cudaLaunchKernel(&stub, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, args, 0, stream));
	amount = 100;
	fine(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &before, NULL, &n));
	assert_int_equal(status, cudaStreamCaptureStatusActive);
	assert_int_equal(n, 1);
	fine(cudaStreamEndCapture(stream, &graph));
	run(graph);
	run(graph);
	assert_int_equal(value(), 4);
	fine(cudaGraphDestroy(graph));
}

static void nodes_take_and_give_the_runtime_s_parameters(void **state)
{
	int amount = 2, other = 5;
	void *args[] = { &device, &amount }, *other_args[] = { &device, &other };
	struct cudaKernelNodeParams kernel = adding(args), kernel_back;
	struct cudaMemsetParams set = { device, 0, 7, 1, BYTES / 2, 1 }, set_back;
	struct cudaMemcpy3DParms copy_back;
	cudaGraphNode_t nodes[3];
	cudaGraph_t graph;

	(void)state;
	fine(cudaGraphCreate(&graph, 0));
	fine(cudaGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set));
	fine(cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel));
	fine(cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, host, device, BYTES, cudaMemcpyDeviceToHost));
	fine(cudaGraphKernelNodeGetParams(nodes[1], &kernel_back));
	assert_ptr_equal(kernel_back.func, kernel.func);
	assert_int_equal(*(int *)kernel_back.kernelParams[1], 2);
	kernel_back.kernelParams = other_args;
	fine(cudaGraphKernelNodeSetParams(nodes[1], &kernel_back));
	fine(cudaGraphMemsetNodeGetParams(nodes[0], &set_back));
	assert_true(set_back.dst == set.dst && set_back.width == set.width && set_back.value == 7);
	set_back.value = 0;
	fine(cudaGraphMemsetNodeSetParams(nodes[0], &set_back));
	fine(cudaGraphMemcpyNodeGetParams(nodes[2], &copy_back));
	assert_true(copy_back.dstPtr.ptr == host && copy_back.srcPtr.ptr == device);
	assert_true(copy_back.extent.width == BYTES && copy_back.kind == cudaMemcpyDeviceToHost);
	run(graph);
	assert_int_equal(*(int *)host, 5);
	kernel.func = &unknown;
	assert_int_equal(cudaGraphAddKernelNode(&nodes[0], graph, NULL, 0, &kernel), cudaErrorInvalidDeviceFunction);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
	fine(cudaGraphDestroy(graph));
}

static void nodes_of_any_kind(void **state)
{
	int amount = 3;
	void *args[] = { &device, &amount };
	struct cudaGraphNodeParams kernel = { .type = cudaGraphNodeTypeKernel },
				   set = { .type = cudaGraphNodeTypeMemset };
	struct cudaGraphNodeParams condition = { .type = cudaGraphNodeTypeConditional };
	cudaGraphConditionalHandle handle;
	cudaGraphNode_t nodes[2], refused;
	enum cudaGraphNodeType type;
	cudaGraph_t graph;

	(void)state;
	set.memset.dst = device;
	set.memset.value = 1;
	set.memset.elementSize = 4;
	set.memset.width = 1;
	set.memset.height = 1;
	kernel.kernel.func = &stub;
	kernel.kernel.gridDim = kernel.kernel.blockDim = (dim3){ 1, 1, 1 };
	kernel.kernel.kernelParams = args;
	fine(cudaGraphCreate(&graph, 0));
	fine(cudaGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &set));
	fine(cudaGraphAddNode(&nodes[1], graph, &nodes[0], NULL, 1, &kernel));
	fine(cudaGraphNodeGetType(nodes[1], &type));
	assert_int_equal(type, cudaGraphNodeTypeKernel);
	assert_int_equal(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), cudaErrorNotSupported);
	assert_int_equal(cudaGraphAddNode(&refused, graph, NULL, NULL, 0, &condition), cudaErrorNotSupported);
	run(graph);
	assert_int_equal(value(), 4);
	amount = 9;
	fine(cudaGraphNodeSetParams(nodes[1], &kernel));
	run(graph);
	assert_int_equal(value(), 10);
	cudaGetLastError();
	fine(cudaGraphDestroy(graph));
}

static void a_graph_can_be_drawn(void **state)
{
	char path[] = "/tmp/synctally-graph-XXXXXX", text[4096];
	int amount = 1;
	void *args[] = { &device, &amount };
	struct cudaKernelNodeParams kernel = adding(args);
	cudaGraphNode_t first, second;
	cudaGraph_t graph;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	fine(cudaGraphCreate(&graph, 0));
	fine(cudaGraphAddKernelNode(&first, graph, NULL, 0, &kernel));
	fine(cudaGraphAddEmptyNode(&second, graph, &first, 1));
	fine(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsVerbose));
	ssize_t n = read(fd, text, sizeof text - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "digraph"));
	assert_non_null(strstr(text, "add two numbers"));
	assert_non_null(strstr(text, "EMPTY"));
	assert_non_null(strstr(text, " -> "));
	close(fd);
	unlink(path);
	assert_int_equal(cudaGraphDebugDotPrint(graph, "/nonexistent/graph.dot", 0), cudaErrorOperatingSystem);
	cudaGetLastError();
	fine(cudaGraphDestroy(graph));
}

static void memory_of_graphs_answers_zero(void **state)
{
	uint64_t bytes = 1;

	(void)state;
	fine(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
	assert_int_equal(bytes, 0);
	fine(cudaDeviceGraphMemTrim(0));
}

#define TEST(function) cmocka_unit_test_setup(function, settle)

int main(void)
{
	static const size_t sizes[] = { sizeof(void *), sizeof(int) };
	const struct synctally_sim_kernel kernel = {
		.name = "add two numbers", .stub = &stub, .run = run_add, .n_args = 2, .arg_bytes = sizes
	};
	const struct CMUnitTest tests[] = {
		TEST(a_captured_launch_is_replayed),
		TEST(nodes_take_and_give_the_runtime_s_parameters),
		TEST(nodes_of_any_kind),
		TEST(a_graph_can_be_drawn),
		TEST(memory_of_graphs_answers_zero),
	};

	sim_fixture_start("clock=virtual");
	synctally_sim_register_kernel(&kernel);
	fine(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	fine(cudaMalloc((void **)&device, BYTES));
	fine(cudaMallocHost((void **)&host, BYTES));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
