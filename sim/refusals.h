/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals.h - what gen_refusals.py writes its rows for
 *
 * The vendor's headers are not included here: a refusing function is declared
 * without its real parameters, which it never looks at.
 */
#ifndef SIM_REFUSALS_H
#define SIM_REFUSALS_H

#include "sim/say.h"

enum { SIM_NOT_SUPPORTED = 801 }; /* CUDA_ERROR_NOT_SUPPORTED and cudaErrorNotSupported */

/* Weak: an implementation in another file of the library takes its place. */
#define REFUSE(name)                                                                                                   \
	SIM_EXPORT int name(void);                                                                                     \
	__attribute__((weak)) int name(void)                                                                           \
	{                                                                                                              \
		sim_refuse(#name);                                                                                     \
		return SIM_NOT_SUPPORTED;                                                                              \
	}

/* One answer of cuGetProcAddress(): sorted by name, then version, then spelling. */
struct sim_proc {
	const char *name;
	int version; /* the first CUDA version of this form, as 1000 * major + 10 * minor */
	int is_per_thread;
	int (*address)(void);
};

extern const struct sim_proc sim_procs[];
extern const unsigned sim_n_procs;

#endif
