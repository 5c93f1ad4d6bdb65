/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knobs.h - the settings of the simulated device, read once from SYNCTALLY_SIM
 *
 * A comma separates settings: NAME=VALUE (knobs.def), the name of a profile
 * (profiles.def), or file=PATH, a file with one NAME=VALUE a line. Later ones win.
 */
#ifndef SIM_KNOBS_H
#define SIM_KNOBS_H

#include <stdint.h>

/* Symbols of libsimcore that its faces (libcuda, libcudart, ...) may use. */
#define SIM_EXPORT __attribute__((visibility("default")))

enum sim_clock_mode { SIM_CLOCK_REAL, SIM_CLOCK_VIRTUAL };
enum sim_readback_policy { SIM_READBACK_ZERO, SIM_READBACK_STALE, SIM_READBACK_TAGGED };

struct sim_knobs {
#define KNOB(name, value, doc) uint64_t name;
#define KNOB_WORD(name, words, doc) uint64_t name;
#include "sim/knobs.def"
#undef KNOB
#undef KNOB_WORD
};

/*
 * Thread-local, of a model that costs one load: the general one calls the
 * loader. It takes from a reserve of the loader's where the library is loaded
 * late, and takes all of a library's thread-locals: only for libsimcore, and
 * only for what every call looks at.
 */
#define SIM_TLS __thread __attribute__((tls_model("initial-exec")))

/* Reads the settings, once. */
SIM_EXPORT const struct sim_knobs *sim_knobs_read(void);
SIM_EXPORT extern const struct sim_knobs *sim_knobs_known; /* atomic; NULL before */

/* The settings; constant after the first call. Any thread; allocates nothing. */
static inline const struct sim_knobs *sim_knobs(void)
{
	const struct sim_knobs *known = __atomic_load_n(&sim_knobs_known, __ATOMIC_ACQUIRE);

	return known ? known : sim_knobs_read();
}

#endif
