/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - asking a row of the table
 *
 * The call is made once on an idle device, so that what only the first call of
 * its kind costs is not taken for waiting; then behind a kernel that takes
 * busy_ns. A call that went on is believed only if the kernel still ran when
 * it returned.
 */
#include "tests/conformance/conformance.h"

#include <stdio.h>

/* On hardware another program may hold the host or the device up; the simulated device always answers the same. */
enum { ATTEMPTS = 3 };

bool conf_failed(struct conf_seen *seen, const char *what, cudaError_t error)
{
	if (error == cudaSuccess)
		return false;
	seen->has_failed = true;
	snprintf(seen->text, sizeof seen->text, "%.100s: %s", what, cudaGetErrorName(error));
	return true;
}

enum conf_answer conf_answer_of_ns(const struct conf *c, uint64_t ns)
{
	if (ns >= c->busy_ns / 2)
		return CONF_YES;
	return ns <= c->busy_ns / 5 ? CONF_NO : CONF_UNCLEAR;
}

void conf_answer_ns(const struct conf *c, struct conf_seen *seen, uint64_t ns)
{
	seen->has_ns = true;
	seen->ns = ns;
	seen->answer = conf_answer_of_ns(c, ns);
}

void conf_answer_while(const struct conf *c, struct conf_seen *seen, uint64_t ns, bool is_still_busy)
{
	conf_answer_ns(c, seen, ns);
	if (seen->answer == CONF_NO && !is_still_busy) {
		seen->answer = CONF_UNCLEAR;
		snprintf(seen->text, sizeof seen->text, "the device was idle already");
	}
}

/* Once on an idle device. Returns false if the row ends here. */
static bool warm_up(struct conf *c, const struct conf_rule *rule, struct conf_seen *seen)
{
	const struct conf_call *call = rule->call;
	cudaError_t error = call->prepare ? call->prepare(c, rule->arg) : cudaSuccess;

	if (error == cudaErrorNotSupported) {
		seen->is_unsupported = true;
		return false;
	}
	if (conf_failed(seen, "preparing", error))
		return false;
	if (call->behind && conf_failed(seen, "preparing", call->behind(c, conf_stream(c, rule->busy), rule->arg)))
		return false;
	if (conf_failed(seen, "the call, on an idle device", call->call(c, rule->arg)))
		return false;
	if (call->check)
		call->check(c, rule->arg);
	return !conf_failed(seen, "cudaDeviceSynchronize", cudaDeviceSynchronize());
}

static void ask_wait(struct conf *c, const struct conf_rule *rule, struct conf_seen *seen)
{
	const struct conf_call *call = rule->call;
	cudaStream_t busy = conf_stream(c, rule->busy);

	if (!warm_up(c, rule, seen))
		return;
	if (call->prepare)
		CONF_TRY(seen, call->prepare(c, rule->arg));
	CONF_TRY(seen, cudaDeviceSynchronize());
	CONF_TRY(seen, conf_occupy(c, busy));
	if (call->behind)
		CONF_TRY(seen, call->behind(c, busy, rule->arg));
	uint64_t start = conf_now(c);
	cudaError_t error = call->call(c, rule->arg);
	uint64_t ns = conf_now(c) - start;
	bool is_still_busy = cudaStreamQuery(busy) == cudaErrorNotReady;
	if (conf_failed(seen, "the call", error))
		return;
	conf_answer_while(c, seen, ns, is_still_busy);
	const char *broken = call->check ? call->check(c, rule->arg) : NULL;
	if (broken) {
		seen->is_broken = true;
		snprintf(seen->text, sizeof seen->text, "%s", broken);
	}
}

void conf_ask(struct conf *c, const struct conf_rule *rule, struct conf_seen *seen)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		*seen = (struct conf_seen){ .answer = CONF_UNCLEAR };
		if (rule->test)
			rule->test(c, rule->arg, seen);
		else
			ask_wait(c, rule, seen);
		cudaError_t error = cudaDeviceSynchronize();
		if (!seen->has_failed)
			conf_failed(seen, "cudaDeviceSynchronize afterwards", error);
		cudaGetLastError();
		if (seen->answer != CONF_UNCLEAR || seen->has_failed || seen->is_unsupported)
			return;
	}
}
