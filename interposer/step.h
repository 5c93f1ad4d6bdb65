/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.h - where one training step ends
 *
 * synctally_step() from the program; the end of an NVTX range (nvtx.c); or the
 * end of Optimizer.step(): PyTorch's global optimizer hooks, registered from C
 * through the running interpreter.
 * The safe moment for that is an audit event of the interpreter: the GIL is
 * held, and importing torch.optim makes some.
 */
#ifndef SY_INTERPOSER_STEP_H
#define SY_INTERPOSER_STEP_H

#include "trace/format.h"

#include <stdint.h>

/* A step ended on the calling thread. `stepper` tells apart the things that end steps (0: only one). */
void sy_step_end(enum sy_step_source source, uint32_t stepper);

/* Gets in touch with an interpreter that is already mapped. Before main; harmless without Python. */
void sy_step_watch_python(void);

/* The same for an interpreter mapped later (an embedded one). From a CUDA call; cheap to repeat, never waits. */
void sy_step_poke_python(void);

#endif
