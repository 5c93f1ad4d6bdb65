/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/graph_core.h"

#include <stdlib.h>
#include <string.h>

#include "sim/graph_handles.h"
#include "sim/graph_object.h"

static struct sim_handles graphs = { .base = 0x5500000000 };
static struct sim_handles nodes = { .base = 0x5600000000 };
static uint64_t n_nodes_made;

struct sim_graph *sim_graph_find(CUgraph handle)
{
	return sim_handles_find(&graphs, handle);
}

struct sim_node *sim_node_find(CUgraphNode handle)
{
	return sim_handles_find(&nodes, handle);
}

struct sim_graph *sim_graph_new(bool has_handles)
{
	struct sim_graph *graph = calloc(1, sizeof *graph);

	if (!graph || !has_handles)
		return graph;
	graph->handle = sim_handles_add(&graphs, graph);
	if (graph->handle)
		return graph;
	free(graph);
	return NULL;
}

static void free_node(struct sim_node *node)
{
	if (node->handle)
		sim_handles_remove(&nodes, node->handle);
	sim_work_drop(&node->work);
	free(node->before);
	free(node);
}

void sim_graph_free(struct sim_graph *graph)
{
	if (graph->handle)
		sim_handles_remove(&graphs, graph->handle);
	for (size_t i = 0; i < graph->n; i++)
		free_node(graph->nodes[i]);
	sim_holdings_release(&graph->holdings);
	free(graph->nodes);
	free(graph->order);
	free(graph);
}

static bool reserve(struct sim_graph *graph)
{
	if (graph->n < graph->capacity)
		return true;
	size_t capacity = graph->capacity ? 2 * graph->capacity : 16;
	struct sim_node **at = realloc(graph->nodes, capacity * sizeof *at);
	if (!at)
		return false;
	graph->nodes = at;
	graph->capacity = capacity;
	return true;
}

/* A node without work and dependencies, not yet in its graph's list. */
static struct sim_node *new_node(struct sim_graph *graph, size_t n_before)
{
	struct sim_node *node = calloc(1, sizeof *node);

	if (!node || !reserve(graph))
		goto fail;
	node->graph = graph;
	node->id = ++n_nodes_made;
	node->before = calloc(n_before ? n_before : 1, sizeof *node->before);
	if (!node->before)
		goto fail;
	if (graph->handle) {
		node->handle = sim_handles_add(&nodes, node);
		if (!node->handle)
			goto fail;
	}
	return node;
fail:
	if (node)
		free(node->before);
	free(node);
	return NULL;
}

static void add_node(struct sim_graph *graph, struct sim_node *node)
{
	node->index = graph->n;
	graph->nodes[graph->n++] = node;
}

/* Distinct nodes of the graph? */
static bool may_be_before(const struct sim_graph *graph, const CUgraphNode *before, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sim_node *node = sim_node_find(before[i]);
		if (!node || node->graph != graph)
			return false;
		for (size_t j = 0; j < i; j++)
			if (before[j] == before[i])
				return false;
	}
	return true;
}

CUresult sim_graph_append(struct sim_node **node, struct sim_graph *graph, const CUgraphNode *before, size_t n,
                          const struct sim_work *work)
{
	CUresult result =
		(n && !before) || !may_be_before(graph, before, n) ? CUDA_ERROR_INVALID_VALUE : sim_work_check(work);

	if (result != CUDA_SUCCESS)
		return result;
	struct sim_node *made = new_node(graph, n);
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = sim_work_copy(&made->work, work, graph->handle != NULL);
	if (result != CUDA_SUCCESS) {
		made->work = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_EMPTY };
		free_node(made);
		return result;
	}
	for (size_t i = 0; i < n; i++)
		made->before[i] = sim_node_find(before[i]);
	made->n_before = n;
	add_node(graph, made);
	*node = made;
	return CUDA_SUCCESS;
}

void sim_graph_remove(struct sim_node *node)
{
	struct sim_graph *graph = node->graph;

	graph->n--;
	memmove(graph->nodes + node->index, graph->nodes + node->index + 1,
	        (graph->n - node->index) * sizeof(struct sim_node *));
	for (size_t i = 0; i < graph->n; i++) {
		struct sim_node *other = graph->nodes[i];
		size_t n_kept = 0;
		other->index = i;
		for (size_t k = 0; k < other->n_before; k++)
			if (other->before[k] != node)
				other->before[n_kept++] = other->before[k];
		other->n_before = n_kept;
	}
	free_node(node);
}

CUresult sim_node_replace(struct sim_node *node, const struct sim_work *work)
{
	struct sim_work copy;
	CUresult result = work->type == node->work.type ? sim_work_check(work) : CUDA_ERROR_INVALID_VALUE;

	if (result == CUDA_SUCCESS)
		result = sim_work_copy(&copy, work, node->graph->handle != NULL);
	if (result != CUDA_SUCCESS)
		return result;
	sim_work_drop(&node->work);
	node->work = copy;
	return CUDA_SUCCESS;
}

/* Places in the list stay, so what is before a node is found by index, also where it is made later. */
static bool copy_edges(struct sim_graph *copy, const struct sim_graph *graph)
{
	for (size_t i = 0; i < graph->n; i++) {
		const struct sim_node *from = graph->nodes[i];
		for (size_t k = 0; k < from->n_before; k++)
			copy->nodes[i]->before[k] = copy->nodes[from->before[k]->index];
		copy->nodes[i]->n_before = from->n_before;
	}
	return sim_holdings_copy(&copy->holdings, graph->holdings);
}

struct sim_graph *sim_graph_copy(const struct sim_graph *graph, bool has_handles)
{
	struct sim_graph *copy = sim_graph_new(has_handles);

	if (!copy)
		return NULL;
	for (size_t i = 0; i < graph->n; i++) {
		const struct sim_node *from = graph->nodes[i];
		struct sim_node *to = new_node(copy, from->n_before);
		if (!to || sim_work_copy(&to->work, &from->work, has_handles) != CUDA_SUCCESS) {
			if (to) {
				to->work = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_EMPTY };
				free_node(to);
			}
			sim_graph_free(copy);
			return NULL;
		}
		to->origin = from->id;
		add_node(copy, to);
	}
	if (copy_edges(copy, graph))
		return copy;
	sim_graph_free(copy);
	return NULL;
}

struct sim_node *sim_graph_find_copy(const struct sim_graph *graph, uint64_t id)
{
	struct sim_node *found = NULL;

	for (size_t i = 0; i < graph->n && !found; i++) {
		struct sim_node *node = graph->nodes[i];
		if (node->origin == id)
			found = node;
		else if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			found = sim_graph_find_copy(node->work.child.graph, id);
	}
	return found;
}

bool sim_graph_owns_memory(const struct sim_graph *graph)
{
	for (size_t i = 0; i < graph->n; i++)
		if (sim_work_owns_memory(&graph->nodes[i]->work))
			return true;
	return false;
}

/* For each node, where its successors begin in a list of all edges, sorted by the node they leave. */
struct fan {
	size_t *first; /* n + 1 entries */
	size_t *after;
	size_t *n_waiting; /* predecessors that have no place yet */
};

static bool make_fan(struct fan *fan, const struct sim_graph *graph)
{
	size_t n_edges = 0;

	for (size_t i = 0; i < graph->n; i++)
		n_edges += graph->nodes[i]->n_before;
	fan->first = calloc(graph->n + 2, sizeof *fan->first);
	fan->after = calloc(n_edges + 1, sizeof *fan->after);
	fan->n_waiting = calloc(graph->n + 1, sizeof *fan->n_waiting);
	if (!fan->first || !fan->after || !fan->n_waiting)
		return false;
	/* Counted one place too far, so that filling in leaves the beginnings behind. */
	for (size_t i = 0; i < graph->n; i++)
		for (size_t k = 0; k < graph->nodes[i]->n_before; k++)
			fan->first[graph->nodes[i]->before[k]->index + 2]++;
	for (size_t i = 2; i < graph->n + 2; i++)
		fan->first[i] += fan->first[i - 1];
	for (size_t i = 0; i < graph->n; i++) {
		fan->n_waiting[i] = graph->nodes[i]->n_before;
		for (size_t k = 0; k < graph->nodes[i]->n_before; k++)
			fan->after[fan->first[graph->nodes[i]->before[k]->index + 1]++] = i;
	}
	return true;
}

/* Number of nodes that got a place. */
static size_t fill_order(size_t *order, struct fan *fan, size_t n)
{
	size_t n_placed = 0;

	for (size_t i = 0; i < n; i++)
		if (fan->n_waiting[i] == 0)
			order[n_placed++] = i;
	for (size_t done = 0; done < n_placed; done++)
		for (size_t k = fan->first[order[done]]; k < fan->first[order[done] + 1]; k++)
			if (--fan->n_waiting[fan->after[k]] == 0)
				order[n_placed++] = fan->after[k];
	return n_placed;
}

CUresult sim_graph_sort(struct sim_graph *graph)
{
	struct fan fan = { 0 };
	size_t *order = calloc(graph->n + 1, sizeof *order);
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	if (order && make_fan(&fan, graph))
		result = fill_order(order, &fan, graph->n) == graph->n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	free(fan.first);
	free(fan.after);
	free(fan.n_waiting);
	if (result != CUDA_SUCCESS) {
		free(order);
		return result;
	}
	free(graph->order);
	graph->order = order;
	for (size_t i = 0; i < graph->n && result == CUDA_SUCCESS; i++)
		if (graph->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			result = sim_graph_sort(graph->nodes[i]->work.child.graph);
	return result;
}
