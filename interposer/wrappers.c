/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.c - the API table, expanded into the functions a program calls
 *
 * No logic here: a wrapper's lines share one line number, so what can be
 * stepped through is in call.c. Names that end in "_" are the template's own,
 * so that no row's parameter can be caught by it.
 */
#include "interposer/wrappers.h"

#include "interposer/call.h"
#include "interposer/facts.h"
#include "interposer/real.h"

#define RESULT_RT cudaError_t
#define RESULT_DRV CUresult

#define WRAPPER(lib, name, params, args, facts)                                                                        \
	RESULT_##lib name params;                                                                                      \
	SY_EXPORT RESULT_##lib name params                                                                             \
	{                                                                                                              \
		sy_fn real_ = __atomic_load_n(&sy_real_fn[SY_API_##name], __ATOMIC_RELAXED);                           \
		struct sy_call call_;                                                                                  \
		RESULT_##lib result_;                                                                                  \
                                                                                                                       \
		if (SY_UNLIKELY(!real_))                                                                               \
			real_ = sy_real_find(SY_API_##name);                                                           \
		if (!sy_call_begin(&call_, SY_API_##name, __builtin_return_address(0))) {                              \
			result_ = ((RESULT_##lib(*) params)real_)args;                                                 \
			sy_call_pass();                                                                                \
			return result_;                                                                                \
		}                                                                                                      \
		FACT_##facts;                                                                                          \
		sy_call_enter(&call_);                                                                                 \
		result_ = ((RESULT_##lib(*) params)real_)args;                                                         \
		sy_call_leave(&call_, (int)result_);                                                                   \
		return result_;                                                                                        \
	}

#define SPELL_NONE(lib, name, params, args, facts) WRAPPER(lib, name, params, args, facts)
#define SPELL_PTSZ(lib, name, params, args, facts)                                                                     \
	WRAPPER(lib, name, params, args, facts)                                                                        \
	WRAPPER(lib, name##_ptsz, params, args, facts)
#define SPELL_PTDS(lib, name, params, args, facts)                                                                     \
	WRAPPER(lib, name, params, args, facts)                                                                        \
	WRAPPER(lib, name##_ptds, params, args, facts)

#define API(lib, name, spelling, class, params, args, facts) SPELL_##spelling(lib, name, params, args, facts)
#include "api/cuda_api.def"
#undef API

const sy_fn sy_wrapper_fn[SY_N_API] = {
#define ADDRESS_NONE(name) (sy_fn) name,
#define ADDRESS_PTSZ(name) (sy_fn) name, (sy_fn)name##_ptsz,
#define ADDRESS_PTDS(name) (sy_fn) name, (sy_fn)name##_ptds,
#define API(lib, name, spelling, class, params, args, facts) ADDRESS_##spelling(name)
#include "api/cuda_api.def"
#undef API
};
