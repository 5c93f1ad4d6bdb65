/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - two captures, the first of them spoilt by a wait, and a launch of
 *             what the second made; prints what every step of it returned
 */
#include <cuda_runtime_api.h>
#include <stdio.h>

static void say(const char *what, unsigned result)
{
	printf("%s: %u\n", what, result);
}

/* A copy from the host, two sets, and a copy back. */
static void four_nodes(char *device, char *host, cudaStream_t stream)
{
	say("upload", cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream));
	say("set", cudaMemsetAsync(device, 1, 4096, stream));
	say("set", cudaMemsetAsync(device, 2, 4096, stream));
	say("readback", cudaMemcpyAsync(host, device, 4096, cudaMemcpyDeviceToHost, stream));
}

int main(void)
{
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaGraph_t graph = NULL;
	char *device, *host;
	size_t n = 0;

	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	cudaMalloc((void **)&device, 4096);
	cudaMallocHost((void **)&host, 4096);
	say("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	four_nodes(device, host, stream);
	say("cudaStreamSynchronize while capturing", cudaStreamSynchronize(stream));
	say("set after that", cudaMemsetAsync(device, 3, 4096, stream));
	say("end", cudaStreamEndCapture(stream, &graph));
	say("a graph of it", (unsigned)(graph != NULL));
	say("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	four_nodes(device, host, stream);
	say("end", cudaStreamEndCapture(stream, &graph));
	say("count", cudaGraphGetNodes(graph, NULL, &n));
	say("nodes of a good capture", (unsigned)n);
	say("instantiate", cudaGraphInstantiate(&exec, graph, 0));
	say("byte before the launch", (unsigned char)host[0]);
	say("launch", cudaGraphLaunch(exec, stream));
	say("synchronize", cudaStreamSynchronize(stream));
	say("byte after it", (unsigned char)host[0]);
	say("last error", cudaGetLastError());
	return 0;
}
