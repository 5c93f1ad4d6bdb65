/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_order.c - R17 and the stream's side of R18: what keeps two streams from overlapping
 *
 * One kernel in each of two streams, and something between them. The time from
 * the end of the first to the end of the second, by the device's clock, is the
 * busy time if they ran one after the other and nothing if side by side.
 */
#include "tests/conformance/conformance.h"

typedef cudaError_t (*between_fn)(struct conf *c, cudaStream_t first, cudaStream_t second);

static void order(struct conf *c, cudaStream_t first, cudaStream_t second, between_fn between, struct conf_seen *seen)
{
	float ms = 0;

	CONF_TRY(seen, conf_occupy(c, first));
	CONF_TRY(seen, cudaEventRecord(c->marks[0], first));
	CONF_TRY(seen, between(c, first, second));
	CONF_TRY(seen, conf_occupy(c, second));
	CONF_TRY(seen, cudaEventRecord(c->marks[1], second));
	CONF_TRY(seen, cudaDeviceSynchronize());
	CONF_TRY(seen, cudaEventElapsedTime(&ms, c->marks[0], c->marks[1]));
	conf_answer_ns(c, seen, ms > 0 ? (uint64_t)((double)ms * 1e6) : 0);
}

static cudaError_t nothing(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)c;
	(void)first;
	(void)second;
	return cudaSuccess;
}

/* On the simulated device this kernel takes as long as the others: twice the busy time then lies between the ends. */
static cudaError_t legacy_launch(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)first;
	(void)second;
	return conf_launch_brief(c->spin, cudaStreamLegacy);
}

static cudaError_t legacy_set(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)first;
	(void)second;
	return cudaMemset(c->device[0], 0, CONF_KIB);
}

static cudaError_t wait_for_first(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)first;
	return cudaStreamWaitEvent(second, c->marks[0], 0);
}

static cudaError_t device_copy(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)first;
	(void)second;
	return cudaMemcpyAsync(c->device[1], c->device[0], CONF_KIB, cudaMemcpyDeviceToDevice, c->nonblocking[0]);
}

static cudaError_t malloc_device(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)first;
	(void)second;
	return cudaMalloc(&c->scratch, CONF_MIB);
}

static cudaError_t malloc_host(struct conf *c, cudaStream_t first, cudaStream_t second)
{
	(void)first;
	(void)second;
	return cudaMallocHost(&c->scratch, CONF_MIB);
}

void conf_order_nothing(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->blocking[1], nothing, seen);
}

void conf_order_legacy(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->blocking[1], legacy_launch, seen);
}

void conf_order_set(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->blocking[1], legacy_set, seen);
}

void conf_order_nonblocking(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->nonblocking[0], c->nonblocking[1], legacy_launch, seen);
}

void conf_order_event(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->nonblocking[0], wait_for_first, seen);
}

void conf_order_device_copy(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->blocking[1], device_copy, seen);
}

void conf_order_malloc(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->blocking[1], malloc_device, seen);
	if (!seen->has_failed)
		CONF_TRY(seen, cudaFree(c->scratch));
}

void conf_order_malloc_host(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	order(c, c->blocking[0], c->blocking[1], malloc_host, seen);
	if (!seen->has_failed)
		CONF_TRY(seen, cudaFreeHost(c->scratch));
}
