/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_graph_exec.c - libcuda: executable graphs */
#include "sim/cuda_face.h"

#include "sim/graph_exec.h"
#include "sim/say.h"

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
	                                 CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
	                                 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
		sim_refuse("cuGraphInstantiate for launches by the device");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return exec && !(flags & ~known) ? sim_exec_create(exec, graph, flags) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	SIM_TOUCH();
	/* Uploading at once takes a stream, which only cuGraphInstantiateWithParams() is given. */
	return flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD ? CUDA_ERROR_INVALID_VALUE : instantiate(exec, graph, flags);
}

SIM_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                          size_t bytes)
{
	SIM_TOUCH();
	if (error_node)
		*error_node = NULL;
	if (log && bytes)
		log[0] = '\0';
	return instantiate(exec, graph, 0);
}

SIM_EXPORT CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                       size_t bytes)
{
	return cuGraphInstantiate_v2(exec, graph, error_node, log, bytes);
}

SIM_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	SIM_TOUCH();
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = instantiate(exec, graph, params->flags);
	params->hErrNode_out = NULL;
	params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	if (result == CUDA_ERROR_NOT_SUPPORTED)
		params->result_out = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
	else if (result != CUDA_SUCCESS)
		params->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
	return result;
}
SIM_ALSO_PTSZ(cuGraphInstantiateWithParams)

CUresult sim_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	return sim_exec_launch(exec, stream);
}

SIM_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	SIM_TOUCH();
	return sim_exec_upload(exec, stream);
}

SIM_EXPORT CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
	return cuGraphUpload(exec, sim_per_thread(stream));
}

SIM_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	SIM_TOUCH();
	return sim_exec_destroy(exec);
}

SIM_EXPORT CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
	SIM_TOUCH();
	return flags ? sim_exec_flags(exec, flags) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	SIM_TOUCH();
	return info ? sim_exec_update(exec, graph, info) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                                      CUgraphExecUpdateResult *answer)
{
	CUgraphExecUpdateResultInfo info;

	SIM_TOUCH();
	if (!answer)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sim_exec_update(exec, graph, &info);
	*answer = info.result;
	if (error_node)
		*error_node = info.errorNode;
	return result;
}

SIM_EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned is_enabled)
{
	SIM_TOUCH();
	return sim_exec_set_enabled(exec, node, is_enabled != 0);
}

SIM_EXPORT CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *is_enabled)
{
	SIM_TOUCH();
	return is_enabled ? sim_exec_is_enabled(exec, node, is_enabled) : CUDA_ERROR_INVALID_VALUE;
}
