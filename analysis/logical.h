/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logical.h - from API calls to acts of the program
 *
 * One act that makes a host thread wait is one sync, however many calls it is
 * made of: a copy and the stream synchronize right behind it are one readback
 * or upload. An act is "certain" if its class waits by the rules of CUDA
 * (docs/SYNC-RULES.md); otherwise baseline.h decides from its time whether it
 * did. Events are used in place; the walk allocates nothing.
 */
#ifndef SY_ANALYSIS_LOGICAL_H
#define SY_ANALYSIS_LOGICAL_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* The first SY_N_SYNC_CLASSES are syncs; the others are shown apart. */
enum sy_act_class {
	SY_ACT_READBACK, /* device to host, and the host waits for it */
	SY_ACT_UPLOAD,   /* host to device, and the host waits */
	SY_ACT_EXPLICIT, /* stream, event, device synchronize alone */
	SY_ACT_IMPLICIT, /* free, unregister, set of pinned memory, ... that did wait */
	SY_N_SYNC_CLASSES,
	SY_ACT_STAGING =
		SY_N_SYNC_CLASSES, /* asynchronous upload from pageable memory: the host copies, it does not wait */
	SY_ACT_COPY,               /* other copies: no wait */
	SY_ACT_SET,
	SY_ACT_FREE,         /* a free or unregister that did not wait */
	SY_ACT_BACKPRESSURE, /* a launch that a full queue held */
	SY_ACT_OTHER,        /* recorded, of a class this program does not know */
	SY_ACT_FAILED,       /* the call returned an error */
	SY_ACT_CAPTURED,     /* noted in a graph, not executed */
	SY_ACT_IN_FLIGHT,    /* not returned when the recording ended */
	SY_N_ACT_CLASSES
};

struct sy_act {
	const struct sy_event *first;
	const struct sy_event *second; /* the synchronize behind a copy, or NULL */
	const struct sy_event *at;     /* the one of both whose line made the host wait */
	enum sy_act_class class;
	enum sy_act_class otherwise; /* what it is if it did not wait; the same as `class` if certain */
	uint8_t direction;           /* enum sy_copy_direction */
	uint8_t memory;              /* enum sy_memory of the host's end, or of the target of a set */
	bool is_pending;             /* at entry there was work to wait for */
	uint64_t blocked_ns;         /* time in the calls */
};

/* Called for every act of a thread in order. */
typedef void sy_act_fn(void *context, const struct sy_trace_thread *thread, const struct sy_act *act);

/* The roles of the functions of one trace; keep it for the walks. */
struct sy_roles {
	uint8_t *of_api; /* by api id; n_apis of the trace */
};

/* Allocates in the arena. */
struct sy_roles sy_roles_make(const struct sy_trace *trace, struct sy_arena *arena);

void sy_logical_walk(const struct sy_trace *trace, const struct sy_roles *roles, const struct sy_trace_thread *thread,
                     sy_act_fn *on_act, void *context);

/* "readback", "upload", "explicit", "implicit", "staging", ... */
const char *sy_act_class_name(enum sy_act_class class);

#endif
