/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart_face.c - the exported functions of libcudart.so.N that have a row in api/cuda_api.def
 *
 * No logic: each opens a scope, calls rt_NAME, and closes the scope.
 */
#include "sim/cudart_face.h"

static cudaError_t enter(struct sim_scope *scope, const char *api, enum sy_class class, bool is_per_thread)
{
	CUresult result = sim_scope_enter(scope, api, class, is_per_thread);

	return result == CUDA_SUCCESS ? rt_ready() : rt_error(result);
}

/* Some of these are declared only for nvcc. */
#define SY_EXPORT(symbol, name, spelled, class_, params, args)                                                         \
	SIM_EXPORT cudaError_t symbol params;                                                                          \
	SIM_EXPORT cudaError_t symbol params                                                                           \
	{                                                                                                              \
		struct sim_scope scope_;                                                                               \
		cudaError_t ret_ = enter(&scope_, #symbol, SY_##class_, spelled);                                      \
		if (ret_ == cudaSuccess)                                                                               \
			ret_ = rt_##name args;                                                                         \
		rt_note(ret_);                                                                                         \
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

#define SY_ROW_DRV(spelling, name, class_, params, args)
#define SY_ROW_RT(spelling, name, class_, params, args) SY_EXPORT_##spelling(name, class_, params, args)
#define API(lib, name, spelling, class_, params, args, facts) SY_ROW_##lib(spelling, name, class_, params, args)
#include "api/cuda_api.def"
