/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_work.h - what one node of a graph does when the graph is launched
 *
 * A value: the program's parameters in the form the device core works with.
 * What a caller passes in points at the caller's memory; a node holds a copy
 * of its own, made by sim_work_copy() and ended by sim_work_drop(). All
 * functions: lock held.
 */
#ifndef SIM_GRAPH_WORK_H
#define SIM_GRAPH_WORK_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/api.h"
#include "sim/copy.h"
#include "sim/kernel.h"

struct sim_graph;
struct sim_graph_memory;

struct sim_work {
	CUgraphNodeType type;
	union {
		struct sim_kernel_work kernel;
		struct {
			struct sim_copy shape;
			enum sy_direction direction;
		} copy;
		struct sim_set set;
		struct {
			CUhostFn func;
			void *data;
		} host;
		CUevent event;
		struct {
			CUgraph handle;          /* in: the graph to copy; out: the copy inside the node */
			struct sim_graph *graph; /* NULL in what a caller passes in */
		} child;
		struct {
			uintptr_t address; /* of what is allocated or freed */
			size_t bytes;
			struct sim_graph_memory *block; /* allocation nodes: held by the node */
		} memory;
	};
};

/* Whether a node may do this. CUDA_ERROR_INVALID_VALUE or _INVALID_HANDLE; NOT_SUPPORTED for what is not simulated. */
CUresult sim_work_check(const struct sim_work *work);

/*
 * Makes `to` a copy that a node can own. has_handles: of a graph that the
 * program can name nodes of; not of an executable one. CUDA_ERROR_OUT_OF_MEMORY
 * leaves nothing to drop.
 */
CUresult sim_work_copy(struct sim_work *to, const struct sim_work *from, bool has_handles);

void sim_work_drop(struct sim_work *work);

/* True if the work allocates or frees memory, itself or in a child graph. */
bool sim_work_owns_memory(const struct sim_work *work);

#endif
