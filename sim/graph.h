/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - graphs as the driver face needs them: make, look at, change
 *
 * These functions take the lock themselves. Handles that are none are
 * CUDA_ERROR_INVALID_VALUE. A list's length goes in as room and comes out as
 * what was written; without a list it comes out as what there is.
 */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/graph_work.h"
#include "sim/knobs.h"

SIM_EXPORT CUresult sim_graph_create(CUgraph *graph);
SIM_EXPORT CUresult sim_graph_destroy(CUgraph graph);
SIM_EXPORT CUresult sim_graph_clone(CUgraph *clone, CUgraph graph);

SIM_EXPORT CUresult sim_graph_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                                  const struct sim_work *work);
SIM_EXPORT CUresult sim_graph_add_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n);
SIM_EXPORT CUresult sim_graph_remove_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n);

SIM_EXPORT CUresult sim_graph_list_nodes(CUgraph graph, bool only_roots, CUgraphNode *nodes, size_t *n);
SIM_EXPORT CUresult sim_graph_list_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n);

/* The nodes right before a node, or right after it. */
SIM_EXPORT CUresult sim_node_list_before(CUgraphNode node, CUgraphNode *nodes, size_t *n);
SIM_EXPORT CUresult sim_node_list_after(CUgraphNode node, CUgraphNode *nodes, size_t *n);

SIM_EXPORT CUresult sim_node_destroy(CUgraphNode node);
SIM_EXPORT CUresult sim_node_find_in_clone(CUgraphNode *copy, CUgraphNode original, CUgraph clone);

/* What the node does; pointers in it are the node's own. */
SIM_EXPORT CUresult sim_node_get(CUgraphNode node, struct sim_work *work);

/* Other work of the same type. */
SIM_EXPORT CUresult sim_node_set(CUgraphNode node, const struct sim_work *work);

/* Memory for an allocation node, in work->memory; its address is known from now on. */
SIM_EXPORT CUresult sim_graph_add_allocation(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                                             size_t bytes, CUdeviceptr *address);

/* Writes the graph to a file in the language of Graphviz. CUDA_ERROR_OPERATING_SYSTEM if that fails. */
SIM_EXPORT CUresult sim_graph_print(CUgraph graph, const char *path);

/* User objects: a destructor that runs when nobody refers to the object any more. */
SIM_EXPORT CUresult sim_object_create(CUuserObject *object, void *ptr, CUhostFn destroy, unsigned count);
SIM_EXPORT CUresult sim_object_retain(CUuserObject object, unsigned count);
SIM_EXPORT CUresult sim_object_release(CUuserObject object, unsigned count);
/* is_moved: the graph takes over references of the caller instead of making new ones. */
SIM_EXPORT CUresult sim_graph_retain_object(CUgraph graph, CUuserObject object, unsigned count, bool is_moved);
SIM_EXPORT CUresult sim_graph_release_object(CUgraph graph, CUuserObject object, unsigned count);

#endif
