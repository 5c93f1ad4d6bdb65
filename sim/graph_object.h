/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_object.h - user objects: what graphs keep alive for the program
 *
 * A destructor is code of the program: it runs after the lock is let go, in
 * sim_objects_destroy(). All other functions: lock held.
 */
#ifndef SIM_GRAPH_OBJECT_H
#define SIM_GRAPH_OBJECT_H

#include <cuda.h>
#include <stdbool.h>

/* References that one graph holds; a list. */
struct sim_holding;

bool sim_holdings_copy(struct sim_holding **to, const struct sim_holding *from);
void sim_holdings_release(struct sim_holding **holdings);

/* Runs the destructors of objects that nobody refers to any more. Lock not held. */
void sim_objects_destroy(void);

#endif
