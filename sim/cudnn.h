/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudnn.h - the simulated cuDNN: what its files share
 *
 * NVIDIA's cuDNN headers are not needed to build: the enumerators and the
 * layouts of structures below are facts from the public cuDNN 9 API reference.
 * Enum parameters are declared int and data pointers void *, which calls the
 * same way.
 *
 * Nothing is computed. Every call that does work on the device submits exactly
 * one kernel that takes a modelled time.
 */
#ifndef SIM_CUDNN_H
#define SIM_CUDNN_H

#include <stddef.h>
#include <stdint.h>

#include "sim/knobs.h"
#include "sim/vendor_launch.h"

/* cudnnStatus_t */
enum sim_dnn_status {
	SIM_DNN_SUCCESS = 0,
	SIM_DNN_NOT_INITIALIZED = 1001,
	SIM_DNN_BAD_PARAM = 2000,
	SIM_DNN_NOT_FINALIZED = 2004,
	SIM_DNN_BAD_DESCRIPTOR_TYPE = 2012,
	SIM_DNN_NOT_SUPPORTED = 3000,
	SIM_DNN_ALLOC_FAILED = 4003,
	SIM_DNN_EXECUTION_FAILED = 5000,
};

/* cudnnRNNMode_t, cudnnRNNBiasMode_t, cudnnDirectionMode_t */
enum { SIM_DNN_LSTM = 2, SIM_DNN_GRU = 3 };
enum { SIM_DNN_NO_BIAS = 0, SIM_DNN_INPUT_BIAS = 1, SIM_DNN_DOUBLE_BIAS = 2, SIM_DNN_RECURRENT_BIAS = 3 };
enum { SIM_DNN_BIDIRECTIONAL = 1 };

/* CUDNN_DIM_MAX */
enum { SIM_DNN_MAX_DIMS = 8 };

/* cudnnHandle_t */
struct sim_dnn {
	struct sim_vendor device;
};

/*
 * cudnnTensorDescriptor_t and all others whose content, if any, is a shape:
 * the shape is what the time of a call depends on.
 */
struct sim_dnn_descriptor {
	int data_type;
	int format; /* cudnnTensorFormat_t, of filters */
	int n_dims;
	int dims[SIM_DNN_MAX_DIMS];
	int strides[SIM_DNN_MAX_DIMS];
};

/* cudnnRNNDescriptor_t; sizes in elements */
struct sim_dnn_rnn {
	int cell;
	int bias;
	int direction;
	int data_type;
	int input, hidden, projection; /* projection: equal to hidden if there is none */
	int layers;
};

/* cudnnConvolutionFwdAlgoPerf_t and its two siblings */
struct sim_dnn_algorithm {
	int algorithm;
	int status;
	float time_ms;
	size_t memory;
	int determinism;
	int math_type;
	int reserved[3];
};

/* Submits one kernel to the handle's stream. An enum sim_dnn_status. */
int sim_dnn_submit(const struct sim_dnn *handle, double operations, double bytes);

/* 0 for NULL, which many calls take for an operand they lack. */
double sim_dnn_elements(const struct sim_dnn_descriptor *descriptor);
double sim_dnn_bytes(const struct sim_dnn_descriptor *descriptor);

/* Bytes of one element of a cudnnDataType_t; 0.5 for some. */
double sim_dnn_element_bytes(int data_type);

/* cudnnSetTensorNdDescriptor(), without strides if `strides` is NULL. */
int sim_dnn_set_shape(struct sim_dnn_descriptor *descriptor, int data_type, int n_dims, const int *dims,
                      const int *strides);

/* All weights and biases of an RNN, in elements. */
int64_t sim_dnn_rnn_elements(const struct sim_dnn_rnn *rnn);

/* What one pass over `x` (time steps, batch, features) computes. */
double sim_dnn_rnn_operations(const struct sim_dnn_rnn *rnn, const struct sim_dnn_descriptor *x);

/*
 * The version to claim, as cudnnGetVersion() writes it: the one that the
 * PyTorch whose code `caller` is in was built against; for others one that
 * satisfies any build against cuDNN 9. Any thread.
 */
int sim_dnn_version(const void *caller);

#endif
