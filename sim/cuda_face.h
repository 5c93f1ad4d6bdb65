/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_face.h - what the files of libcuda.so.1 share
 *
 * Functions with a row in api/cuda_api.def are implemented as sim_NAME here
 * and exported, in all spellings, by cuda_face.c. The others are exported
 * directly and begin with SIM_TOUCH().
 */
#ifndef SIM_CUDA_FACE_H
#define SIM_CUDA_FACE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"
#include "sim/scope.h"

#define SY_DECLARE_RT(name, params)
#define SY_DECLARE_DRV(name, params) CUresult sim_##name params;
#define API(lib, name, spelling, class, params, args, facts) SY_DECLARE_##lib(name, params)
#include "api/cuda_api.def"
#undef API
#undef SY_DECLARE_RT
#undef SY_DECLARE_DRV

/* CUDA_SUCCESS once cuInit() was called and, if asked for, some context is there to work in. */
CUresult sim_cuda_ready(bool needs_context);

/* The context for work on that device: the current one if it is of it, else the primary one. */
CUresult sim_cuda_context_of(int ordinal, CUcontext *context);

/* A 3D copy in the form the core works with; arrays are refused. */
struct sim_copy;
CUresult sim_cuda_box(const CUDA_MEMCPY3D *parms, struct sim_copy *copy, enum sy_direction *direction);

/* Exported under the per-thread spelling as well, where that makes no difference. */
#define SIM_ALSO_PTSZ(name) extern SIM_EXPORT __typeof__(name) name##_ptsz __attribute__((alias(#name)));

/* What stream 0 means in a per-thread spelling. */
static inline CUstream sim_per_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

/* Graphs have only ordinary edges here. */
static inline bool sim_edges_are_plain(const CUgraphEdgeData *edges, size_t n)
{
	for (size_t i = 0; edges && i < n; i++)
		if (edges[i].from_port || edges[i].to_port || edges[i].type)
			return false;
	return true;
}

/* Opens every function without a row: pays its time, and returns from it if it may not go on. */
#define SIM_TOUCH()                                                                                                    \
	do {                                                                                                           \
		CUresult touch_ = sim_scope_touch(__func__);                                                           \
		if (touch_ == CUDA_SUCCESS)                                                                            \
			touch_ = sim_cuda_ready(false);                                                                \
		if (touch_ != CUDA_SUCCESS)                                                                            \
			return touch_;                                                                                 \
	} while (0)

#endif
