/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_copy.c - R1 to R11: copies
 *
 * Besides the waiting, two promises are checked: what a download left behind a
 * busy kernel has arrived when a call returns that is said to complete, and the
 * source of an upload may be reused when the call returns.
 */
#include "tests/conformance/conformance.h"

#include <stdio.h>
#include <string.h>

enum { BLANK = 0x00, SENT = 0x11, ARRIVED = 0x5a, REUSED = 0x77 };

static bool is_all(const char *bytes, int value, size_t n)
{
	return bytes[0] == (char)value && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* ---- downloads: the bytes to fetch are put there behind the busy kernel ---- */

static cudaError_t blank_hosts(struct conf *c, size_t n)
{
	memset(c->pageable[0], BLANK, n);
	memset(c->pinned[0], BLANK, n);
	return cudaMemset(c->device[0], BLANK, n);
}

static cudaError_t set_device(struct conf *c, cudaStream_t busy, size_t n)
{
	return cudaMemsetAsync(c->device[0], ARRIVED, n, busy);
}

static const char *in_pageable(struct conf *c, size_t n)
{
	return is_all(c->pageable[0], ARRIVED, n) ? NULL : "the bytes had not arrived";
}

static const char *in_pinned(struct conf *c, size_t n)
{
	return is_all(c->pinned[0], ARRIVED, n) ? NULL : "the bytes had not arrived";
}

static cudaError_t download_pageable(struct conf *c, size_t n)
{
	return cudaMemcpy(c->pageable[0], c->device[0], n, cudaMemcpyDeviceToHost);
}

static cudaError_t download_pinned(struct conf *c, size_t n)
{
	return cudaMemcpy(c->pinned[0], c->device[0], n, cudaMemcpyDeviceToHost);
}

static cudaError_t download_pageable_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->pageable[0], c->device[0], n, cudaMemcpyDeviceToHost, c->blocking[0]);
}

static cudaError_t download_pinned_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->pinned[0], c->device[0], n, cudaMemcpyDeviceToHost, c->blocking[0]);
}

const struct conf_call conf_sync_download_pageable = { blank_hosts, set_device, download_pageable, in_pageable };
const struct conf_call conf_sync_download_pinned = { blank_hosts, set_device, download_pinned, in_pinned };
const struct conf_call conf_async_download_pageable = { blank_hosts, set_device, download_pageable_async, in_pageable };
const struct conf_call conf_async_download_pinned = { .call = download_pinned_async };
const struct conf_call conf_sync_download_elsewhere = { .call = download_pinned };

/* ---- uploads: the source is overwritten as soon as the call has returned ---- */

static cudaError_t fill_hosts(struct conf *c, size_t n)
{
	memset(c->pageable[0], SENT, n);
	memset(c->pinned[0], SENT, n);
	return cudaMemset(c->device[0], BLANK, n);
}

static const char *sent_reached_device(struct conf *c, size_t n)
{
	if (cudaDeviceSynchronize() != cudaSuccess ||
	    cudaMemcpy(c->readback, c->device[0], n, cudaMemcpyDeviceToHost) != cudaSuccess)
		return "the bytes could not be read back";
	return is_all(c->readback, SENT, n) ? NULL : "the source could not be reused";
}

static const char *reuse_pageable(struct conf *c, size_t n)
{
	memset(c->pageable[0], REUSED, n);
	return sent_reached_device(c, n);
}

static const char *reuse_pinned(struct conf *c, size_t n)
{
	if (cudaStreamQuery(NULL) != cudaSuccess)
		return "the copy was not complete";
	memset(c->pinned[0], REUSED, n);
	return sent_reached_device(c, n);
}

static cudaError_t upload_pageable(struct conf *c, size_t n)
{
	return cudaMemcpy(c->device[0], c->pageable[0], n, cudaMemcpyHostToDevice);
}

static cudaError_t upload_pinned(struct conf *c, size_t n)
{
	return cudaMemcpy(c->device[0], c->pinned[0], n, cudaMemcpyHostToDevice);
}

static cudaError_t upload_pageable_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->device[0], c->pageable[0], n, cudaMemcpyHostToDevice, c->blocking[0]);
}

static cudaError_t upload_pinned_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->device[0], c->pinned[0], n, cudaMemcpyHostToDevice, c->blocking[0]);
}

const struct conf_call conf_sync_upload_pageable = { fill_hosts, NULL, upload_pageable, reuse_pageable };
const struct conf_call conf_sync_upload_pinned = { fill_hosts, NULL, upload_pinned, reuse_pinned };
const struct conf_call conf_async_upload_pageable = { fill_hosts, NULL, upload_pageable_async, reuse_pageable };
const struct conf_call conf_async_upload_pinned = { .call = upload_pinned_async };
const struct conf_call conf_sync_upload_elsewhere = { .call = upload_pinned };

/* ---- inside the device, inside the host ---- */

static cudaError_t device_to_device(struct conf *c, size_t n)
{
	return cudaMemcpy(c->device[1], c->device[0], n, cudaMemcpyDeviceToDevice);
}

static cudaError_t device_to_device_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->device[1], c->device[0], n, cudaMemcpyDeviceToDevice, c->blocking[0]);
}

const struct conf_call conf_sync_device_to_device = { .call = device_to_device };
const struct conf_call conf_async_device_to_device = { .call = device_to_device_async };

static cudaError_t fill_source(struct conf *c, size_t n)
{
	memset(c->pageable[0], BLANK, n);
	memset(c->pageable[1], ARRIVED, n);
	return cudaSuccess;
}

static cudaError_t host_to_host(struct conf *c, size_t n)
{
	return cudaMemcpy(c->pageable[0], c->pageable[1], n, cudaMemcpyHostToHost);
}

static cudaError_t host_to_host_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->pageable[0], c->pageable[1], n, cudaMemcpyHostToHost, c->blocking[0]);
}

const struct conf_call conf_sync_host_to_host = { fill_source, NULL, host_to_host, in_pageable };
const struct conf_call conf_async_host_to_host = { fill_source, NULL, host_to_host_async, in_pageable };

/* ---- managed memory; the host leaves it alone while the device is busy ---- */

static cudaError_t needs_managed(struct conf *c, size_t n)
{
	(void)n;
	return c->managed ? cudaSuccess : cudaErrorNotSupported;
}

static cudaError_t managed_to_device(struct conf *c, size_t n)
{
	return cudaMemcpy(c->device[0], c->managed, n, cudaMemcpyDefault);
}

static cudaError_t managed_to_device_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->device[0], c->managed, n, cudaMemcpyDefault, c->blocking[0]);
}

static cudaError_t device_to_managed_async(struct conf *c, size_t n)
{
	return cudaMemcpyAsync(c->managed, c->device[0], n, cudaMemcpyDefault, c->blocking[0]);
}

const struct conf_call conf_sync_managed_to_device = { needs_managed, NULL, managed_to_device, NULL };
const struct conf_call conf_async_managed_to_device = { needs_managed, NULL, managed_to_device_async, NULL };
const struct conf_call conf_async_device_to_managed = { needs_managed, NULL, device_to_managed_async, NULL };

/* ---- R7: where uploads begin to wait ---- */

static enum conf_answer upload_waits(struct conf *c, size_t n, struct conf_seen *seen)
{
	if (conf_failed(seen, "conf_occupy", conf_occupy(c, c->blocking[0])))
		return CONF_UNCLEAR;
	uint64_t start = conf_now(c);
	cudaError_t error = upload_pageable_async(c, n);
	uint64_t ns = conf_now(c) - start;
	if (conf_failed(seen, "cudaMemcpyAsync", error) ||
	    conf_failed(seen, "cudaDeviceSynchronize", cudaDeviceSynchronize()))
		return CONF_UNCLEAR;
	return conf_answer_of_ns(c, ns);
}

void conf_upload_limit(struct conf *c, size_t expected, struct conf_seen *seen)
{
	size_t goes_on = 0, waits = CONF_MIB + 1;

	upload_waits(c, CONF_MIB, seen); /* the first one may have to make room for staging */
	while (waits - goes_on > 1 && goes_on < CONF_MIB && !seen->has_failed) {
		/* The largest size first: there may be no limit. */
		size_t n = waits > CONF_MIB ? CONF_MIB : goes_on + (waits - goes_on) / 2;
		enum conf_answer answer = upload_waits(c, n, seen);
		if (answer == CONF_UNCLEAR)
			return;
		if (answer == CONF_YES)
			waits = n;
		else
			goes_on = n;
	}
	if (seen->has_failed)
		return;
	seen->answer = goes_on == expected ? CONF_YES : CONF_NO;
	if (waits > CONF_MIB)
		snprintf(seen->text, sizeof seen->text, "none waits up to 1 MiB");
	else if (goes_on == 0)
		snprintf(seen->text, sizeof seen->text, "all wait");
	else
		snprintf(seen->text, sizeof seen->text, "up to %zu B go on", goes_on);
}
