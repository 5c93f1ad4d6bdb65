/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - reading the packed fields of one event, and their names
 *
 * Pure; for the analysis and for tests. Names are those of docs/FORMAT.md.
 */
#ifndef SY_TRACE_EVENT_H
#define SY_TRACE_EVENT_H

#include "trace/format.h"

#include <stdbool.h>

/* Direction of a copy: the values of `direction` in an event. */
enum sy_copy_direction { SY_COPY_H2H = 0, SY_COPY_H2D = 1, SY_COPY_D2H = 2, SY_COPY_D2D = 3, SY_COPY_UNKNOWN = 4 };

static inline unsigned sy_event_source(const struct sy_event *event)
{
	return event->memory & 15u;
}

static inline unsigned sy_event_destination(const struct sy_event *event)
{
	return event->memory >> 4;
}

static inline bool sy_event_is_complete(const struct sy_event *event)
{
	return (event->flags & SY_EVENT_COMPLETE) != 0;
}

/* "pageable", "pinned", "managed", "device"; "-" for none or an unknown number. */
const char *sy_memory_name(unsigned memory);

/* "h2h", "h2d", "d2h", "d2d"; "-" for none or an unknown number. */
const char *sy_direction_name(unsigned direction);

/* "call", "torch-optimizer", "nvtx"; "unknown" otherwise. */
const char *sy_step_source_name(int32_t source);

/* "call", "step"; "unknown" otherwise. */
const char *sy_event_kind_name(unsigned kind);

#endif
