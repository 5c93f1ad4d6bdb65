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

#include "sim/knobs.h"

SIM_EXPORT CUresult sim_event_create(CUevent *event, unsigned flags);
SIM_EXPORT CUresult sim_event_destroy(CUevent event);
SIM_EXPORT CUresult sim_event_record(CUevent event, CUstream stream);
SIM_EXPORT CUresult sim_event_elapsed(float *ms, CUevent start, CUevent end);
SIM_EXPORT CUresult sim_event_sync(CUevent event);
SIM_EXPORT CUresult sim_event_query(CUevent event);
SIM_EXPORT CUresult sim_stream_wait_event(CUstream stream, CUevent event);

#endif
