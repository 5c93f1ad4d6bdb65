/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - events, and the calls that wait for or ask about streams and events
 *
 * These functions take the lock themselves, and note their facts in the scope.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/knobs.h"

SIM_EXPORT CUresult sim_event_create(CUevent *event, unsigned flags);
/* The same with the lock held. */
CUresult sim_event_create_locked(CUevent *event, unsigned flags);
SIM_EXPORT CUresult sim_event_destroy(CUevent event);
/* flags: CU_EVENT_RECORD_EXTERNAL; makes a difference only if the stream captures. */
SIM_EXPORT CUresult sim_event_record(CUevent event, CUstream stream, unsigned flags);
SIM_EXPORT CUresult sim_event_elapsed(float *ms, CUevent start, CUevent end);
SIM_EXPORT CUresult sim_event_sync(CUevent event);
SIM_EXPORT CUresult sim_event_query(CUevent event);
/* flags: CU_EVENT_WAIT_EXTERNAL, likewise. */
SIM_EXPORT CUresult sim_stream_wait_event(CUstream stream, CUevent event, unsigned flags);

/* For nodes of graphs; lock held. */
struct sim_stream;
struct sim_span;
struct sim_vector;
bool sim_event_exists(CUevent event);
/* Adds to `covers` what the event is ordered after. *until_ns: when it is complete; 0 if it was never recorded. */
CUresult sim_event_proof(CUevent event, struct sim_vector *covers, uint64_t *until_ns);
/* The event is recorded inside the stream's last operation: `until` is the part of that before it. */
CUresult sim_event_record_in_graph(CUevent event, const struct sim_stream *stream, const struct sim_span *until);

/* For open.c: when that record of the event, by its index, is complete. A later record is left alone. Lock held. */
void sim_event_settle(unsigned index, uint64_t record, uint64_t complete_ns);

#endif
