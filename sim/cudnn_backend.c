/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudnn_backend.c - the graph API of the simulated cuDNN
 *
 * A descriptor of any type keeps whatever attributes it is given. Whatever the
 * graph of operations, one engine can do it without workspace, and executing
 * its plan is one kernel whose time follows from the tensors.
 *
 * Descriptors refer to descriptors that a program may destroy first, so they
 * are counted. Asking for one copies it into one that the program made.
 */
#include "sim/cudnn.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

/* cudnnBackendDescriptorType_t */
enum {
	TYPE_ENGINE = 2,
	TYPE_ENGINE_CONFIG = 3,
	TYPE_HEURISTICS = 4,
	TYPE_PLAN = 5,
	TYPE_CONVOLUTION_FORWARD = 10,
	TYPE_CONVOLUTION_BACKWARD_FILTER = 11,
	TYPE_CONVOLUTION_BACKWARD_DATA = 12,
	TYPE_VARIANT_PACK = 16,
	TYPE_TENSOR = 17,
	TYPE_MATMUL = 19,
	TYPE_ATTENTION_FORWARD = 41,
	TYPE_ATTENTION_BACKWARD = 43,
};

/* cudnnBackendAttributeName_t */
enum {
	HEURISTICS_GRAPH = 201,
	HEURISTICS_RESULTS = 202,
	CONFIG_ENGINE = 300,
	CONFIG_WORKSPACE_SIZE = 303,
	CONFIG_SHARED_MEMORY = 304,
	PLAN_CONFIG = 401,
	PLAN_WORKSPACE_SIZE = 402,
	GRAPH_OPERATIONS = 801,
	GRAPH_N_ENGINES = 802,
	TENSOR_DATA_TYPE = 901,
	TENSOR_DIMENSIONS = 902,
	TENSOR_IS_VIRTUAL = 907,
	ENGINE_GRAPH = 1300,
	ENGINE_INDEX = 1301,
};

/* cudnnBackendAttributeType_t */
enum { VALUE_INT64 = 3, VALUE_DESCRIPTOR = 15 };

struct descriptor;

struct attribute {
	struct attribute *next;
	int name;
	int type;
	int64_t n_elements;
	union {
		unsigned char bytes[1];
		int64_t integers[1];
		struct descriptor *descriptors[1]; /* counted */
	} value;
};

struct descriptor {
	atomic_uint references;
	int type;
	bool is_final;
	struct sim_vendor_work work; /* of a final plan */
	struct attribute *first;
};

/* Products of matrices among the operations: what they cost, from the attributes that name two of their tensors. */
static const struct {
	int type;
	int result, operand;
	enum { FILTER, MATRIX, ATTENTION } kind;
	double factor; /* operations per element of the result and step of the sum */
} products[] = {
	{ TYPE_CONVOLUTION_FORWARD, 705, 703, FILTER, 2 },         /* y, w */
	{ TYPE_CONVOLUTION_BACKWARD_DATA, 711, 709, FILTER, 2 },   /* dy, w */
	{ TYPE_CONVOLUTION_BACKWARD_FILTER, 717, 715, FILTER, 2 }, /* dy, dw */
	{ TYPE_MATMUL, 1522, 1520, MATRIX, 2 },                    /* c, a */
	{ TYPE_ATTENTION_FORWARD, 2800, 2801, ATTENTION, 4 },      /* q, k: two products */
	{ TYPE_ATTENTION_BACKWARD, 2851, 2852, ATTENTION, 10 },    /* q, k: five */
};

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

static size_t element_bytes(int type)
{
	/* cudnnBackendAttributeType_t; enums are 4 bytes, a fraction is two int64. */
	static const unsigned char bytes[] = { 8, 4, 1, 8, 4, 8, 8, 4, 4, 4, 4,  4, 4, 4, 4, 8,
		                               4, 4, 4, 4, 4, 4, 4, 4, 1, 4, 16, 4, 4, 4, 4 };

	return type >= 0 && (size_t)type < sizeof(bytes) ? bytes[type] : 4;
}

static void release(struct descriptor *descriptor);

static void free_attribute(struct attribute *attribute)
{
	int64_t i;

	if (attribute->type == VALUE_DESCRIPTOR) {
		for (i = 0; i < attribute->n_elements; i++)
			release(attribute->value.descriptors[i]);
	}
	free(attribute);
}

static void clear(struct descriptor *descriptor)
{
	struct attribute *attribute;

	while ((attribute = descriptor->first)) {
		descriptor->first = attribute->next;
		free_attribute(attribute);
	}
}

static void release(struct descriptor *descriptor)
{
	if (!descriptor || atomic_fetch_sub(&descriptor->references, 1) > 1)
		return;
	clear(descriptor);
	free(descriptor);
}

static struct descriptor *make(int type)
{
	struct descriptor *made = calloc(1, sizeof(*made));

	if (made) {
		atomic_init(&made->references, 1);
		made->type = type;
	}
	return made;
}

static const struct attribute *find(const struct descriptor *descriptor, int name)
{
	const struct attribute *attribute = descriptor ? descriptor->first : NULL;

	while (attribute && attribute->name != name)
		attribute = attribute->next;
	return attribute;
}

static int set(struct descriptor *descriptor, int name, int type, int64_t n_elements, const void *elements)
{
	size_t n_bytes = (size_t)n_elements * element_bytes(type);
	struct attribute **at = &descriptor->first, *made;
	int64_t i;

	made = calloc(1, sizeof(*made) + n_bytes);
	if (!made)
		return SIM_DNN_ALLOC_FAILED;
	made->name = name;
	made->type = type;
	made->n_elements = n_elements;
	if (n_bytes)
		memcpy(made->value.bytes, elements, n_bytes);
	for (i = 0; type == VALUE_DESCRIPTOR && i < n_elements; i++) {
		if (made->value.descriptors[i])
			atomic_fetch_add(&made->value.descriptors[i]->references, 1);
	}
	while (*at && (*at)->name != name)
		at = &(*at)->next;
	if (*at) {
		struct attribute *old = *at;

		made->next = old->next;
		free_attribute(old);
	}
	*at = made;
	return SIM_DNN_SUCCESS;
}

/* The first descriptor of an attribute, or NULL. */
static struct descriptor *follow(const struct descriptor *descriptor, int name)
{
	const struct attribute *attribute = find(descriptor, name);

	return attribute && attribute->type == VALUE_DESCRIPTOR && attribute->n_elements > 0
	               ? attribute->value.descriptors[0]
	               : NULL;
}

static int copy_into(struct descriptor *to, const struct descriptor *from)
{
	const struct attribute *attribute;
	int status = SIM_DNN_SUCCESS;

	if (to == from)
		return status;
	clear(to);
	for (attribute = from->first; attribute && status == SIM_DNN_SUCCESS; attribute = attribute->next)
		status = set(to, attribute->name, attribute->type, attribute->n_elements, attribute->value.bytes);
	to->type = from->type;
	to->work = from->work;
	to->is_final = true;
	return status;
}

static double n_elements_of(const struct descriptor *tensor)
{
	const struct attribute *dims = find(tensor, TENSOR_DIMENSIONS);
	double n = 1;
	int64_t i;

	if (!dims || dims->type != VALUE_INT64)
		return 0;
	for (i = 0; i < dims->n_elements; i++)
		n *= (double)dims->value.integers[i];
	return n;
}

/* A dimension of a tensor; below 0 counts from the last. 1 if there is none. */
static double dimension(const struct descriptor *tensor, int64_t i)
{
	const struct attribute *dims = find(tensor, TENSOR_DIMENSIONS);

	if (!dims || dims->type != VALUE_INT64)
		return 1;
	if (i < 0)
		i += dims->n_elements;
	return i >= 0 && i < dims->n_elements ? (double)dims->value.integers[i] : 1;
}

/* Virtual tensors only exist between operations of one kernel. */
static double n_bytes_of(const struct descriptor *tensor)
{
	const struct attribute *is_virtual = find(tensor, TENSOR_IS_VIRTUAL), *type = find(tensor, TENSOR_DATA_TYPE);
	int data_type = 0;

	if (tensor->type != TYPE_TENSOR || (is_virtual && is_virtual->n_elements && is_virtual->value.bytes[0]))
		return 0;
	if (type && type->n_elements)
		memcpy(&data_type, type->value.bytes, sizeof(data_type));
	return n_elements_of(tensor) * sim_dnn_element_bytes(data_type);
}

/* Adds what one operation computes and moves. */
static void add_operation(const struct descriptor *operation, struct sim_vendor_work *work)
{
	const struct attribute *attribute;
	const struct descriptor *operand;
	double steps[] = { [FILTER] = 0, [MATRIX] = 0, [ATTENTION] = 0 };
	int64_t i;
	size_t row;

	for (attribute = operation->first; attribute; attribute = attribute->next) {
		for (i = 0; attribute->type == VALUE_DESCRIPTOR && i < attribute->n_elements; i++) {
			if (attribute->value.descriptors[i])
				work->bytes += n_bytes_of(attribute->value.descriptors[i]);
		}
	}
	for (row = 0; row < N_ELEMENTS(products); row++) {
		if (products[row].type != operation->type)
			continue;
		operand = follow(operation, products[row].operand);
		steps[FILTER] = dimension(operand, 0) > 0 ? n_elements_of(operand) / dimension(operand, 0) : 0;
		steps[MATRIX] = dimension(operand, -1);
		steps[ATTENTION] = dimension(operand, -2);
		work->operations += products[row].factor * n_elements_of(follow(operation, products[row].result)) *
		                    steps[products[row].kind];
	}
}

/* What executing a plan costs. */
static struct sim_vendor_work cost(const struct descriptor *plan)
{
	const struct descriptor *engine = follow(follow(plan, PLAN_CONFIG), CONFIG_ENGINE);
	const struct attribute *operations = find(follow(engine, ENGINE_GRAPH), GRAPH_OPERATIONS);
	struct sim_vendor_work work = { 0, 0 };
	int64_t i;

	for (i = 0; operations && operations->type == VALUE_DESCRIPTOR && i < operations->n_elements; i++) {
		if (operations->value.descriptors[i])
			add_operation(operations->value.descriptors[i], &work);
	}
	return work;
}

/* The one result of the heuristics, in a descriptor that the caller made: an engine for the graph, as it comes. */
static int fill_config(const struct descriptor *heuristics, struct descriptor *config)
{
	struct descriptor *graph = follow(heuristics, HEURISTICS_GRAPH), *engine = make(TYPE_ENGINE);
	const int64_t index = 0;
	int status;

	if (!engine)
		return SIM_DNN_ALLOC_FAILED;
	status = set(engine, ENGINE_GRAPH, VALUE_DESCRIPTOR, 1, &graph);
	if (status == SIM_DNN_SUCCESS)
		status = set(engine, ENGINE_INDEX, VALUE_INT64, 1, &index);
	engine->is_final = true;
	clear(config);
	if (status == SIM_DNN_SUCCESS)
		status = set(config, CONFIG_ENGINE, VALUE_DESCRIPTOR, 1, &engine);
	config->is_final = true;
	release(engine);
	return status;
}

static int get_results(const struct descriptor *heuristics, int64_t n_wanted, int64_t *n_found,
                       struct descriptor **results)
{
	if (n_found)
		*n_found = 1;
	if (n_wanted < 1 || !results)
		return SIM_DNN_SUCCESS;
	return results[0] ? fill_config(heuristics, results[0]) : SIM_DNN_BAD_PARAM;
}

/* Attributes that the library itself answers: no workspace, one engine, and no notes about it. */
static int get_own(int name, int type, int64_t n_wanted, int64_t *n_found, void *elements)
{
	const int64_t value = name == GRAPH_N_ENGINES ? 1 : 0;
	bool is_number = name == CONFIG_WORKSPACE_SIZE || name == CONFIG_SHARED_MEMORY || name == PLAN_WORKSPACE_SIZE ||
	                 name == GRAPH_N_ENGINES || name == ENGINE_INDEX;

	if (n_found)
		*n_found = is_number;
	/* Little-endian: an int32 is the beginning of the int64. */
	if (is_number && n_wanted > 0 && elements)
		memcpy(elements, &value, element_bytes(type) < sizeof(value) ? element_bytes(type) : sizeof(value));
	return SIM_DNN_SUCCESS;
}

static int get_descriptors(const struct attribute *attribute, int64_t n, struct descriptor **elements)
{
	int status = SIM_DNN_SUCCESS;
	int64_t i;

	for (i = 0; i < n && status == SIM_DNN_SUCCESS; i++) {
		if (!elements[i] || !attribute->value.descriptors[i])
			return SIM_DNN_BAD_PARAM;
		status = copy_into(elements[i], attribute->value.descriptors[i]);
	}
	return status;
}

EXPORTED(int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor))
{
	if (!descriptor)
		return SIM_DNN_BAD_PARAM;
	*descriptor = make(type);
	return *descriptor ? SIM_DNN_SUCCESS : SIM_DNN_ALLOC_FAILED;
}

EXPORTED(int cudnnBackendDestroyDescriptor(struct descriptor *descriptor))
{
	release(descriptor);
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type, int64_t n_elements,
                                      const void *elements))
{
	if (!descriptor || n_elements < 0 || (n_elements && !elements))
		return SIM_DNN_BAD_PARAM;
	if (descriptor->is_final)
		return SIM_DNN_NOT_INITIALIZED;
	return set(descriptor, name, type, n_elements, elements);
}

EXPORTED(int cudnnBackendGetAttribute(const struct descriptor *descriptor, int name, int type, int64_t n_wanted,
                                      int64_t *n_found, void *elements))
{
	const struct attribute *attribute;
	int64_t n;

	if (!descriptor || n_wanted < 0)
		return SIM_DNN_BAD_PARAM;
	if (!descriptor->is_final)
		return SIM_DNN_NOT_FINALIZED;
	if (descriptor->type == TYPE_HEURISTICS && name == HEURISTICS_RESULTS)
		return get_results(descriptor, n_wanted, n_found, elements);
	attribute = find(descriptor, name);
	if (!attribute)
		return get_own(name, type, n_wanted, n_found, elements);
	if (attribute->type != type)
		return SIM_DNN_BAD_PARAM;
	if (n_found)
		*n_found = attribute->n_elements;
	n = elements ? n_wanted < attribute->n_elements ? n_wanted : attribute->n_elements : 0;
	if (type == VALUE_DESCRIPTOR)
		return get_descriptors(attribute, n, elements);
	if (n)
		memcpy(elements, attribute->value.bytes, (size_t)n * element_bytes(type));
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnBackendFinalize(struct descriptor *descriptor))
{
	if (!descriptor)
		return SIM_DNN_BAD_PARAM;
	if (descriptor->type == TYPE_PLAN)
		descriptor->work = cost(descriptor);
	descriptor->is_final = true;
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnBackendExecute(const struct sim_dnn *handle, const struct descriptor *plan,
                                 const struct descriptor *pack))
{
	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	if (!plan || !pack)
		return SIM_DNN_BAD_PARAM;
	if (plan->type != TYPE_PLAN || pack->type != TYPE_VARIANT_PACK)
		return SIM_DNN_BAD_DESCRIPTOR_TYPE;
	if (!plan->is_final || !pack->is_final)
		return SIM_DNN_NOT_FINALIZED;
	return sim_dnn_submit(handle, plan->work.operations, plan->work.bytes);
}
