/* SPDX-License-Identifier: Apache-2.0 */
/* graph_list.c - what a graph consists of, as lists and as a drawing; each function takes the lock */
#include "sim/graph.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/graph_core.h"
#include "sim/lock.h"

/* A list of the program's that is being filled. */
struct list {
	CUgraphNode *nodes; /* NULL: only counted */
	CUgraphNode *others;
	size_t room;
	size_t n;
};

static void put(struct list *list, const struct sim_node *node, const struct sim_node *other)
{
	if (list->nodes && list->n < list->room) {
		list->nodes[list->n] = node->handle;
		if (list->others)
			list->others[list->n] = other->handle;
	}
	list->n++;
}

/* Room beyond the last entry is filled with NULL, as documented. */
static void close_list(struct list *list, size_t *n)
{
	for (size_t i = list->n; list->nodes && i < list->room; i++) {
		list->nodes[i] = NULL;
		if (list->others)
			list->others[i] = NULL;
	}
	*n = list->nodes && list->n > list->room ? list->room : list->n;
}

CUresult sim_graph_list_nodes(CUgraph handle, bool only_roots, CUgraphNode *nodes, size_t *n)
{
	struct list list = { .nodes = nodes, .room = *n };

	sim_lock();
	const struct sim_graph *graph = sim_graph_find(handle);
	for (size_t i = 0; graph && i < graph->n; i++)
		if (!only_roots || graph->nodes[i]->n_before == 0)
			put(&list, graph->nodes[i], NULL);
	sim_unlock();
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	close_list(&list, n);
	return CUDA_SUCCESS;
}

CUresult sim_graph_list_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	struct list list = { .nodes = from, .others = to, .room = *n };

	sim_lock();
	const struct sim_graph *graph = sim_graph_find(handle);
	for (size_t i = 0; graph && i < graph->n; i++)
		for (size_t k = 0; k < graph->nodes[i]->n_before; k++)
			put(&list, graph->nodes[i]->before[k], graph->nodes[i]);
	sim_unlock();
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	close_list(&list, n);
	return CUDA_SUCCESS;
}

CUresult sim_node_list_before(CUgraphNode handle, CUgraphNode *nodes, size_t *n)
{
	struct list list = { .nodes = nodes, .room = *n };

	sim_lock();
	const struct sim_node *node = sim_node_find(handle);
	for (size_t k = 0; node && k < node->n_before; k++)
		put(&list, node->before[k], NULL);
	sim_unlock();
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	close_list(&list, n);
	return CUDA_SUCCESS;
}

CUresult sim_node_list_after(CUgraphNode handle, CUgraphNode *nodes, size_t *n)
{
	struct list list = { .nodes = nodes, .room = *n };

	sim_lock();
	const struct sim_node *node = sim_node_find(handle);
	for (size_t i = 0; node && i < node->graph->n; i++)
		for (size_t k = 0; k < node->graph->nodes[i]->n_before; k++)
			if (node->graph->nodes[i]->before[k] == node)
				put(&list, node->graph->nodes[i], NULL);
	sim_unlock();
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	close_list(&list, n);
	return CUDA_SUCCESS;
}

static const char *type_name(CUgraphNodeType type)
{
	static const char *const names[] = { "KERNEL",     "MEMCPY",       "MEMSET", "HOST", "GRAPH",     "EMPTY",
		                             "WAIT_EVENT", "EVENT_RECORD", "-",      "-",    "MEM_ALLOC", "MEM_FREE" };

	return names[type];
}

static void print_node(FILE *file, const struct sim_node *node)
{
	const struct sim_work *work = &node->work;

	fprintf(file, "\t\"node_%" PRIu64 "\" [shape=box label=\"%zu %s", node->id, node->index, type_name(work->type));
	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		fprintf(file, "\\n%s", sim_function_name(work->kernel.function));
	else if (work->type == CU_GRAPH_NODE_TYPE_MEMCPY)
		fprintf(file, "\\n%zu bytes", work->copy.shape.width * work->copy.shape.rows * work->copy.shape.slices);
	fprintf(file, "\"];\n");
	for (size_t k = 0; k < node->n_before; k++)
		fprintf(file, "\t\"node_%" PRIu64 "\" -> \"node_%" PRIu64 "\";\n", node->before[k]->id, node->id);
}

static void print_graph(FILE *file, const struct sim_graph *graph)
{
	for (size_t i = 0; i < graph->n; i++) {
		const struct sim_node *node = graph->nodes[i];
		print_node(file, node);
		if (node->work.type != CU_GRAPH_NODE_TYPE_GRAPH)
			continue;
		fprintf(file, "\tsubgraph \"cluster_%" PRIu64 "\" {\n\tlabel=\"node %zu\";\n", node->id, node->index);
		print_graph(file, node->work.child.graph);
		fprintf(file, "\t}\n");
	}
}

CUresult sim_graph_print(CUgraph handle, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return CUDA_ERROR_OPERATING_SYSTEM;
	sim_lock();
	const struct sim_graph *graph = sim_graph_find(handle);
	fprintf(file, "digraph dot {\n");
	if (graph)
		print_graph(file, graph);
	fprintf(file, "}\n");
	sim_unlock();
	bool is_written = !ferror(file);
	is_written = fclose(file) == 0 && is_written;
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	return is_written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
