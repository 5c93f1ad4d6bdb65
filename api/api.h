/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - identifiers and descriptors of the CUDA functions we know
 *
 * Expanded from cuda_api.def and sync_class.def; needs the vendor headers only
 * for CUDART_VERSION, which some rows depend on. Read-only after start, so any
 * thread may use everything here.
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

#endif
