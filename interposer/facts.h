/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - the "facts" column of cuda_api.def: which arguments matter
 *
 * Each FACT_x fills fields of the `struct sy_call call_` of the wrapper it is
 * expanded in. Pointers are only noted, never followed here, except the
 * parameter blocks of two- and three-dimensional copies.
 */
#ifndef SY_INTERPOSER_FACTS_H
#define SY_INTERPOSER_FACTS_H

#include "interposer/call.h"

#define SY_WORD(value) ((uint64_t)(uintptr_t)(value))

#define FACT_NOTHING ((void)0)
#define FACT_STREAM(s) (call_.stream = SY_WORD(s))
#define FACT_EVENT(e) (call_.event = SY_WORD(e))
#define FACT_EVENT_STREAM(e, s) (call_.event = SY_WORD(e), call_.stream = SY_WORD(s))
#define FACT_DEVICE(d) (call_.bytes = (uint64_t)(d))
#define FACT_COPY(d, s, n, k, st)                                                                                      \
	(call_.dst = SY_WORD(d), call_.src = SY_WORD(s), call_.bytes = (n), call_.direction = (uint8_t)(k),            \
	 call_.stream = SY_WORD(st))
#define FACT_SET(d, n, st) (call_.dst = SY_WORD(d), call_.bytes = (n), call_.stream = SY_WORD(st))
#define FACT_OUT(p, n) (call_.out = (p), call_.bytes = (n))
#define FACT_OUT_PITCH(p, pitch, h) (call_.out = (p), call_.out_pitch = (pitch), call_.bytes = (h))
#define FACT_OUT_ORDERED(p, n, st) (call_.out = (p), call_.bytes = (n), call_.stream = SY_WORD(st))
#define FACT_OUT_STREAM(p, f) (call_.out = (p), call_.bytes = (f))
#define FACT_RANGE(p, n) (call_.dst = SY_WORD(p), call_.bytes = (n))
#define FACT_RANGE_STREAM(p, st) (call_.dst = SY_WORD(p), call_.stream = SY_WORD(st))
#define FACT_COPY2D(p, st) sy_facts_copy2d(&call_, (p), SY_WORD(st))
#define FACT_COPY3D(p, st) sy_facts_copy3d(&call_, (p), SY_WORD(st))
#define FACT_COPY3D_RT(p, st) sy_facts_copy3d_rt(&call_, (p), SY_WORD(st))

void sy_facts_copy2d(struct sy_call *call, const CUDA_MEMCPY2D *parms, uint64_t stream);
void sy_facts_copy3d(struct sy_call *call, const CUDA_MEMCPY3D *parms, uint64_t stream);
void sy_facts_copy3d_rt(struct sy_call *call, const struct cudaMemcpy3DParms *parms, uint64_t stream);

#endif
