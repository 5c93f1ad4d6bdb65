/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_stream.c - libcudart: waits, streams, events */
#include "sim/cudart_face.h"

cudaError_t rt_cudaDeviceSynchronize(void)
{
	return rt_error(DRV(cuCtxSynchronize)());
}

cudaError_t rt_cudaStreamSynchronize(cudaStream_t stream)
{
	return rt_error(DRV(cuStreamSynchronize)(stream));
}

cudaError_t rt_cudaStreamQuery(cudaStream_t stream)
{
	return rt_error(DRV(cuStreamQuery)(stream));
}

cudaError_t rt_cudaStreamCreate(cudaStream_t *stream)
{
	return rt_error(DRV(cuStreamCreate)(stream, CU_STREAM_DEFAULT));
}

cudaError_t rt_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	return rt_error(DRV(cuStreamCreate)(stream, flags));
}

cudaError_t rt_cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	return rt_error(DRV(cuStreamCreateWithPriority)(stream, flags, priority));
}

cudaError_t rt_cudaStreamDestroy(cudaStream_t stream)
{
	return rt_error(DRV(cuStreamDestroy)(stream));
}

cudaError_t rt_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	return rt_error(DRV(cuStreamWaitEvent)(stream, event, flags));
}

cudaError_t rt_cudaEventCreate(cudaEvent_t *event)
{
	return rt_error(DRV(cuEventCreate)(event, CU_EVENT_DEFAULT));
}

cudaError_t rt_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	return rt_error(DRV(cuEventCreate)(event, flags));
}

cudaError_t rt_cudaEventDestroy(cudaEvent_t event)
{
	return rt_error(DRV(cuEventDestroy)(event));
}

cudaError_t rt_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return rt_error(DRV(cuEventRecord)(event, stream));
}

cudaError_t rt_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	return rt_error(DRV(cuEventRecordWithFlags)(event, stream, flags));
}

cudaError_t rt_cudaEventQuery(cudaEvent_t event)
{
	return rt_error(DRV(cuEventQuery)(event));
}

cudaError_t rt_cudaEventSynchronize(cudaEvent_t event)
{
	return rt_error(DRV(cuEventSynchronize)(event));
}

SIM_EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	RT_READY();
	return rt_noted(DRV(cuEventElapsedTime)(ms, start, end));
}

#if CUDART_VERSION < 13000
SIM_EXPORT cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	return cudaEventElapsedTime(ms, start, end);
}
#endif

SIM_EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	RT_READY();
	return rt_noted(DRV(cuStreamGetFlags)(stream, flags));
}
RT_ALSO_PTSZ(cudaStreamGetFlags)

SIM_EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	RT_READY();
	return rt_noted(DRV(cuStreamGetPriority)(stream, priority));
}
RT_ALSO_PTSZ(cudaStreamGetPriority)

SIM_EXPORT cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
	RT_READY();
	return rt_noted(DRV(cuStreamGetId)(stream, id));
}
RT_ALSO_PTSZ(cudaStreamGetId)

SIM_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	RT_READY();
	return rt_noted(DRV(cuCtxGetStreamPriorityRange)(least, greatest));
}
