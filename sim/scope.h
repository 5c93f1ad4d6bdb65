/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - one call of the program into the simulated device
 *
 * Every exported function opens a scope; calls made below it (a runtime call
 * reaches the driver) nest. The outermost one is what the program did: it pays
 * the call's host time, lets the device catch up, and becomes the ledger line.
 * A scope lives on the stack of the calling thread.
 */
#ifndef SIM_SCOPE_H
#define SIM_SCOPE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/api.h"
#include "sim/knobs.h"
#include "sim/memory.h"

struct sim_stream;

struct sim_scope {
	struct sim_scope *outer;
	const char *api;
	enum sy_class class;
	bool is_per_thread;
	bool has_pending; /* is_pending was noted */
	bool is_pending;
	int stream;       /* number of the stream, -1 if none */
	int ordinal;      /* of its device */
	uintptr_t handle; /* of stream or event, as the program passed it */
	uint64_t enter_ns;
	uint64_t waited_ns;
	uint64_t backpressure_ns;
	uint64_t bytes;
	enum sim_memory_kind source;
	enum sim_memory_kind destination;
};

/*
 * Opens the scope, always; close it with sim_scope_leave(). The result says
 * whether the call may go on: no device is left after fork(), and no call may
 * be made from a host function. api must be a literal.
 */
SIM_EXPORT CUresult sim_scope_enter(struct sim_scope *scope, const char *api, enum sy_class class, bool is_per_thread);

/* Closes the scope; status is the code the program gets. */
SIM_EXPORT void sim_scope_leave(struct sim_scope *scope, int status);

/* For functions outside the table of calls: pays the host time and lets the device catch up, nothing else. */
SIM_EXPORT CUresult sim_scope_touch(const char *api);

/* True if stream 0 means the thread's own stream in the innermost call. */
SIM_EXPORT bool sim_scope_is_per_thread(void);

/* Facts of the outermost call. The first note of a kind stays. */
void sim_scope_note_stream(const struct sim_stream *stream, CUstream handle);
void sim_scope_note_event(CUevent handle);
void sim_scope_note_pending(bool is_pending);
void sim_scope_note_bytes(uint64_t bytes, enum sim_memory_kind source, enum sim_memory_kind destination);
void sim_scope_add_wait(uint64_t ns);
void sim_scope_add_backpressure(uint64_t ns);

#endif
