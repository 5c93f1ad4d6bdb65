/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudnn_rnn.c - shapes and the weight buffer of recurrent networks
 *
 * PyTorch views the parts of the weight buffer as its own parameters, so the
 * layout has to be right: the matrices of all layers first, gate after gate,
 * then the biases in the same order.
 */
#include "sim/cudnn.h"

#include <stdbool.h>
#include <string.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

/* The projection of an LSTM: the highest number a caller may ask for. */
enum { LAST_MATRIX = 8 };

static int n_directions(const struct sim_dnn_rnn *rnn)
{
	return rnn->direction == SIM_DNN_BIDIRECTIONAL ? 2 : 1;
}

static int n_gates(const struct sim_dnn_rnn *rnn)
{
	return rnn->cell == SIM_DNN_LSTM ? 4 : rnn->cell == SIM_DNN_GRU ? 3 : 1;
}

static bool has_projection(const struct sim_dnn_rnn *rnn)
{
	return rnn->projection > 0 && rnn->projection != rnn->hidden;
}

/* Features one direction of a layer hands on. */
static int n_outputs(const struct sim_dnn_rnn *rnn)
{
	return has_projection(rnn) ? rnn->projection : rnn->hidden;
}

static int n_matrices(const struct sim_dnn_rnn *rnn)
{
	return 2 * n_gates(rnn) + has_projection(rnn);
}

/* Rows and columns of a matrix of a pseudo-layer: input gates, then recurrent gates, then the projection. */
static void matrix_shape(const struct sim_dnn_rnn *rnn, int pseudo_layer, int matrix, int *rows, int *columns)
{
	bool is_first = pseudo_layer < n_directions(rnn);

	*rows = rnn->hidden;
	if (matrix < n_gates(rnn)) {
		*columns = is_first ? rnn->input : n_outputs(rnn) * n_directions(rnn);
	} else if (matrix < 2 * n_gates(rnn)) {
		*columns = n_outputs(rnn);
	} else {
		*rows = rnn->projection;
		*columns = rnn->hidden;
	}
}

static bool has_bias(const struct sim_dnn_rnn *rnn, int matrix)
{
	bool is_input = matrix < n_gates(rnn);

	if (matrix >= 2 * n_gates(rnn))
		return false;
	return rnn->bias == SIM_DNN_DOUBLE_BIAS ||
	       rnn->bias == (is_input ? SIM_DNN_INPUT_BIAS : SIM_DNN_RECURRENT_BIAS);
}

/* Elements of the matrices that lie before this one; of all, if it is behind the last. */
static int64_t matrix_offset(const struct sim_dnn_rnn *rnn, int pseudo_layer, int matrix)
{
	int64_t offset = 0;
	int layer, i, rows, columns;

	for (layer = 0; layer <= pseudo_layer; layer++) {
		for (i = 0; i < (layer == pseudo_layer ? matrix : n_matrices(rnn)); i++) {
			matrix_shape(rnn, layer, i, &rows, &columns);
			offset += (int64_t)rows * columns;
		}
	}
	return offset;
}

/* The same of the biases. */
static int64_t bias_offset(const struct sim_dnn_rnn *rnn, int pseudo_layer, int matrix)
{
	int64_t offset = 0;
	int layer, i;

	for (layer = 0; layer <= pseudo_layer; layer++) {
		for (i = 0; i < (layer == pseudo_layer ? matrix : n_matrices(rnn)); i++)
			offset += has_bias(rnn, i) ? rnn->hidden : 0;
	}
	return offset;
}

int64_t sim_dnn_rnn_elements(const struct sim_dnn_rnn *rnn)
{
	int n_layers = rnn->layers * n_directions(rnn);

	return matrix_offset(rnn, n_layers, 0) + bias_offset(rnn, n_layers, 0);
}

double sim_dnn_rnn_operations(const struct sim_dnn_rnn *rnn, const struct sim_dnn_descriptor *x)
{
	return rnn && x ? 2.0 * (double)sim_dnn_rnn_elements(rnn) * x->dims[0] * x->dims[1] : 0;
}

EXPORTED(int cudnnSetRNNDescriptor_v8(struct sim_dnn_rnn *rnn, int algorithm, int cell, int bias, int direction,
                                      int input_mode, int data_type, int math_precision, int math_type, int32_t input,
                                      int32_t hidden, int32_t projection, int32_t layers,
                                      struct sim_dnn_descriptor *dropout, uint32_t flags))
{
	(void)algorithm, (void)input_mode, (void)math_precision, (void)math_type, (void)dropout, (void)flags;
	if (!rnn || input < 1 || hidden < 1 || projection < 0 || layers < 1)
		return SIM_DNN_BAD_PARAM;
	*rnn = (struct sim_dnn_rnn){ cell, bias, direction, data_type, input, hidden, projection, layers };
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnSetRNNDataDescriptor(struct sim_dnn_descriptor *data, int data_type, int layout, int max_length,
                                       int batch, int n_features, const int *lengths, void *padding))
{
	const int dims[] = { max_length, batch, n_features };

	(void)layout, (void)lengths, (void)padding;
	return sim_dnn_set_shape(data, data_type, 3, dims, NULL);
}

EXPORTED(int cudnnGetRNNWeightSpaceSize(struct sim_dnn *handle, const struct sim_dnn_rnn *rnn, size_t *n_bytes))
{
	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	if (!rnn || !n_bytes)
		return SIM_DNN_BAD_PARAM;
	*n_bytes = (size_t)((double)sim_dnn_rnn_elements(rnn) * sim_dnn_element_bytes(rnn->data_type));
	return SIM_DNN_SUCCESS;
}

/* Guess: each gate's and each cell's value of every step is kept for the backward pass, and once for work. */
EXPORTED(int cudnnGetRNNTempSpaceSizes(struct sim_dnn *handle, const struct sim_dnn_rnn *rnn, int forward_mode,
                                       const struct sim_dnn_descriptor *x, size_t *n_work, size_t *n_reserve))
{
	const int training = 1;
	double n_bytes;

	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	if (!rnn || !x)
		return SIM_DNN_BAD_PARAM;
	n_bytes = sim_dnn_element_bytes(rnn->data_type) * x->dims[0] * x->dims[1] * rnn->hidden * (n_gates(rnn) + 1) *
	          n_directions(rnn);
	if (n_work)
		*n_work = (size_t)n_bytes;
	if (n_reserve)
		*n_reserve = forward_mode == training ? (size_t)(n_bytes * rnn->layers) : 0;
	return SIM_DNN_SUCCESS;
}

/* Address and shape (1, rows, columns) of a part of the buffer; NULL and no dimensions if there is none. */
static void place(const struct sim_dnn_rnn *rnn, const char *buffer, int64_t offset, int rows, int columns,
                  struct sim_dnn_descriptor *shape, const void **address)
{
	const int dims[] = { 1, rows, columns }, strides[] = { rows * columns, columns, 1 };

	if (shape)
		sim_dnn_set_shape(shape, rnn->data_type, rows ? 3 : 0, dims, strides);
	if (address)
		*address = rows ? buffer + (int64_t)((double)offset * sim_dnn_element_bytes(rnn->data_type)) : NULL;
}

EXPORTED(int cudnnGetRNNWeightParams(struct sim_dnn *handle, const struct sim_dnn_rnn *rnn, int32_t pseudo_layer,
                                     size_t n_bytes, const void *buffer, int32_t matrix,
                                     struct sim_dnn_descriptor *matrix_desc, const void **matrix_address,
                                     struct sim_dnn_descriptor *bias_desc, const void **bias_address))
{
	int n_layers, rows = 0, columns = 0;
	int64_t offset;

	(void)n_bytes;
	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	if (!rnn || pseudo_layer < 0 || matrix < 0 || matrix > LAST_MATRIX)
		return SIM_DNN_BAD_PARAM;
	n_layers = rnn->layers * n_directions(rnn);
	if (pseudo_layer >= n_layers)
		return SIM_DNN_BAD_PARAM;
	if (matrix < n_matrices(rnn))
		matrix_shape(rnn, pseudo_layer, matrix, &rows, &columns);
	place(rnn, buffer, matrix_offset(rnn, pseudo_layer, matrix), rows, columns, matrix_desc, matrix_address);
	offset = matrix_offset(rnn, n_layers, 0) + bias_offset(rnn, pseudo_layer, matrix);
	place(rnn, buffer, offset, has_bias(rnn, matrix) ? rnn->hidden : 0, 1, bias_desc, bias_address);
	return SIM_DNN_SUCCESS;
}
