/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - identifiers and descriptors of the CUDA functions we know
 *
 * Expanded from cuda_api.def and sync_class.def, for the functions that are not
 * intercepted from cuda_rest.def and effect.def; needs the vendor headers only
 * for CUDART_VERSION, which some rows depend on. Nothing here changes after start,
 * so any thread may use all of it.
 */
#ifndef SY_API_API_H
#define SY_API_API_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

/* The layer a function belongs to. */
enum sy_lib { SY_LIB_RT, SY_LIB_DRV };

/* What one call may do to the host: sync_class.def. */
enum sy_class {
#define SYNC_CLASS(id, label, recorded, rule) SY_##id,
#include "sync_class.def"
#undef SYNC_CLASS
	SY_N_CLASSES
};

/* One id per exported spelling: NAME, and NAME_ptsz or NAME_ptds. */
enum sy_api {
#define SY_SPELL_NONE(name) SY_API_##name,
#define SY_SPELL_PTSZ(name) SY_API_##name, SY_API_##name##_ptsz,
#define SY_SPELL_PTDS(name) SY_API_##name, SY_API_##name##_ptds,
#define API(lib, name, spelling, class, params, args, facts) SY_SPELL_##spelling(name)
#include "cuda_api.def"
#undef API
#undef SY_SPELL_NONE
#undef SY_SPELL_PTSZ
#undef SY_SPELL_PTDS
	SY_N_API
};

/* Directions of a copy; the values of enum cudaMemcpyKind. SY_ANY: found from the addresses. */
enum sy_direction { SY_H2H = 0, SY_H2D = 1, SY_D2H = 2, SY_D2D = 3, SY_ANY = 4 };

struct sy_api_desc {
	const char *name; /* the exported symbol */
	enum sy_lib lib;
	enum sy_class class;
	bool is_per_thread; /* stream 0 means the per-thread default stream */
};

struct sy_class_desc {
	const char *name;  /* as in sync_class.def */
	const char *label; /* the word a report groups it under */
	bool is_recorded;  /* each call becomes an event in the trace */
	const char *rule;  /* one line, for the coverage page */
};

extern const struct sy_api_desc sy_api_desc[SY_N_API];
extern const struct sy_class_desc sy_class_desc[SY_N_CLASSES];

/* What a call does of a function that we do not intercept: effect.def. */
enum sy_effect {
#define EFFECT(id, may_submit, may_wait, rule) SY_EFFECT_##id,
#include "effect.def"
#undef EFFECT
	SY_N_EFFECTS
};

struct sy_effect_desc {
	const char *name; /* as in effect.def */
	bool may_submit;  /* work may be outstanding afterwards that nobody told us of */
	bool may_wait;    /* may hold the host until device work is complete */
	const char *rule; /* one line, for the coverage page */
};

/* One per exported spelling of a function that we do not intercept. */
struct sy_rest_desc {
	const char *name; /* the exported symbol */
	enum sy_lib lib;
	enum sy_effect effect;
	bool is_per_thread; /* stream 0 means the per-thread default stream */
};

extern const struct sy_effect_desc sy_effect_desc[SY_N_EFFECTS];
extern const struct sy_rest_desc sy_rest_desc[];
extern const unsigned sy_n_rest;

/*
 * The function of cuda_rest.def with that exported name, or NULL: then it is a
 * row of cuda_api.def, or nothing we know, which is to be taken for one that
 * submits work. Any thread, signal handlers too; allocates nothing.
 */
const struct sy_rest_desc *sy_rest_find(const char *name);

#endif
