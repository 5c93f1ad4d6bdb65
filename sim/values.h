/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - what a readback at a given line shows
 *
 * SYNCTALLY_SIM_VALUES="metrics.py:58=64,train.py:9=1": a small readback that
 * some frame of the Python stack makes at this line, and that only kernels can
 * have written, shows this integer; with it a size that depends on data is
 * what it would be on a GPU. Lines come from the preload library (api/site.h).
 */
#ifndef SIM_VALUES_H
#define SIM_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/knobs.h"

/*
 * A value for a line of a library's own, unless the program's user has given
 * one. `file` is matched as above. Takes the lock.
 */
SIM_EXPORT void sim_values_suggest(const char *file, unsigned line, uint64_t value);

/* The value for the line the calling thread is at. False: none was given. Lock held. */
bool sim_values_at_caller(uint64_t *value);

#endif
