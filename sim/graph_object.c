/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_object.h"

#include <stdlib.h>

#include "sim/graph.h"
#include "sim/graph_core.h"
#include "sim/graph_handles.h"
#include "sim/lock.h"
#include "sim/timeline.h"

struct object {
	struct object *next; /* among those to be destroyed */
	CUuserObject handle;
	CUhostFn destroy;
	void *ptr;
	uint64_t n_references;
};

struct sim_holding {
	struct sim_holding *next;
	struct object *object;
	uint64_t n;
};

static struct sim_handles objects = { .base = 0x5800000000 };
static struct object *doomed;

static void release(struct object *object, uint64_t n)
{
	object->n_references -= n;
	if (object->n_references)
		return;
	sim_handles_remove(&objects, object->handle);
	object->next = doomed;
	doomed = object;
}

bool sim_holdings_copy(struct sim_holding **to, const struct sim_holding *from)
{
	for (; from; from = from->next) {
		struct sim_holding *holding = malloc(sizeof *holding);
		if (!holding)
			return false;
		*holding = (struct sim_holding){ *to, from->object, from->n };
		from->object->n_references += from->n;
		*to = holding;
	}
	return true;
}

void sim_holdings_release(struct sim_holding **holdings)
{
	while (*holdings) {
		struct sim_holding *holding = *holdings;
		*holdings = holding->next;
		release(holding->object, holding->n);
		free(holding);
	}
}

void sim_objects_destroy(void)
{
	for (;;) {
		sim_lock();
		struct object *object = doomed;
		if (object)
			doomed = object->next;
		sim_unlock();
		if (!object)
			return;
		sim_timeline_call_host_function(object->destroy, object->ptr);
		free(object);
	}
}

CUresult sim_object_create(CUuserObject *handle, void *ptr, CUhostFn destroy, unsigned count)
{
	struct object *object = calloc(1, sizeof *object);

	if (!object)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*object = (struct object){ .destroy = destroy, .ptr = ptr, .n_references = count };
	sim_lock();
	object->handle = sim_handles_add(&objects, object);
	sim_unlock();
	if (!object->handle) {
		free(object);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*handle = object->handle;
	return CUDA_SUCCESS;
}

CUresult sim_object_retain(CUuserObject handle, unsigned count)
{
	sim_lock();
	struct object *object = sim_handles_find(&objects, handle);
	if (object)
		object->n_references += count;
	sim_unlock();
	return object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_object_release(CUuserObject handle, unsigned count)
{
	sim_lock();
	struct object *object = sim_handles_find(&objects, handle);
	bool is_fine = object && count <= object->n_references;
	if (is_fine)
		release(object, count);
	sim_unlock();
	sim_objects_destroy();
	return is_fine ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_graph_retain_object(CUgraph graph_handle, CUuserObject handle, unsigned count, bool is_moved)
{
	struct sim_holding *holding = malloc(sizeof *holding);

	if (!holding)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_lock();
	struct sim_graph *graph = sim_graph_find(graph_handle);
	struct object *object = sim_handles_find(&objects, handle);
	bool is_fine = graph && object && (!is_moved || count <= object->n_references);
	if (is_fine) {
		if (!is_moved)
			object->n_references += count;
		*holding = (struct sim_holding){ graph->holdings, object, count };
		graph->holdings = holding;
		holding = NULL;
	}
	sim_unlock();
	free(holding);
	return is_fine ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Takes up to n references out of a graph's list; the number taken. */
static uint64_t take(struct sim_holding **link, const struct object *object, uint64_t n)
{
	uint64_t n_taken = 0;

	while (*link && n_taken < n) {
		struct sim_holding *holding = *link;
		uint64_t part = holding->n < n - n_taken ? holding->n : n - n_taken;
		if (holding->object == object) {
			holding->n -= part;
			n_taken += part;
		}
		if (holding->n) {
			link = &holding->next;
		} else {
			*link = holding->next;
			free(holding);
		}
	}
	return n_taken;
}

CUresult sim_graph_release_object(CUgraph graph_handle, CUuserObject handle, unsigned count)
{
	sim_lock();
	struct sim_graph *graph = sim_graph_find(graph_handle);
	struct object *object = sim_handles_find(&objects, handle);
	uint64_t n_taken = graph && object ? take(&graph->holdings, object, count) : 0;
	if (n_taken)
		release(object, n_taken);
	sim_unlock();
	sim_objects_destroy();
	return n_taken == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
