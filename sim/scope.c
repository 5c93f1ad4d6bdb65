/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scope.h"

#include <stddef.h>
#include <string.h>

#include "sim/clock.h"
#include "sim/faults.h"
#include "sim/ledger.h"
#include "sim/open.h"
#include "sim/stream.h"
#include "sim/timeline.h"

static SIM_TLS struct sim_scope *innermost;
static SIM_TLS struct sim_scope *outermost;

/*
 * Questions about devices, and which context is current, do not touch a
 * context: a broken one does not make them fail (PyTorch asks in destructors).
 */
static bool touches_context(const char *api)
{
	static const char *const without[] = { "cuDevice",        "cuDriver",         "cuCtxGetCurrent",
		                               "cuCtxSetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent",
		                               "cuCtxGetDevice" };

	for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
		if (strncmp(api, without[i], strlen(without[i])) == 0)
			return false;
	return true;
}

static CUresult permission(const char *api)
{
	if (sim_device_is_lost())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (sim_timeline_in_host_function())
		return CUDA_ERROR_NOT_PERMITTED;
	CUresult failure = sim_open_failure();
	return failure == CUDA_SUCCESS || touches_context(api) ? failure : CUDA_SUCCESS;
}

static CUresult fault(const char *api)
{
	CUresult lasting = sim_faults_lasting();

	if (lasting != CUDA_SUCCESS && touches_context(api))
		return lasting;
	return sim_faults_check(api);
}

static uint64_t host_ns(enum sy_class class)
{
	const struct sim_knobs *knobs = sim_knobs();

	switch (class) {
	case SY_LAUNCH:
		return knobs->launch_call_ns;
	case SY_WAIT_STREAM:
	case SY_WAIT_EVENT:
	case SY_WAIT_DEVICE:
		return knobs->wait_call_ns;
	default:
		return knobs->call_ns;
	}
}

/* The host's share of a call. In real time its own code has taken some already, which the model leaves out. */
static void pay(uint64_t ns)
{
	if (sim_clock_is_virtual())
		sim_clock_charge(ns);
	else if (sim_knobs()->host_times)
		sim_clock_wait_until(sim_clock_now() + ns);
}

CUresult sim_scope_enter(struct sim_scope *scope, const char *api, enum sy_class class, bool is_per_thread)
{
	*scope = (struct sim_scope){
		.outer = innermost, .api = api, .class = class, .is_per_thread = is_per_thread, .stream = -1
	};
	innermost = scope;
	CUresult result = permission(api);
	if (scope->outer)
		return result;
	outermost = scope;
	scope->enter_ns = sim_clock_now();
	if (result != CUDA_SUCCESS)
		return result;
	pay(host_ns(class));
	sim_timeline_catch_up();
	return fault(api);
}

void sim_scope_leave(struct sim_scope *scope, int status)
{
	innermost = scope->outer;
	if (innermost)
		return;
	outermost = NULL;
	if (sim_class_is_recorded(scope->class)) {
		scope->waited_ns += scope->backpressure_ns;
		sim_ledger_write(scope, sim_class_name(scope->class), status);
	} else if (scope->backpressure_ns) {
		scope->waited_ns = scope->backpressure_ns;
		scope->is_pending = true;
		sim_ledger_write(scope, "BACKPRESSURE", status);
	}
}

CUresult sim_scope_touch(const char *api)
{
	CUresult result = permission(api);

	if (innermost || result != CUDA_SUCCESS)
		return result;
	pay(sim_knobs()->call_ns);
	sim_timeline_catch_up();
	return fault(api);
}

bool sim_scope_is_per_thread(void)
{
	return innermost && innermost->is_per_thread;
}

void sim_scope_note_stream(const struct sim_stream *stream, CUstream handle)
{
	if (!outermost || outermost->stream >= 0)
		return;
	outermost->stream = (int)stream->number;
	outermost->ordinal = stream->device->ordinal;
	outermost->handle = (uintptr_t)handle;
}

void sim_scope_note_event(CUevent handle)
{
	if (outermost && !outermost->handle)
		outermost->handle = (uintptr_t)handle;
}

void sim_scope_note_pending(bool is_pending)
{
	if (!outermost || outermost->has_pending)
		return;
	outermost->has_pending = true;
	outermost->is_pending = is_pending;
}

void sim_scope_note_bytes(uint64_t bytes, enum sim_memory_kind source, enum sim_memory_kind destination)
{
	if (!outermost || outermost->source != SIM_MEMORY_NONE || outermost->destination != SIM_MEMORY_NONE)
		return;
	outermost->bytes = bytes;
	outermost->source = source;
	outermost->destination = destination;
}

void sim_scope_add_wait(uint64_t ns)
{
	if (outermost)
		outermost->waited_ns += ns;
}

void sim_scope_add_backpressure(uint64_t ns)
{
	if (outermost)
		outermost->backpressure_ns += ns;
}
