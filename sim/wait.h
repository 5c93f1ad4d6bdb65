/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - the calls that wait for, or ask about, streams and whole devices
 *
 * These functions take the lock themselves, and note their facts in the scope.
 * Stream handles are as sim_stream_find() takes them.
 */
#ifndef SIM_WAIT_H
#define SIM_WAIT_H

#include <cuda.h>

#include "sim/knobs.h"

SIM_EXPORT CUresult sim_wait_stream(CUstream stream);
SIM_EXPORT CUresult sim_wait_device(void);
/* Waits like sim_wait_device(), but certifies nothing: something is about to end, nobody asked about its work. */
SIM_EXPORT CUresult sim_wait_before_reset(void);
SIM_EXPORT CUresult sim_query_stream(CUstream stream);

/* Stream objects. */
SIM_EXPORT CUresult sim_make_stream(CUstream *stream, unsigned flags, int priority);
SIM_EXPORT CUresult sim_end_stream(CUstream stream);

struct sim_stream_facts {
	unsigned flags;
	int priority;
	unsigned long long id;
	int ordinal; /* of its device */
};
SIM_EXPORT CUresult sim_stream_facts(CUstream stream, struct sim_stream_facts *facts);
/* For questions that a capturing stream may not be asked (R20): CUDA_SUCCESS if this one may. */
SIM_EXPORT CUresult sim_stream_may_be_named(CUstream stream);

#endif
