/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_capture.c - libcuda: stream capture */
#include "sim/cuda_face.h"

#include "sim/capture.h"

static bool is_mode(CUstreamCaptureMode mode)
{
	return (unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	return is_mode(mode) ? sim_capture_begin(stream, mode, NULL, NULL, 0) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                         const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode)
{
	if (!is_mode(mode) || !graph || (n && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_edges_are_plain(edges, n))
		return CUDA_ERROR_NOT_SUPPORTED;
	return sim_capture_begin(stream, mode, graph, dependencies, n);
}

CUresult sim_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	return graph ? sim_capture_end(stream, graph) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	struct sim_capture_facts facts;
	CUresult result = status ? sim_capture_facts(stream, &facts) : CUDA_ERROR_INVALID_VALUE;

	if (result == CUDA_SUCCESS)
		*status = facts.status;
	return result;
}

SIM_EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	SIM_TOUCH();
	return is_capturing(stream, status);
}

SIM_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *status)
{
	return cuStreamIsCapturing(sim_per_thread(stream), status);
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                              CUgraph *graph, const CUgraphNode **dependencies,
                                              const CUgraphEdgeData **edges, size_t *n)
{
	struct sim_capture_facts facts;

	SIM_TOUCH();
	CUresult result = status ? sim_capture_facts(stream, &facts) : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	*status = facts.status;
	if (facts.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_SUCCESS;
	if (id)
		*id = facts.id;
	if (graph)
		*graph = facts.graph;
	if (dependencies)
		*dependencies = facts.nodes;
	if (edges)
		*edges = facts.edges;
	if (n)
		*n = facts.n;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                                   CUgraph *graph, const CUgraphNode **dependencies,
                                                   const CUgraphEdgeData **edges, size_t *n)
{
	return cuStreamGetCaptureInfo_v3(sim_per_thread(stream), status, id, graph, dependencies, edges, n);
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                              CUgraph *graph, const CUgraphNode **dependencies, size_t *n)
{
	return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, n);
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                                   CUgraph *graph, const CUgraphNode **dependencies, size_t *n)
{
	return cuStreamGetCaptureInfo_v3(sim_per_thread(stream), status, id, graph, dependencies, NULL, n);
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return cuStreamGetCaptureInfo_v3(sim_per_thread(stream), status, id, NULL, NULL, NULL, NULL);
}

SIM_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies,
                                                         const CUgraphEdgeData *edges, size_t n, unsigned flags)
{
	SIM_TOUCH();
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (n && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_edges_are_plain(edges, n))
		return CUDA_ERROR_NOT_SUPPORTED;
	return sim_capture_update(stream, dependencies, n, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

SIM_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode *dependencies,
                                                              const CUgraphEdgeData *edges, size_t n, unsigned flags)
{
	return cuStreamUpdateCaptureDependencies_v2(sim_per_thread(stream), dependencies, edges, n, flags);
}

SIM_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t n,
                                                      unsigned flags)
{
	return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, n, flags);
}

SIM_EXPORT CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *dependencies, size_t n,
                                                           unsigned flags)
{
	return cuStreamUpdateCaptureDependencies_v2(sim_per_thread(stream), dependencies, NULL, n, flags);
}

SIM_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	SIM_TOUCH();
	if (!mode || !is_mode(*mode))
		return CUDA_ERROR_INVALID_VALUE;
	*mode = sim_capture_exchange_mode(*mode);
	return CUDA_SUCCESS;
}
