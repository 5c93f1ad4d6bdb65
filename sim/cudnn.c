/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudnn.c - the exported functions of the simulated libcudnn
 *
 * Most are rows of cudnn_api.def; here are their expansion, the handle and the
 * shapes. The graph API: cudnn_backend.c.
 */
#include "sim/cudnn.h"

#include "sim/say.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

double sim_dnn_element_bytes(int data_type)
{
	/* cudnnDataType_t, from FLOAT on; the vectors of four and of 32 bytes hold int8. */
	static const double bytes[] = { 4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, 1, 1, 4, 1, 0.5, 0.5, 0.5, 4, 8, 16 };

	return data_type >= 0 && (size_t)data_type < sizeof(bytes) / sizeof(bytes[0]) ? bytes[data_type] : 4;
}

double sim_dnn_elements(const struct sim_dnn_descriptor *descriptor)
{
	double n = 1;
	int i;

	if (!descriptor || descriptor->n_dims == 0)
		return 0;
	for (i = 0; i < descriptor->n_dims; i++)
		n *= descriptor->dims[i];
	return n;
}

double sim_dnn_bytes(const struct sim_dnn_descriptor *descriptor)
{
	return descriptor ? sim_dnn_elements(descriptor) * sim_dnn_element_bytes(descriptor->data_type) : 0;
}

int sim_dnn_set_shape(struct sim_dnn_descriptor *descriptor, int data_type, int n_dims, const int *dims,
                      const int *strides)
{
	int i;

	if (!descriptor || n_dims < 0 || n_dims > SIM_DNN_MAX_DIMS || !dims)
		return SIM_DNN_BAD_PARAM;
	memset(descriptor, 0, sizeof(*descriptor));
	descriptor->data_type = data_type;
	descriptor->n_dims = n_dims;
	for (i = 0; i < n_dims; i++) {
		descriptor->dims[i] = dims[i];
		descriptor->strides[i] = strides ? strides[i] : 0;
	}
	return SIM_DNN_SUCCESS;
}

static int status_of(CUresult result)
{
	switch (result) {
	case CUDA_SUCCESS:
		return SIM_DNN_SUCCESS;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_NO_DEVICE:
		return SIM_DNN_NOT_INITIALIZED;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return SIM_DNN_ALLOC_FAILED;
	default:
		return SIM_DNN_EXECUTION_FAILED;
	}
}

int sim_dnn_submit(const struct sim_dnn *handle, double operations, double bytes)
{
	const struct sim_vendor_work work = { operations, bytes };

	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	return status_of(sim_vendor_launch(&handle->device, handle->device.stream, &work));
}

/* Any convolution, either way: each element of y is a sum over a filter. */
static double products(const struct sim_dnn_descriptor *y, const struct sim_dnn_descriptor *w)
{
	return w && w->dims[0] > 0 ? 2 * sim_dnn_elements(y) * sim_dnn_elements(w) / w->dims[0] : 0;
}

static int make(void **descriptor, size_t n_bytes)
{
	if (!descriptor)
		return SIM_DNN_BAD_PARAM;
	*descriptor = calloc(1, n_bytes);
	return *descriptor ? SIM_DNN_SUCCESS : SIM_DNN_ALLOC_FAILED;
}

static int answer_algorithm(const struct sim_dnn *handle, int n_wanted, int *n_found, struct sim_dnn_algorithm *found,
                            int algorithm)
{
	const int deterministic = 1;

	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	if (n_wanted < 1 || !n_found || !found)
		return SIM_DNN_BAD_PARAM;
	*found = (struct sim_dnn_algorithm){ .algorithm = algorithm, .time_ms = 1, .determinism = deterministic };
	*n_found = 1;
	return SIM_DNN_SUCCESS;
}

static int try_algorithm(const struct sim_dnn *handle, double operations, double bytes)
{
	int status = sim_dnn_submit(handle, operations, bytes);

	return status == SIM_DNN_SUCCESS ? status_of(sim_vendor_wait_stream(handle->device.stream)) : status;
}

#define HANDLE const struct sim_dnn *handle
#define DESC const struct sim_dnn_descriptor *
#define RNN const struct sim_dnn_rnn *
#define DATA const void *
#define OUT void *
#define THREE(a, b, c) (sim_dnn_bytes(a) + sim_dnn_bytes(b) + sim_dnn_bytes(c))

/*
 * Exported functions are declared by the vendor's header in the program; here
 * each declaration is followed by its definition.
 */
#define KIND(kind, structure)                                                                                          \
	SIM_EXPORT int cudnnCreate##kind##Descriptor(void **descriptor);                                               \
	int cudnnCreate##kind##Descriptor(void **descriptor)                                                           \
	{                                                                                                              \
		return make(descriptor, sizeof(struct structure));                                                     \
	}                                                                                                              \
	SIM_EXPORT int cudnnDestroy##kind##Descriptor(struct structure *descriptor);                                   \
	int cudnnDestroy##kind##Descriptor(struct structure *descriptor)                                               \
	{                                                                                                              \
		free(descriptor);                                                                                      \
		return SIM_DNN_SUCCESS;                                                                                \
	}

#define ACCEPT(name, params)                                                                                           \
	SIM_EXPORT int name params;                                                                                    \
	int name params                                                                                                \
	{                                                                                                              \
		return SIM_DNN_SUCCESS;                                                                                \
	}

#define SIZE(name, params, bytes)                                                                                      \
	SIM_EXPORT int name params;                                                                                    \
	int name params                                                                                                \
	{                                                                                                              \
		if (!handle || !size)                                                                                  \
			return handle ? SIM_DNN_BAD_PARAM : SIM_DNN_NOT_INITIALIZED;                                   \
		*size = (size_t)(bytes);                                                                               \
		return SIM_DNN_SUCCESS;                                                                                \
	}

#define RUN(name, params, operations, bytes)                                                                           \
	SIM_EXPORT int name params;                                                                                    \
	int name params                                                                                                \
	{                                                                                                              \
		return sim_dnn_submit(handle, (operations), (bytes));                                                  \
	}

#define ALGORITHM(name, params, algorithm)                                                                             \
	SIM_EXPORT int name params;                                                                                    \
	int name params                                                                                                \
	{                                                                                                              \
		return answer_algorithm(handle, n_wanted, n_found, found, (algorithm));                                \
	}

#define TRY(name, params, algorithm, operations, bytes)                                                                \
	SIM_EXPORT int name params;                                                                                    \
	int name params                                                                                                \
	{                                                                                                              \
		int status_ = answer_algorithm(handle, n_wanted, n_found, found, (algorithm));                         \
		return status_ == SIM_DNN_SUCCESS ? try_algorithm(handle, (operations), (bytes)) : status_;            \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "sim/cudnn_api.def"
#pragma GCC diagnostic pop

EXPORTED(int cudnnCreate(struct sim_dnn **handle))
{
	struct sim_dnn *made;
	CUresult result;

	if (!handle)
		return SIM_DNN_BAD_PARAM;
	made = calloc(1, sizeof(*made));
	if (!made)
		return SIM_DNN_ALLOC_FAILED;
	result = sim_vendor_open(&made->device, "synctally_dnn");
	if (result != CUDA_SUCCESS) {
		free(made);
		return status_of(result);
	}
	*handle = made;
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnDestroy(struct sim_dnn *handle))
{
	if (!handle || sim_vendor_wait_context() == CUDA_ERROR_NOT_INITIALIZED)
		return SIM_DNN_NOT_INITIALIZED;
	free(handle);
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnSetStream(struct sim_dnn *handle, CUstream stream))
{
	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	handle->device.stream = stream;
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnGetStream(const struct sim_dnn *handle, CUstream *stream))
{
	if (!handle)
		return SIM_DNN_NOT_INITIALIZED;
	if (!stream)
		return SIM_DNN_BAD_PARAM;
	*stream = handle->device.stream;
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnSetTensorNdDescriptor(struct sim_dnn_descriptor *tensor, int data_type, int n_dims, const int *dims,
                                        const int *strides))
{
	return sim_dnn_set_shape(tensor, data_type, n_dims, dims, strides);
}

EXPORTED(int cudnnSetFilterNdDescriptor(struct sim_dnn_descriptor *filter, int data_type, int format, int n_dims,
                                        const int *dims))
{
	int status = sim_dnn_set_shape(filter, data_type, n_dims, dims, NULL);

	if (status == SIM_DNN_SUCCESS)
		filter->format = format;
	return status;
}

EXPORTED(int cudnnSetSpatialTransformerNdDescriptor(struct sim_dnn_descriptor *transformer, int sampler, int data_type,
                                                    int n_dims, const int *dims))
{
	(void)sampler;
	return sim_dnn_set_shape(transformer, data_type, n_dims, dims, NULL);
}

static int get_shape(const struct sim_dnn_descriptor *descriptor, int n_wanted, int *data_type, int *n_dims, int *dims,
                     int *strides)
{
	int i;

	if (!descriptor || n_wanted < 0)
		return SIM_DNN_BAD_PARAM;
	if (data_type)
		*data_type = descriptor->data_type;
	if (n_dims)
		*n_dims = descriptor->n_dims;
	for (i = 0; i < n_wanted && i < descriptor->n_dims; i++) {
		if (dims)
			dims[i] = descriptor->dims[i];
		if (strides)
			strides[i] = descriptor->strides[i];
	}
	return SIM_DNN_SUCCESS;
}

EXPORTED(int cudnnGetTensorNdDescriptor(const struct sim_dnn_descriptor *tensor, int n_wanted, int *data_type,
                                        int *n_dims, int *dims, int *strides))
{
	return get_shape(tensor, n_wanted, data_type, n_dims, dims, strides);
}

EXPORTED(int cudnnGetFilterNdDescriptor(const struct sim_dnn_descriptor *filter, int n_wanted, int *data_type,
                                        int *format, int *n_dims, int *dims))
{
	if (filter && format)
		*format = filter->format;
	return get_shape(filter, n_wanted, data_type, n_dims, dims, NULL);
}

EXPORTED(size_t cudnnGetVersion(void))
{
	return (size_t)sim_dnn_version(__builtin_return_address(0));
}

/* libraryPropertyType: 0 major, 1 minor, 2 patch */
EXPORTED(int cudnnGetProperty(int property, int *value))
{
	static const int divisor[] = { 10000, 100, 1 };

	if (property < 0 || property > 2 || !value)
		return SIM_DNN_BAD_PARAM;
	*value = sim_dnn_version(__builtin_return_address(0)) / divisor[property] % 100;
	return SIM_DNN_SUCCESS;
}

/* One library for both: the process's runtime tells which CUDA this is. */
EXPORTED(size_t cudnnGetCudartVersion(void))
{
	void *runtime = dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD);

	if (!runtime)
		return 12000;
	dlclose(runtime);
	return 13000;
}

EXPORTED(const char *cudnnGetErrorString(int status))
{
	switch (status) {
	case SIM_DNN_SUCCESS:
		return "CUDNN_STATUS_SUCCESS";
	case SIM_DNN_NOT_INITIALIZED:
		return "CUDNN_STATUS_NOT_INITIALIZED";
	case SIM_DNN_BAD_PARAM:
		return "CUDNN_STATUS_BAD_PARAM";
	case SIM_DNN_NOT_FINALIZED:
		return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
	case SIM_DNN_BAD_DESCRIPTOR_TYPE:
		return "CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE";
	case SIM_DNN_NOT_SUPPORTED:
		return "CUDNN_STATUS_NOT_SUPPORTED";
	case SIM_DNN_ALLOC_FAILED:
		return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
	case SIM_DNN_EXECUTION_FAILED:
		return "CUDNN_STATUS_EXECUTION_FAILED";
	default:
		return "an unknown cuDNN status";
	}
}

EXPORTED(void cudnnGetLastErrorString(char *message, size_t n_bytes))
{
	if (message && n_bytes)
		message[0] = '\0';
}
