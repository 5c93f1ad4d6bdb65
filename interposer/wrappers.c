/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.c - the API table, expanded into the functions a program calls
 *
 * No logic here: a wrapper's lines share one line number, so what can be
 * stepped through is in call.c and launch.h. Names that end in "_" are the
 * template's own, so that no row's parameter can be caught by it.
 */
#include "interposer/wrappers.h"

#include "interposer/call.h"
#include "interposer/facts.h"
#include "interposer/launch.h"
#include "interposer/real.h"

#define RESULT_RT cudaError_t
#define RESULT_DRV CUresult

#define REAL(lib, params) ((RESULT_##lib(*) params)real_)
#define SPREAD(...) __VA_ARGS__

/* From its entry to its return. */
#define WATCH(lib, name, caller, params, args, facts)                                                                  \
	sy_fn real_ = __atomic_load_n(&sy_real_fn[SY_API_##name], __ATOMIC_RELAXED);                                   \
	struct sy_call call_;                                                                                          \
	RESULT_##lib result_;                                                                                          \
                                                                                                                       \
	if (SY_UNLIKELY(!real_))                                                                                       \
		real_ = sy_real_find(SY_API_##name, (caller));                                                         \
	if (!sy_call_begin(&call_, SY_API_##name, (caller))) {                                                         \
		result_ = REAL(lib, params) args;                                                                      \
		sy_call_pass();                                                                                        \
		return result_;                                                                                        \
	}                                                                                                              \
	FACT_##facts;                                                                                                  \
	sy_call_enter(&call_);                                                                                         \
	result_ = REAL(lib, params) args;                                                                              \
	sy_call_leave(&call_, (int)result_);                                                                           \
	return result_

#define WATCHED(lib, name, zero, params, args, facts)                                                                  \
	RESULT_##lib name params;                                                                                      \
	SY_EXPORT RESULT_##lib name params                                                                             \
	{                                                                                                              \
		WATCH(lib, name, __builtin_return_address(0), params, args, facts);                                    \
	}

/* The long way is a function of its own, so that the short one needs no room for its variables. */
#define LAUNCH(lib, name, zero, params, args, facts)                                                                   \
	RESULT_##lib name params;                                                                                      \
	static SY_COLD RESULT_##lib name##_watched(const void *caller_, SPREAD params)                                 \
	{                                                                                                              \
		WATCH(lib, name, caller_, params, args, facts);                                                        \
	}                                                                                                              \
	static SY_COLD RESULT_##lib name##_timed(const void *caller_, SPREAD params)                                   \
	{                                                                                                              \
		sy_fn real_ = __atomic_load_n(&sy_real_fn[SY_API_##name], __ATOMIC_RELAXED);                           \
		struct sy_launch_watch watch_ = { NULL, 0 };                                                           \
		RESULT_##lib result_;                                                                                  \
                                                                                                                       \
		if (real_)                                                                                             \
			watch_ = sy_launch_watch_begin(LAUNCH_##facts, zero);                                          \
		if (!watch_.run)                                                                                       \
			return name##_watched(caller_, SPREAD args);                                                   \
		result_ = REAL(lib, params) args;                                                                      \
		sy_launch_watch_end(&watch_, SY_API_##name, caller_, result_ != 0);                                    \
		return result_;                                                                                        \
	}                                                                                                              \
	SY_EXPORT RESULT_##lib name params                                                                             \
	{                                                                                                              \
		sy_fn real_ = __atomic_load_n(&sy_real_fn[SY_API_##name], __ATOMIC_RELAXED);                           \
		struct sy_work_run *run_;                                                                              \
		RESULT_##lib result_;                                                                                  \
                                                                                                                       \
		if (SY_UNLIKELY(!real_) || !(run_ = sy_launch_begin(LAUNCH_##facts, zero)))                            \
			return name##_timed(__builtin_return_address(0), SPREAD args);                                 \
		result_ = REAL(lib, params) args;                                                                      \
		sy_launch_end(run_, result_ != 0);                                                                     \
		return result_;                                                                                        \
	}
#define LAUNCH_STREAM(s) SY_WORD(s)

/* The second argument once all are expanded: what TEMPLATE_x adds before the default, if there is one for the class. */
#define SECOND(...) SECOND_OF(__VA_ARGS__)
#define SECOND_OF(first, second, ...) second
#define TEMPLATE_LAUNCH ~, LAUNCH
#define WRAPPER(lib, name, class, zero, params, args, facts)                                                           \
	SECOND(TEMPLATE_##class, WATCHED, ~)(lib, name, zero, params, args, facts)

/* `zero`: the handle of what stream 0 means in the spelling. */
#define LEGACY 0
#define PER_THREAD SY_WORD(cudaStreamPerThread)

#define SPELL_NONE(lib, name, class, params, args, facts) WRAPPER(lib, name, class, LEGACY, params, args, facts)
#define SPELL_PTSZ(lib, name, class, params, args, facts)                                                              \
	WRAPPER(lib, name, class, LEGACY, params, args, facts)                                                         \
	WRAPPER(lib, name##_ptsz, class, PER_THREAD, params, args, facts)
#define SPELL_PTDS(lib, name, class, params, args, facts)                                                              \
	WRAPPER(lib, name, class, LEGACY, params, args, facts)                                                         \
	WRAPPER(lib, name##_ptds, class, PER_THREAD, params, args, facts)

#define API(lib, name, spelling, class, params, args, facts) SPELL_##spelling(lib, name, class, params, args, facts)
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
