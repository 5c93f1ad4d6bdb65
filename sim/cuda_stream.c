/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_stream.c - libcuda: streams, events, host functions */
#include "sim/cuda_face.h"

#include "sim/event.h"
#include "sim/kernel.h"
#include "sim/wait.h"

CUresult sim_cuStreamCreate(CUstream *stream, unsigned flags)
{
	return stream && flags <= CU_STREAM_NON_BLOCKING ? sim_make_stream(stream, flags, 0) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
	int least, greatest;

	if (!stream || flags > CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	/* Out of range is not an error: the nearest priority is taken. */
	cuCtxGetStreamPriorityRange(&least, &greatest);
	if (priority > least)
		priority = least;
	if (priority < greatest)
		priority = greatest;
	return sim_make_stream(stream, flags, priority);
}

CUresult sim_cuStreamDestroy_v2(CUstream stream)
{
	return sim_end_stream(stream);
}

CUresult sim_cuStreamSynchronize(CUstream stream)
{
	return sim_wait_stream(stream);
}

CUresult sim_cuStreamQuery(CUstream stream)
{
	return sim_query_stream(stream);
}

CUresult sim_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	return sim_stream_wait_event(stream, event, flags);
}

CUresult sim_cuEventCreate(CUevent *event, unsigned flags)
{
	return event ? sim_event_create(event, flags) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuEventDestroy_v2(CUevent event)
{
	return sim_event_destroy(event);
}

CUresult sim_cuEventRecord(CUevent event, CUstream stream)
{
	return sim_event_record(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult sim_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
	return sim_event_record(event, stream, flags);
}

CUresult sim_cuEventSynchronize(CUevent event)
{
	return sim_event_sync(event);
}

CUresult sim_cuEventQuery(CUevent event)
{
	return sim_event_query(event);
}

SIM_EXPORT CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
	SIM_TOUCH();
	return ms ? sim_event_elapsed(ms, start, end) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	return cuEventElapsedTime_v2(ms, start, end);
}

CUresult sim_cuLaunchHostFunc(CUstream stream, CUhostFn func, void *data)
{
	return sim_launch_host_func(stream, func, data);
}

CUresult sim_cuStreamAddCallback(CUstream stream, CUstreamCallback func, void *data, unsigned flags)
{
	return flags == 0 ? sim_launch_callback(stream, func, data) : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
	struct sim_stream_facts facts;

	SIM_TOUCH();
	CUresult result = flags ? sim_stream_facts(stream, &facts) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*flags = facts.flags;
	return result;
}
SIM_ALSO_PTSZ(cuStreamGetFlags)

SIM_EXPORT CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
	struct sim_stream_facts facts;

	SIM_TOUCH();
	CUresult result = priority ? sim_stream_facts(stream, &facts) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*priority = facts.priority;
	return result;
}
SIM_ALSO_PTSZ(cuStreamGetPriority)

SIM_EXPORT CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
	struct sim_stream_facts facts;

	SIM_TOUCH();
	CUresult result = id ? sim_stream_may_be_named(stream) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = sim_stream_facts(stream, &facts);
	if (result == CUDA_SUCCESS)
		*id = facts.id;
	return result;
}
SIM_ALSO_PTSZ(cuStreamGetId)

SIM_EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	struct sim_stream_facts facts;

	SIM_TOUCH();
	CUresult result = context ? sim_stream_may_be_named(stream) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = sim_stream_facts(stream, &facts);
	return result == CUDA_SUCCESS ? sim_cuda_context_of(facts.ordinal, context) : result;
}
SIM_ALSO_PTSZ(cuStreamGetCtx)

SIM_EXPORT CUresult cuStreamGetDevice(CUstream stream, CUdevice *device)
{
	struct sim_stream_facts facts;

	SIM_TOUCH();
	CUresult result = device ? sim_stream_may_be_named(stream) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = sim_stream_facts(stream, &facts);
	if (result == CUDA_SUCCESS)
		*device = facts.ordinal;
	return result;
}
SIM_ALSO_PTSZ(cuStreamGetDevice)
