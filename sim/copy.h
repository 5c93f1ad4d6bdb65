/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - copies and sets: what moves, and whether the host waits (R1 to R13)
 *
 * These functions take the lock themselves, and note their facts in the scope.
 */
#ifndef SIM_COPY_H
#define SIM_COPY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/api.h"
#include "sim/knobs.h"

/* A box of bytes; a plain copy has one row of one slice. Pitches and slices are in bytes. */
struct sim_copy {
	uintptr_t destination;
	uintptr_t source;
	size_t width;
	size_t rows;
	size_t slices;
	size_t destination_pitch;
	size_t source_pitch;
	size_t destination_slice;
	size_t source_slice;
};

/*
 * Submits the copy to the stream and waits as the rules say. is_sync: the form
 * without Async in its name. direction: what the function's name promises; an
 * address of the wrong side is CUDA_ERROR_INVALID_VALUE.
 */
SIM_EXPORT CUresult sim_copy(const struct sim_copy *copy, CUstream stream, bool is_sync, enum sy_direction direction);

/*
 * cudaMemcpyPeer(): after everything that both devices and the current one
 * have to do, and before all that comes; the host does not wait.
 */
SIM_EXPORT CUresult sim_copy_peer(const struct sim_copy *copy);

/* Rows of equal elements. */
struct sim_set {
	uintptr_t destination;
	size_t pitch; /* bytes from row to row */
	size_t width; /* elements in a row */
	size_t rows;
	unsigned value;
	unsigned element_bytes; /* 1, 2 or 4 */
};

SIM_EXPORT CUresult sim_set(const struct sim_set *set, CUstream stream, bool is_sync);

/*
 * For nodes of graphs; lock held. The check is that of the calls above. An op
 * is one execution, as of now: what it does and how long it takes.
 */
struct sim_op;
CUresult sim_copy_check(const struct sim_copy *copy, enum sy_direction direction);
CUresult sim_copy_op(const struct sim_copy *copy, struct sim_op **op, uint64_t *duration_ns);
CUresult sim_set_check(const struct sim_set *set);
CUresult sim_set_op(const struct sim_set *set, struct sim_op **op, uint64_t *duration_ns);

#endif
