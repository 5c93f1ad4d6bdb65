/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readback.h - which bytes of the device a small readback may show
 *
 * Kernels do not compute, so what a trainer reads back to decide about could
 * be left-overs of recycled memory: a garbage count or loss, another one in
 * every run. Policy `zero`: a readback of at most 16 bytes shows zeros unless
 * a copy or set wrote those bytes after the last launch of a kernel without a
 * host function. Policy `tagged` shows a mark instead, so that a value served
 * too late is seen: a small positive integer made from the address and the
 * number of launches so far, harmless as a count and, as a float, a finite
 * number close to 0; single bytes stay 0. A value given for the line that reads
 * (values.h) comes before either. A copy inside the device hands on only what could itself be
 * shown. Order of submission counts, so the answer is the same in every run.
 * All functions: lock held.
 */
#ifndef SIM_READBACK_H
#define SIM_READBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_READBACK_MAX_BYTES = 16 };

/* A kernel that does not compute was launched: nothing on the device is known any more. */
void sim_readback_forget(void);

/* Bytes on the device were written: with known contents, or with what nobody knows. */
void sim_readback_note_write(uintptr_t address, size_t bytes, bool is_known);

/* True if these bytes are what the program would have on a real device. */
bool sim_readback_is_known(uintptr_t address, size_t bytes);

/* What to show in place of unknown bytes at the address. For the thread that makes the readback. */
uint64_t sim_readback_make_up(uintptr_t address);

/* Writes it as the program will see it: as integers of the widest size that divides the copy. */
void sim_readback_show(void *to, size_t bytes, uint64_t value);

#endif
