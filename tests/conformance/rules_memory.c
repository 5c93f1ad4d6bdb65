/* SPDX-License-Identifier: Apache-2.0 */
/* rules_memory.c - R12, R13: sets; R15 to R17: memory that comes to life and ends */
#include "tests/conformance/conformance.h"

#include <string.h>

enum { BLANK = 0x00, SET = 0x3c };

/* ---- sets ---- */

static cudaError_t blank_pinned(struct conf *c, size_t n)
{
	memset(c->pinned[0], BLANK, n);
	return cudaSuccess;
}

static const char *is_set(struct conf *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c->pinned[0][i] != SET)
			return "the memory had not been set";
	return NULL;
}

static cudaError_t needs_managed(struct conf *c, size_t n)
{
	(void)n;
	return c->managed ? cudaSuccess : cudaErrorNotSupported;
}

static cudaError_t set_device(struct conf *c, size_t n)
{
	return cudaMemset(c->device[0], SET, n);
}

static cudaError_t set_pinned(struct conf *c, size_t n)
{
	return cudaMemset(c->pinned[0], SET, n);
}

static cudaError_t set_managed(struct conf *c, size_t n)
{
	return cudaMemset(c->managed, SET, n);
}

static cudaError_t set_device_async(struct conf *c, size_t n)
{
	return cudaMemsetAsync(c->device[0], SET, n, c->blocking[0]);
}

static cudaError_t set_pinned_async(struct conf *c, size_t n)
{
	return cudaMemsetAsync(c->pinned[0], SET, n, c->blocking[0]);
}

const struct conf_call conf_sync_set_device = { .call = set_device };
const struct conf_call conf_sync_set_pinned = { blank_pinned, NULL, set_pinned, is_set };
const struct conf_call conf_sync_set_managed = { needs_managed, NULL, set_managed, NULL };
const struct conf_call conf_async_set_device = { .call = set_device_async };
const struct conf_call conf_async_set_pinned = { .call = set_pinned_async };

/* ---- memory that ends: made while the device is idle ---- */

static cudaError_t make_plain(struct conf *c, size_t n)
{
	return cudaMalloc(&c->scratch, n);
}

static cudaError_t make_managed(struct conf *c, size_t n)
{
	return c->managed ? cudaMallocManaged(&c->scratch, n, cudaMemAttachGlobal) : cudaErrorNotSupported;
}

static cudaError_t make_ordered(struct conf *c, size_t n)
{
	return c->has_pools ? cudaMallocAsync(&c->scratch, n, c->blocking[0]) : cudaErrorNotSupported;
}

static cudaError_t make_host(struct conf *c, size_t n)
{
	return cudaMallocHost(&c->scratch, n);
}

static cudaError_t register_host(struct conf *c, size_t n)
{
	return cudaHostRegister(c->pageable[1], n, cudaHostRegisterDefault);
}

static cudaError_t free_device(struct conf *c, size_t n)
{
	(void)n;
	return cudaFree(c->scratch);
}

static cudaError_t driver_free(struct conf *c, size_t n)
{
	(void)n;
	return (cudaError_t)cuMemFree((CUdeviceptr)c->scratch);
}

static cudaError_t free_async(struct conf *c, size_t n)
{
	(void)n;
	return cudaFreeAsync(c->scratch, c->blocking[0]);
}

static cudaError_t free_host(struct conf *c, size_t n)
{
	(void)n;
	return cudaFreeHost(c->scratch);
}

static cudaError_t unregister_host(struct conf *c, size_t n)
{
	(void)n;
	return cudaHostUnregister(c->pageable[1]);
}

const struct conf_call conf_free_plain = { make_plain, NULL, free_device, NULL };
const struct conf_call conf_driver_free = { make_plain, NULL, driver_free, NULL };
const struct conf_call conf_free_managed = { make_managed, NULL, free_device, NULL };
const struct conf_call conf_free_ordered = { make_ordered, NULL, free_device, NULL };
const struct conf_call conf_free_async = { make_ordered, NULL, free_async, NULL };
const struct conf_call conf_free_host = { make_host, NULL, free_host, NULL };
const struct conf_call conf_host_unregister = { register_host, NULL, unregister_host, NULL };

/* ---- memory that comes to life; given back once the waiting has been seen ---- */

static cudaError_t needs_pools(struct conf *c, size_t n)
{
	(void)n;
	return c->has_pools ? cudaSuccess : cudaErrorNotSupported;
}

static const char *drop_device(struct conf *c, size_t n)
{
	return free_device(c, n) == cudaSuccess ? NULL : "the memory could not be freed";
}

static const char *drop_host(struct conf *c, size_t n)
{
	return free_host(c, n) == cudaSuccess ? NULL : "the memory could not be freed";
}

static const char *drop_async(struct conf *c, size_t n)
{
	return free_async(c, n) == cudaSuccess ? NULL : "the memory could not be freed";
}

const struct conf_call conf_malloc_plain = { NULL, NULL, make_plain, drop_device };
const struct conf_call conf_malloc_host = { NULL, NULL, make_host, drop_host };
const struct conf_call conf_malloc_async = { needs_pools, NULL, make_ordered, drop_async };
