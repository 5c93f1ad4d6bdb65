/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitter.h - device times that vary, in a sequence the seed decides
 *
 * Off by default. Lock held: the sequence belongs to the order of submission.
 */
#ifndef SIM_JITTER_H
#define SIM_JITTER_H

#include <stdint.h>

/* A time as it turns out this once: longer or shorter by at most jitter/1000 of it. */
uint64_t sim_jitter(uint64_t ns);

#endif
