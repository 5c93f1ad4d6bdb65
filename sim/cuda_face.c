/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_face.c - the exported functions of libcuda.so.1 that have a row in api/cuda_api.def
 *
 * No logic: each opens a scope, calls sim_NAME, and closes the scope.
 */
#include "sim/cuda_face.h"

#define SY_EXPORT(symbol, name, spelled, class_, params, args)                                                         \
	SIM_EXPORT CUresult symbol params                                                                              \
	{                                                                                                              \
		struct sim_scope scope_;                                                                               \
		CUresult ret_ = sim_scope_enter(&scope_, #symbol, SY_##class_, spelled);                               \
		if (ret_ == CUDA_SUCCESS)                                                                              \
			ret_ = sim_cuda_ready(SY_##class_ != SY_RESET);                                                \
		if (ret_ == CUDA_SUCCESS)                                                                              \
			ret_ = sim_##name args;                                                                        \
		sim_scope_leave(&scope_, (int)ret_);                                                                   \
		return ret_;                                                                                           \
	}

#define SY_EXPORT_NONE(name, class_, params, args) SY_EXPORT(name, name, false, class_, params, args)
#define SY_EXPORT_PTSZ(name, class_, params, args)                                                                     \
	SY_EXPORT(name, name, false, class_, params, args)                                                             \
	SY_EXPORT(name##_ptsz, name, true, class_, params, args)
#define SY_EXPORT_PTDS(name, class_, params, args)                                                                     \
	SY_EXPORT(name, name, false, class_, params, args)                                                             \
	SY_EXPORT(name##_ptds, name, true, class_, params, args)

#define SY_ROW_RT(spelling, name, class_, params, args)
#define SY_ROW_DRV(spelling, name, class_, params, args) SY_EXPORT_##spelling(name, class_, params, args)
#define API(lib, name, spelling, class_, params, args, facts) SY_ROW_##lib(spelling, name, class_, params, args)
#include "api/cuda_api.def"
