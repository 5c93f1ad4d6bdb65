/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_graph.c - libcuda: graphs, their shape, and what they keep alive; conditional nodes are refused */
#include "sim/cuda_face.h"

#include <string.h>

#include "sim/device.h"
#include "sim/graph.h"
#include "sim/say.h"

SIM_EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
	SIM_TOUCH();
	return graph && flags == 0 ? sim_graph_create(graph) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
	SIM_TOUCH();
	return sim_graph_destroy(graph);
}

SIM_EXPORT CUresult cuGraphClone(CUgraph *clone, CUgraph original)
{
	SIM_TOUCH();
	return clone ? sim_graph_clone(clone, original) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
	SIM_TOUCH();
	(void)flags;
	return path ? sim_graph_print(graph, path) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
                                                   unsigned initial, unsigned flags)
{
	SIM_TOUCH();
	(void)handle;
	(void)graph;
	(void)context;
	(void)initial;
	(void)flags;
	sim_refuse("cuGraphConditionalHandleCreate");
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- lists ---- */

SIM_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	SIM_TOUCH();
	return n ? sim_graph_list_nodes(graph, false, nodes, n) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	SIM_TOUCH();
	return n ? sim_graph_list_nodes(graph, true, nodes, n) : CUDA_ERROR_INVALID_VALUE;
}

/* All edges are ordinary ones. */
static CUresult clear(CUresult result, CUgraphEdgeData *edges, const size_t *n)
{
	if (result == CUDA_SUCCESS && edges)
		memset(edges, 0, *n * sizeof *edges);
	return result;
}

SIM_EXPORT CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                                       size_t *n)
{
	SIM_TOUCH();
	if (!n || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	return clear(sim_graph_list_edges(graph, from, to, n), from ? edges : NULL, n);
}

SIM_EXPORT CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	return cuGraphGetEdges_v2(graph, from, to, NULL, n);
}

SIM_EXPORT CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                                  size_t *n)
{
	SIM_TOUCH();
	return n ? clear(sim_node_list_before(node, nodes, n), nodes ? edges : NULL, n) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
	return cuGraphNodeGetDependencies_v2(node, nodes, NULL, n);
}

SIM_EXPORT CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                                    size_t *n)
{
	SIM_TOUCH();
	return n ? clear(sim_node_list_after(node, nodes, n), nodes ? edges : NULL, n) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
	return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, n);
}

/* ---- shape ---- */

SIM_EXPORT CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                              const CUgraphEdgeData *edges, size_t n)
{
	SIM_TOUCH();
	return sim_edges_are_plain(edges, n) ? sim_graph_add_edges(graph, from, to, n) : CUDA_ERROR_NOT_SUPPORTED;
}

SIM_EXPORT CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	return cuGraphAddDependencies_v2(graph, from, to, NULL, n);
}

SIM_EXPORT CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                                 const CUgraphEdgeData *edges, size_t n)
{
	SIM_TOUCH();
	return sim_edges_are_plain(edges, n) ? sim_graph_remove_edges(graph, from, to, n) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	return cuGraphRemoveDependencies_v2(graph, from, to, NULL, n);
}

SIM_EXPORT CUresult cuGraphDestroyNode(CUgraphNode node)
{
	SIM_TOUCH();
	return sim_node_destroy(node);
}

SIM_EXPORT CUresult cuGraphNodeFindInClone(CUgraphNode *copy, CUgraphNode original, CUgraph clone)
{
	SIM_TOUCH();
	return copy ? sim_node_find_in_clone(copy, original, clone) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- user objects ---- */

SIM_EXPORT CUresult cuUserObjectCreate(CUuserObject *object, void *ptr, CUhostFn destroy, unsigned count,
                                       unsigned flags)
{
	SIM_TOUCH();
	if (!object || !destroy || count == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_object_create(object, ptr, destroy, count);
}

SIM_EXPORT CUresult cuUserObjectRetain(CUuserObject object, unsigned count)
{
	SIM_TOUCH();
	return count ? sim_object_retain(object, count) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
	SIM_TOUCH();
	return count ? sim_object_release(object, count) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
	SIM_TOUCH();
	if (count == 0 || flags > CU_GRAPH_USER_OBJECT_MOVE)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_graph_retain_object(graph, object, count, flags == CU_GRAPH_USER_OBJECT_MOVE);
}

SIM_EXPORT CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count)
{
	SIM_TOUCH();
	return count ? sim_graph_release_object(graph, object, count) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- memory of graphs: its address range is kept with the nodes, so there is nothing to report or to trim ---- */

SIM_EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
	SIM_TOUCH();
	(void)attribute;
	if (!value || !sim_device(device))
		return value ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	memset(value, 0, sizeof(cuuint64_t));
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
	SIM_TOUCH();
	(void)attribute;
	if (!sim_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	return value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	SIM_TOUCH();
	return sim_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
