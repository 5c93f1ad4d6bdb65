/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_graph.c - libcudart: graphs and executable graphs, each function through the driver's */
#include "sim/cudart_face.h"

/* Functions without a row that only pass their arguments on. */
#define FORWARD(name, params, call)                                                                                    \
	SIM_EXPORT cudaError_t name params                                                                             \
	{                                                                                                              \
		RT_READY();                                                                                            \
		return rt_noted(call);                                                                                 \
	}

FORWARD(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags), DRV(cuGraphCreate)(graph, flags))
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), DRV(cuGraphDestroy)(graph))
FORWARD(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t original), DRV(cuGraphClone)(clone, original))
FORWARD(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned flags),
        DRV(cuGraphDebugDotPrint)(graph, path, flags))
FORWARD(cudaGraphConditionalHandleCreate,
        (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned initial, unsigned flags),
        DRV(cuGraphConditionalHandleCreate)((CUgraphConditionalHandle *)handle, graph, NULL, initial, flags))
FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), DRV(cuGraphDestroyNode)(node))
FORWARD(cudaGraphNodeFindInClone, (cudaGraphNode_t * copy, cudaGraphNode_t original, cudaGraph_t clone),
        DRV(cuGraphNodeFindInClone)(copy, original, clone))
FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
        DRV(cuGraphNodeGetType)(node, (CUgraphNodeType *)type))
FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n),
        DRV(cuGraphGetNodes)(graph, nodes, n))
FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n),
        DRV(cuGraphGetRootNodes)(graph, nodes, n))

/* ---- edges: since CUDA 13 only with their data ---- */

#if CUDART_VERSION >= 13000
#define NAME(name) name
#else
#define NAME(name) name##_v2
FORWARD(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n),
        DRV(cuGraphGetEdges)(graph, from, to, NULL, n))
FORWARD(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n),
        DRV(cuGraphNodeGetDependencies)(node, nodes, NULL, n))
FORWARD(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n),
        DRV(cuGraphNodeGetDependentNodes)(node, nodes, NULL, n))
FORWARD(cudaGraphAddDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n),
        DRV(cuGraphAddDependencies)(graph, from, to, NULL, n))
FORWARD(cudaGraphRemoveDependencies,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n),
        DRV(cuGraphRemoveDependencies)(graph, from, to, NULL, n))
#endif
FORWARD(NAME(cudaGraphGetEdges),
        (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *n),
        DRV(cuGraphGetEdges)(graph, from, to, (CUgraphEdgeData *)edges, n))
FORWARD(NAME(cudaGraphNodeGetDependencies),
        (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *n),
        DRV(cuGraphNodeGetDependencies)(node, nodes, (CUgraphEdgeData *)edges, n))
FORWARD(NAME(cudaGraphNodeGetDependentNodes),
        (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *n),
        DRV(cuGraphNodeGetDependentNodes)(node, nodes, (CUgraphEdgeData *)edges, n))
FORWARD(NAME(cudaGraphAddDependencies),
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
         size_t n),
        DRV(cuGraphAddDependencies)(graph, from, to, (const CUgraphEdgeData *)edges, n))
FORWARD(NAME(cudaGraphRemoveDependencies),
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
         size_t n),
        DRV(cuGraphRemoveDependencies)(graph, from, to, (const CUgraphEdgeData *)edges, n))

/* ---- executables ---- */

FORWARD(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
        DRV(cuGraphInstantiateWithFlags)(exec, graph, flags))
FORWARD(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
        DRV(cuGraphInstantiateWithFlags)(exec, graph, flags))
FORWARD(cudaGraphInstantiateWithParams, (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params),
        DRV(cuGraphInstantiateWithParams)(exec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params))
RT_ALSO_PTSZ(cudaGraphInstantiateWithParams)
FORWARD(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), DRV(cuGraphUpload)(exec, stream))
FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t exec), DRV(cuGraphExecDestroy)(exec))
FORWARD(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
        DRV(cuGraphExecUpdate)(exec, graph, (CUgraphExecUpdateResultInfo *)info))
FORWARD(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_enabled),
        DRV(cuGraphNodeSetEnabled)(exec, node, is_enabled))
FORWARD(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *is_enabled),
        DRV(cuGraphNodeGetEnabled)(exec, node, is_enabled))

SIM_EXPORT cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
	return cudaGraphUpload(exec, rt_per_thread(stream));
}

SIM_EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
	cuuint64_t driver_flags = 0;

	RT_READY();
	if (!flags)
		return rt_note(cudaErrorInvalidValue);
	CUresult result = DRV(cuGraphExecGetFlags)(exec, &driver_flags);
	*flags = driver_flags;
	return rt_noted(result);
}

cudaError_t rt_cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	return rt_error(DRV(cuGraphLaunch)(exec, stream));
}

/* ---- user objects, memory ---- */

FORWARD(cudaUserObjectCreate,
        (cudaUserObject_t * object, void *ptr, cudaHostFn_t destroy, unsigned count, unsigned flags),
        DRV(cuUserObjectCreate)(object, ptr, destroy, count, flags))
FORWARD(cudaUserObjectRetain, (cudaUserObject_t object, unsigned count), DRV(cuUserObjectRetain)(object, count))
FORWARD(cudaUserObjectRelease, (cudaUserObject_t object, unsigned count), DRV(cuUserObjectRelease)(object, count))
FORWARD(cudaGraphRetainUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags),
        DRV(cuGraphRetainUserObject)(graph, object, count, flags))
FORWARD(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned count),
        DRV(cuGraphReleaseUserObject)(graph, object, count))
FORWARD(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute, void *value),
        DRV(cuDeviceGetGraphMemAttribute)(device, (CUgraphMem_attribute)attribute, value))
FORWARD(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute, void *value),
        DRV(cuDeviceSetGraphMemAttribute)(device, (CUgraphMem_attribute)attribute, value))
FORWARD(cudaDeviceGraphMemTrim, (int device), DRV(cuDeviceGraphMemTrim)(device))
