/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cusparse.c - the simulated libcusparse
 *
 * The functions that submit work are rows of cusparse_api.def; here are their
 * expansion, the handle and the matrices. Enumerators: public cuSPARSE
 * documentation; its enums are declared int. Nothing is computed, so a number
 * of stored elements that the device would find out is 0.
 */
#include "sim/knobs.h"
#include "sim/vendor_launch.h"

#include <library_types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

/* cusparseStatus_t */
enum {
	SPARSE_SUCCESS = 0,
	SPARSE_NOT_INITIALIZED = 1,
	SPARSE_ALLOC_FAILED = 2,
	SPARSE_INVALID_VALUE = 3,
	SPARSE_EXECUTION_FAILED = 6,
	SPARSE_NOT_SUPPORTED = 10,
};

/* cusparsePointerMode_t */
enum { HOST_POINTERS = 0 };

/* cusparseHandle_t */
struct sparse {
	struct sim_vendor device;
	int pointer_mode;
};

/* cusparseSpMatDescr_t, cusparseDnMatDescr_t, cusparseDnVecDescr_t: the shape is what the time of a call depends on. */
struct shape {
	double rows, columns;
	double stored; /* elements */
	int batches;
	int element_bytes;
	bool is_sparse;
};

static int status_of(CUresult result)
{
	switch (result) {
	case CUDA_SUCCESS:
		return SPARSE_SUCCESS;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_NO_DEVICE:
		return SPARSE_NOT_INITIALIZED;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return SPARSE_ALLOC_FAILED;
	default:
		return SPARSE_EXECUTION_FAILED;
	}
}

static int submit(const struct sparse *handle, double operations, double bytes)
{
	const struct sim_vendor_work work = { operations, bytes };

	return status_of(sim_vendor_launch(&handle->device, handle->device.stream, &work));
}

/* Of no matrix: 0. */
static double stored_of(const struct shape *shape)
{
	return shape ? shape->stored * shape->batches : 0;
}

static double rows_of(const struct shape *shape)
{
	return shape ? shape->rows : 0;
}

static double columns_of(const struct shape *shape)
{
	return shape ? shape->columns : 0;
}

/* A stored element of a sparse matrix has an index of 4 bytes. */
static double size_of(const struct shape *shape)
{
	return shape ? stored_of(shape) * (shape->element_bytes + (shape->is_sparse ? 4 : 0)) : 0;
}

/* The 0 that the device would have counted. */
static int finish_count(const struct sparse *handle, int status, int *count)
{
	if (status != SPARSE_SUCCESS || !count)
		return status;
	if (handle->pointer_mode != HOST_POINTERS)
		return status_of(sim_vendor_clear(&handle->device, handle->device.stream, count, 1));
	status = status_of(sim_vendor_wait_stream(handle->device.stream));
	*count = 0;
	return status;
}

static int answer_size(size_t *size, double n_bytes)
{
	if (!size || n_bytes < 0)
		return SPARSE_INVALID_VALUE;
	*size = (size_t)n_bytes;
	return SPARSE_SUCCESS;
}

static int answer_int_size(int *size, double n_bytes)
{
	if (!size || n_bytes < 0 || n_bytes > INT32_MAX)
		return SPARSE_INVALID_VALUE;
	*size = (int)n_bytes;
	return SPARSE_SUCCESS;
}

#define HANDLE const struct sparse *handle
#define SHAPE const struct shape *
#define DATA const void *
#define OUT void *
#define STRIP(...) __VA_ARGS__

/*
 * Exported functions are declared by the vendor's header in the program; here
 * each declaration is followed by its definition.
 */
#define DEFINE(name, element, params, ...)                                                                             \
	SIM_EXPORT int name(HANDLE, STRIP params);                                                                     \
	int name(HANDLE, STRIP params)                                                                                 \
	{                                                                                                              \
		enum { bytes = (element) };                                                                            \
		if (!handle)                                                                                           \
			return SPARSE_NOT_INITIALIZED;                                                                 \
		__VA_ARGS__                                                                                            \
	}

#define RUN_OF(name, element, params, operations, n_bytes)                                                             \
	DEFINE(name, element, params, return submit(handle, (operations), (n_bytes));)
#define SIZE_OF(name, element, params, n_bytes) DEFINE(name, element, params, return answer_size(size, (n_bytes));)
#define INT_SIZE_OF(name, element, params, n_bytes)                                                                    \
	DEFINE(name, element, params, return answer_int_size(size, (n_bytes));)

#define RUN(name, ...) RUN_OF(name, 1, __VA_ARGS__)
#define SIZE(name, ...) SIZE_OF(name, 1, __VA_ARGS__)
/* Never 0 bytes: without a buffer the second call would look like the first. */
#define TWO_STEPS(name, params, operations, n_bytes)                                                                   \
	DEFINE(name, 1, params,                                                                                        \
	       return buffer ? submit(handle, (operations), (n_bytes)) : answer_size(size, (n_bytes) + 1);)
#define COUNT(name, params, operations, n_bytes)                                                                       \
	DEFINE(name, 1, params, return finish_count(handle, submit(handle, (operations), (n_bytes)), count);)

#define FOUR(macro, base, ...)                                                                                         \
	macro(cusparseS##base, 4, __VA_ARGS__) macro(cusparseD##base, 8, __VA_ARGS__)                                  \
		macro(cusparseC##base, 8, __VA_ARGS__) macro(cusparseZ##base, 16, __VA_ARGS__)
#define FOUR_RUN(base, ...) FOUR(RUN_OF, base, __VA_ARGS__)
#define FOUR_SIZE(base, ...) FOUR(SIZE_OF, base, __VA_ARGS__)
#define FOUR_INT_SIZE(base, ...) FOUR(INT_SIZE_OF, base, __VA_ARGS__)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "sim/cusparse_api.def"
#pragma GCC diagnostic pop

EXPORTED(int cusparseCreate(struct sparse **handle))
{
	struct sparse *made;
	CUresult result;

	if (!handle)
		return SPARSE_INVALID_VALUE;
	made = calloc(1, sizeof(*made));
	if (!made)
		return SPARSE_ALLOC_FAILED;
	result = sim_vendor_open(&made->device, "synctally_sparse");
	if (result != CUDA_SUCCESS) {
		free(made);
		return status_of(result);
	}
	*handle = made;
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseDestroy(struct sparse *handle))
{
	if (!handle)
		return SPARSE_NOT_INITIALIZED;
	free(handle);
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseSetStream(struct sparse *handle, CUstream stream))
{
	if (!handle)
		return SPARSE_NOT_INITIALIZED;
	handle->device.stream = stream;
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseGetStream(const struct sparse *handle, CUstream *stream))
{
	if (!handle)
		return SPARSE_NOT_INITIALIZED;
	if (!stream)
		return SPARSE_INVALID_VALUE;
	*stream = handle->device.stream;
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseSetPointerMode(struct sparse *handle, int mode))
{
	if (!handle)
		return SPARSE_NOT_INITIALIZED;
	handle->pointer_mode = mode;
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseGetPointerMode(const struct sparse *handle, int *mode))
{
	if (!handle)
		return SPARSE_NOT_INITIALIZED;
	if (!mode)
		return SPARSE_INVALID_VALUE;
	*mode = handle->pointer_mode;
	return SPARSE_SUCCESS;
}

static int element_bytes(cudaDataType type)
{
	switch (type) {
	case CUDA_C_64F:
		return 16;
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	case CUDA_R_8I:
		return 1;
	default:
		return 4;
	}
}

static int make_shape(struct shape **out, int64_t rows, int64_t columns, int64_t stored, cudaDataType type,
                      bool is_sparse)
{
	if (!out || rows < 0 || columns < 0 || stored < 0)
		return SPARSE_INVALID_VALUE;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return SPARSE_ALLOC_FAILED;
	**out = (struct shape){ (double)rows, (double)columns, (double)stored, 1, element_bytes(type), is_sparse };
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseCreateCsr(struct shape **matrix, int64_t rows, int64_t columns, int64_t nnz, void *offsets,
                               void *indices, void *values, int offset_type, int index_type, int base,
                               cudaDataType type))
{
	(void)offsets, (void)indices, (void)values, (void)offset_type, (void)index_type, (void)base;
	return make_shape(matrix, rows, columns, nnz, type, true);
}

EXPORTED(int cusparseCreateCoo(struct shape **matrix, int64_t rows, int64_t columns, int64_t nnz, void *row_indices,
                               void *column_indices, void *values, int index_type, int base, cudaDataType type))
{
	(void)row_indices, (void)column_indices, (void)values, (void)index_type, (void)base;
	return make_shape(matrix, rows, columns, nnz, type, true);
}

EXPORTED(int cusparseCreateDnMat(struct shape **matrix, int64_t rows, int64_t columns, int64_t ld, void *values,
                                 cudaDataType type, int order))
{
	(void)ld, (void)values, (void)order;
	if (rows < 0 || columns < 0 || (columns > 0 && rows > INT64_MAX / columns))
		return SPARSE_INVALID_VALUE;
	return make_shape(matrix, rows, columns, rows * columns, type, false);
}

EXPORTED(int cusparseCreateDnVec(struct shape **vector, int64_t size, void *values, cudaDataType type))
{
	(void)values;
	return make_shape(vector, size, 1, size, type, false);
}

#define DESTROY(name)                                                                                                  \
	EXPORTED(int name(void *object))                                                                               \
	{                                                                                                              \
		free(object);                                                                                          \
		return SPARSE_SUCCESS;                                                                                 \
	}

/* Objects whose content does not matter. */
#define OPAQUE(create, destroy)                                                                                        \
	EXPORTED(int create(void **object))                                                                            \
	{                                                                                                              \
		if (!object)                                                                                           \
			return SPARSE_INVALID_VALUE;                                                                   \
		*object = calloc(1, 1);                                                                                \
		return *object ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;                                                 \
	}                                                                                                              \
	DESTROY(destroy)

#define SETTER(name)                                                                                                   \
	EXPORTED(int name(const void *object, int value))                                                              \
	{                                                                                                              \
		(void)value;                                                                                           \
		return object ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;                                                 \
	}

DESTROY(cusparseDestroySpMat)
DESTROY(cusparseDestroyDnMat)
DESTROY(cusparseDestroyDnVec)
OPAQUE(cusparseSpGEMM_createDescr, cusparseSpGEMM_destroyDescr)
OPAQUE(cusparseSpSV_createDescr, cusparseSpSV_destroyDescr)
OPAQUE(cusparseSpSM_createDescr, cusparseSpSM_destroyDescr)
OPAQUE(cusparseCreateBsrsv2Info, cusparseDestroyBsrsv2Info)
OPAQUE(cusparseCreateBsrsm2Info, cusparseDestroyBsrsm2Info)
OPAQUE(cusparseCreateMatDescr, cusparseDestroyMatDescr)
SETTER(cusparseSetMatType)
SETTER(cusparseSetMatFillMode)
SETTER(cusparseSetMatDiagType)
SETTER(cusparseSetMatIndexBase)

static int set_batches(struct shape *matrix, int n_batches)
{
	if (!matrix || n_batches < 1)
		return SPARSE_INVALID_VALUE;
	matrix->batches = n_batches;
	return SPARSE_SUCCESS;
}

EXPORTED(int cusparseCsrSetStridedBatch(struct shape *matrix, int n_batches, int64_t offsets_stride,
                                        int64_t values_stride))
{
	(void)offsets_stride, (void)values_stride;
	return set_batches(matrix, n_batches);
}

EXPORTED(int cusparseDnMatSetStridedBatch(struct shape *matrix, int n_batches, int64_t stride))
{
	(void)stride;
	return set_batches(matrix, n_batches);
}

EXPORTED(int cusparseCsrSetPointers(struct shape *matrix, void *offsets, void *indices, void *values))
{
	(void)offsets, (void)indices, (void)values;
	return matrix ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

EXPORTED(int cusparseSpMatSetAttribute(struct shape *matrix, int attribute, void *value, size_t n_bytes))
{
	(void)attribute, (void)value, (void)n_bytes;
	return matrix ? SPARSE_SUCCESS : SPARSE_INVALID_VALUE;
}

EXPORTED(int cusparseSpMatGetSize(const struct shape *matrix, int64_t *rows, int64_t *columns, int64_t *nnz))
{
	if (!matrix || !rows || !columns || !nnz)
		return SPARSE_INVALID_VALUE;
	*rows = (int64_t)matrix->rows;
	*columns = (int64_t)matrix->columns;
	*nnz = (int64_t)matrix->stored;
	return SPARSE_SUCCESS;
}

/* Waits for the whole device, as documented, and finds no zero: position -1. */
static int find_no_zero(const struct sparse *handle, int *position)
{
	int status;

	if (!handle)
		return SPARSE_NOT_INITIALIZED;
	if (!position)
		return SPARSE_INVALID_VALUE;
	status = status_of(sim_vendor_wait_context());
	if (status == SPARSE_SUCCESS && handle->pointer_mode == HOST_POINTERS)
		*position = -1;
	return status;
}

EXPORTED(int cusparseXbsrsv2_zeroPivot(HANDLE, const void *state, int *position))
{
	(void)state;
	return find_no_zero(handle, position);
}

EXPORTED(int cusparseXbsrsm2_zeroPivot(HANDLE, const void *state, int *position))
{
	(void)state;
	return find_no_zero(handle, position);
}

EXPORTED(const char *cusparseGetErrorName(int status))
{
	switch (status) {
	case SPARSE_SUCCESS:
		return "CUSPARSE_STATUS_SUCCESS";
	case SPARSE_NOT_INITIALIZED:
		return "CUSPARSE_STATUS_NOT_INITIALIZED";
	case SPARSE_ALLOC_FAILED:
		return "CUSPARSE_STATUS_ALLOC_FAILED";
	case SPARSE_INVALID_VALUE:
		return "CUSPARSE_STATUS_INVALID_VALUE";
	case SPARSE_EXECUTION_FAILED:
		return "CUSPARSE_STATUS_EXECUTION_FAILED";
	case SPARSE_NOT_SUPPORTED:
		return "CUSPARSE_STATUS_NOT_SUPPORTED";
	default:
		return "an unknown cuSPARSE status";
	}
}

EXPORTED(const char *cusparseGetErrorString(int status))
{
	return cusparseGetErrorName(status);
}
