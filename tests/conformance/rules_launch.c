/* SPDX-License-Identifier: Apache-2.0 */
/* rules_launch.c - R14: launches and the queue; R23: loading */
#include "tests/conformance/conformance.h"

#include <stdio.h>

/* A queue that takes so many launches has no end that matters here. */
enum { MAX_QUEUE = 4096 };

static cudaError_t launch_behind(struct conf *c, size_t n)
{
	(void)n;
	return conf_launch_brief(c->spin, c->blocking[0]);
}

const struct conf_call conf_launch = { .call = launch_behind };

/* Launches until one waits, at most limit. Returns how many went on, the busy kernel included; 0 on failure. */
static size_t fill_queue(struct conf *c, size_t limit, struct conf_seen *seen)
{
	if (conf_failed(seen, "conf_occupy", conf_occupy(c, c->blocking[0])))
		return 0;
	for (size_t n = 1; n < limit; n++) {
		uint64_t start = conf_now(c);
		cudaError_t error = launch_behind(c, 0);
		uint64_t ns = conf_now(c) - start;
		if (conf_failed(seen, "cuLaunchKernel", error))
			return 0;
		if (conf_answer_of_ns(c, ns) == CONF_YES)
			return n;
	}
	return limit;
}

void conf_queue_depth(struct conf *c, size_t expected, struct conf_seen *seen)
{
	size_t n = fill_queue(c, MAX_QUEUE, seen);

	if (seen->has_failed)
		return;
	seen->answer = n == expected ? CONF_YES : CONF_NO;
	if (n == MAX_QUEUE)
		snprintf(seen->text, sizeof seen->text, "none of %zu waited", n);
	else
		snprintf(seen->text, sizeof seen->text, "launch %zu waited", n + 1);
}

void conf_other_queue(struct conf *c, size_t unused, struct conf_seen *seen)
{
	size_t depth = fill_queue(c, MAX_QUEUE, seen);

	(void)unused;
	if (seen->has_failed)
		return;
	if (depth == MAX_QUEUE) {
		seen->is_unsupported = true;
		return;
	}
	CONF_TRY(seen, cudaDeviceSynchronize());
	CONF_TRY(seen, conf_launch_brief(c->spin, c->blocking[1]));
	CONF_TRY(seen, cudaDeviceSynchronize());
	if (fill_queue(c, depth, seen) != depth)
		return;
	uint64_t start = conf_now(c);
	cudaError_t error = conf_launch_brief(c->spin, c->blocking[1]);
	uint64_t ns = conf_now(c) - start;
	CONF_TRY(seen, error);
	conf_answer_while(c, seen, ns, cudaStreamQuery(c->blocking[0]) == cudaErrorNotReady);
}

/* ---- R23 ---- */

void conf_loading_mode(struct conf *c, size_t n, struct conf_seen *seen)
{
	CUmoduleLoadingMode mode;

	(void)c;
	(void)n;
	CONF_TRY(seen, cuModuleGetLoadingMode(&mode));
	seen->answer = mode == CU_MODULE_LAZY_LOADING ? CONF_YES : CONF_NO;
}

/* A launch of a function of its own module, in one stream while another is busy. */
static void launch_new(struct conf *c, int n_launches_before, struct conf_seen *seen)
{
	CUmodule module;
	CUfunction function;

	CONF_TRY(seen, conf_load(&module, &function));
	for (int i = 0; i < n_launches_before; i++)
		CONF_TRY(seen, conf_launch_brief(function, c->blocking[1]));
	CONF_TRY(seen, cudaDeviceSynchronize());
	CONF_TRY(seen, conf_occupy(c, c->blocking[0]));
	uint64_t start = conf_now(c);
	cudaError_t error = conf_launch_brief(function, c->blocking[1]);
	uint64_t ns = conf_now(c) - start;
	CONF_TRY(seen, error);
	conf_answer_while(c, seen, ns, cudaStreamQuery(c->blocking[0]) == cudaErrorNotReady);
	CONF_TRY(seen, cudaDeviceSynchronize());
	CONF_TRY(seen, cuModuleUnload(module));
}

void conf_first_launch(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	launch_new(c, 0, seen);
}

void conf_second_launch(struct conf *c, size_t n, struct conf_seen *seen)
{
	(void)n;
	launch_new(c, 1, seen);
}

/* ---- R19: loading as a call like others ---- */

static cudaError_t load_module(struct conf *c, size_t n)
{
	CUfunction function;

	(void)n;
	return conf_load((CUmodule *)&c->scratch, &function);
}

static const char *unload_module(struct conf *c, size_t n)
{
	(void)n;
	return cuModuleUnload(c->scratch) == CUDA_SUCCESS ? NULL : "the module could not be unloaded";
}

const struct conf_call conf_module_load = { NULL, NULL, load_module, unload_module };
