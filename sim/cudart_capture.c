/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_capture.c - libcudart: stream capture */
#include "sim/cudart_face.h"

cudaError_t rt_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	return rt_error(DRV(cuStreamBeginCapture)(stream, (CUstreamCaptureMode)mode));
}

cudaError_t rt_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                                             size_t n, enum cudaStreamCaptureMode mode)
{
	return rt_error(DRV(cuStreamBeginCaptureToGraph)(stream, graph, dependencies, (const CUgraphEdgeData *)edges, n,
	                                                 (CUstreamCaptureMode)mode));
}

cudaError_t rt_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	return rt_error(DRV(cuStreamEndCapture)(stream, graph));
}

SIM_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	RT_READY();
	return rt_noted(DRV(cuStreamIsCapturing)(stream, (CUstreamCaptureStatus *)status));
}

SIM_EXPORT cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	return cudaStreamIsCapturing(rt_per_thread(stream), status);
}

SIM_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	RT_READY();
	return rt_noted(DRV(cuThreadExchangeStreamCaptureMode)((CUstreamCaptureMode *)mode));
}

static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                const cudaGraphEdgeData **edges, size_t *n)
{
	cuuint64_t driver_id = 0;

	RT_READY();
	CUresult result =
		DRV(cuStreamGetCaptureInfo)(stream, (CUstreamCaptureStatus *)status, &driver_id, graph,
	                                    (const CUgraphNode **)dependencies, (const CUgraphEdgeData **)edges, n);
	if (result == CUDA_SUCCESS && id && *status == cudaStreamCaptureStatusActive)
		*id = driver_id;
	return rt_noted(result);
}

static cudaError_t update(cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t n,
                          unsigned flags)
{
	RT_READY();
	return rt_noted(
		DRV(cuStreamUpdateCaptureDependencies)(stream, dependencies, (const CUgraphEdgeData *)edges, n, flags));
}

/* The same function under two names, and in the per-thread spelling. */
#define CAPTURE_INFO(name)                                                                                             \
	SIM_EXPORT cudaError_t name(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, \
	                            cudaGraph_t *graph, const cudaGraphNode_t **dependencies,                          \
	                            const cudaGraphEdgeData **edges, size_t *n)                                        \
	{                                                                                                              \
		return capture_info(stream, status, id, graph, dependencies, edges, n);                                \
	}                                                                                                              \
	SIM_EXPORT cudaError_t name##_ptsz(                                                                            \
		cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph, \
		const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *n);                     \
	SIM_EXPORT cudaError_t name##_ptsz(                                                                            \
		cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph, \
		const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *n)                      \
	{                                                                                                              \
		return capture_info(rt_per_thread(stream), status, id, graph, dependencies, edges, n);                 \
	}
#define UPDATE(name)                                                                                                   \
	SIM_EXPORT cudaError_t name(cudaStream_t stream, cudaGraphNode_t *dependencies,                                \
	                            const cudaGraphEdgeData *edges, size_t n, unsigned flags)                          \
	{                                                                                                              \
		return update(stream, dependencies, edges, n, flags);                                                  \
	}                                                                                                              \
	SIM_EXPORT cudaError_t name##_ptsz(cudaStream_t stream, cudaGraphNode_t *dependencies,                         \
	                                   const cudaGraphEdgeData *edges, size_t n, unsigned flags);                  \
	SIM_EXPORT cudaError_t name##_ptsz(cudaStream_t stream, cudaGraphNode_t *dependencies,                         \
	                                   const cudaGraphEdgeData *edges, size_t n, unsigned flags)                   \
	{                                                                                                              \
		return update(rt_per_thread(stream), dependencies, edges, n, flags);                                   \
	}

#if CUDART_VERSION >= 13000
CAPTURE_INFO(cudaStreamGetCaptureInfo)
UPDATE(cudaStreamUpdateCaptureDependencies)
#else
CAPTURE_INFO(cudaStreamGetCaptureInfo_v3)
UPDATE(cudaStreamUpdateCaptureDependencies_v2)

SIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                   unsigned long long *id, cudaGraph_t *graph,
                                                   const cudaGraphNode_t **dependencies, size_t *n)
{
	return capture_info(stream, status, id, graph, dependencies, NULL, n);
}

SIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                        unsigned long long *id, cudaGraph_t *graph,
                                                        const cudaGraphNode_t **dependencies, size_t *n);
SIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                        unsigned long long *id, cudaGraph_t *graph,
                                                        const cudaGraphNode_t **dependencies, size_t *n)
{
	return capture_info(rt_per_thread(stream), status, id, graph, dependencies, NULL, n);
}

SIM_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                unsigned long long *id)
{
	return capture_info(stream, status, id, NULL, NULL, NULL, NULL);
}

SIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                                     unsigned long long *id)
{
	return capture_info(rt_per_thread(stream), status, id, NULL, NULL, NULL, NULL);
}

SIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t n,
                                                           unsigned flags)
{
	return update(stream, dependencies, NULL, n, flags);
}

SIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                                size_t n, unsigned flags);
SIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                                size_t n, unsigned flags)
{
	return update(rt_per_thread(stream), dependencies, NULL, n, flags);
}
#endif
