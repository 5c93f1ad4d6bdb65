/* SPDX-License-Identifier: Apache-2.0 */
/* rules_handles.c - R22: the handles of the default streams, and the spellings that decide what 0 means */
#include "tests/conformance/conformance.h"

#include <pthread.h>
#include <string.h>

static cudaError_t sync_handle(struct conf *c, size_t handle)
{
	(void)c;
	return cudaStreamSynchronize((cudaStream_t)handle);
}

static cudaError_t sync_ptsz(struct conf *c, size_t n)
{
	(void)c;
	(void)n;
	return conf_ptsz_synchronize_0();
}

static cudaError_t download_ptds(struct conf *c, size_t n)
{
	return conf_ptds_copy(c->pinned[0], c->device[0], n);
}

/* As programs do that load the driver by themselves. */
static cudaError_t sync_by_address(struct conf *c, size_t flags)
{
	CUresult (*synchronize)(CUstream);
	CUdriverProcAddressQueryResult status;
	void *address;
	CUresult result = cuGetProcAddress("cuStreamSynchronize", &address, CUDA_VERSION, flags, &status);

	(void)c;
	if (result != CUDA_SUCCESS)
		return (cudaError_t)result;
	memcpy(&synchronize, &address, sizeof address);
	return (cudaError_t)synchronize(NULL);
}

const struct conf_call conf_sync_handle = { .call = sync_handle };
const struct conf_call conf_ptsz_sync = { .call = sync_ptsz };
const struct conf_call conf_ptds_download = { .call = download_ptds };
const struct conf_call conf_proc_sync = { .call = sync_by_address };

/* The time of waiting for this thread's stream. */
static void wait_for_own(struct conf *c, struct conf_seen *seen)
{
	uint64_t start = conf_now(c);
	cudaError_t error = cudaStreamSynchronize(cudaStreamPerThread);
	uint64_t ns = conf_now(c) - start;

	CONF_TRY(seen, error);
	conf_answer_while(c, seen, ns, cudaEventQuery(c->event) == cudaErrorNotReady);
}

void conf_ptsz_launch(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	CONF_TRY(seen, conf_ptsz_occupy(c));
	wait_for_own(c, seen);
}

static void *occupy_own(void *argument)
{
	struct conf *c = argument;
	static cudaError_t error;

	error = cudaSetDevice(0);
	if (error == cudaSuccess)
		error = conf_occupy(c, cudaStreamPerThread);
	if (error == cudaSuccess)
		error = cudaEventRecord(c->event, cudaStreamPerThread);
	return &error;
}

void conf_other_thread(struct conf *c, size_t n, struct conf_seen *seen)
{
	pthread_t thread;
	void *error;

	(void)n;
	if (pthread_create(&thread, NULL, occupy_own, c) != 0) {
		conf_failed(seen, "pthread_create", cudaErrorUnknown);
		return;
	}
	pthread_join(thread, &error);
	CONF_TRY(seen, *(cudaError_t *)error);
	wait_for_own(c, seen);
}
