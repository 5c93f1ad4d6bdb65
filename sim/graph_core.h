/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_core.h - how graphs are kept: what the files of the core that deal with them share
 *
 * A graph is a list of nodes in order of their making; each knows what comes
 * before it. A graph that the program can name is a template: instantiating it
 * makes an executable copy, whose nodes have no names but remember whose
 * copies they are. All functions: lock held.
 */
#ifndef SIM_GRAPH_CORE_H
#define SIM_GRAPH_CORE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/graph_work.h"

struct sim_holding;

struct sim_node {
	struct sim_graph *graph;
	CUgraphNode handle; /* NULL in an executable */
	uint64_t id;        /* of all nodes ever made */
	uint64_t origin;    /* id of the node it was copied from, 0 if none */
	size_t index;       /* in its graph */
	bool is_disabled;   /* in an executable: takes its place, does nothing */
	struct sim_work work;
	struct sim_node **before;
	size_t n_before;
};

struct sim_graph {
	CUgraph handle; /* NULL in an executable */
	bool is_inner;  /* belongs to a child graph node */
	unsigned n_captures;
	struct sim_node **nodes;
	size_t n;
	size_t capacity;
	size_t *order;                /* of an executable: indices so that each node comes after those before it */
	struct sim_holding *holdings; /* user objects */
};

/* Without nodes; NULL without memory. */
struct sim_graph *sim_graph_new(bool has_handles);
void sim_graph_free(struct sim_graph *graph);

/* A copy, nodes in the same order. NULL without memory. */
struct sim_graph *sim_graph_copy(const struct sim_graph *graph, bool has_handles);

struct sim_graph *sim_graph_find(CUgraph handle);
struct sim_node *sim_node_find(CUgraphNode handle);

/* Appends a node that owns a copy of the work. Dependencies must be distinct nodes of the same graph. */
CUresult sim_graph_append(struct sim_node **node, struct sim_graph *graph, const CUgraphNode *before, size_t n,
                          const struct sim_work *work);

/* Takes a node that the program can name out of its graph, and ends it. */
void sim_graph_remove(struct sim_node *node);

/* Gives the node other work of the same type. */
CUresult sim_node_replace(struct sim_node *node, const struct sim_work *work);

/* Fills in graph->order, and those of child graphs. CUDA_ERROR_INVALID_VALUE if there is a circle. */
CUresult sim_graph_sort(struct sim_graph *graph);

/* True if some node of the graph, or of a child graph, allocates or frees memory. */
bool sim_graph_owns_memory(const struct sim_graph *graph);

/* The copy of a node in a graph, child graphs included. NULL if there is none. */
struct sim_node *sim_graph_find_copy(const struct sim_graph *graph, uint64_t id);

#endif
