/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublaslt.c - the exported functions of the simulated libcublasLt
 *
 * Descriptors, layouts and preferences keep whatever attributes they are
 * given; a matrix product reads its size from them and becomes one kernel.
 * Numbers of attributes and sizes of structures: public cuBLASLt documentation.
 */
#include "sim/cublas.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

enum { MAX_ATTRIBUTES = 64, MAX_ATTRIBUTE_BYTES = 16 };

/* Attributes that matter to the size of a product. */
enum { DESC_COMPUTE_TYPE = 0, DESC_SCALE_TYPE = 1, DESC_TRANSA = 3 };
enum { LAYOUT_TYPE = 0, LAYOUT_ROWS = 2, LAYOUT_COLS = 3, LAYOUT_LD = 4, LAYOUT_BATCH = 5 };

/* cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t ... */
struct descriptor {
	unsigned char bytes[MAX_ATTRIBUTES][MAX_ATTRIBUTE_BYTES];
	unsigned char length[MAX_ATTRIBUTES];
};

/* cublasLtMatmulHeuristicResult_t */
struct heuristic_result {
	uint64_t algorithm[8];
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};
_Static_assert(sizeof(struct heuristic_result) == 96, "cublasLtMatmulHeuristicResult_t");

static int set_attribute(struct descriptor *descriptor, int attribute, const void *value, size_t n_bytes)
{
	if (!descriptor || !value || attribute < 0 || attribute >= MAX_ATTRIBUTES || n_bytes > MAX_ATTRIBUTE_BYTES)
		return SIM_BLAS_INVALID_VALUE;
	memcpy(descriptor->bytes[attribute], value, n_bytes);
	descriptor->length[attribute] = (unsigned char)n_bytes;
	return SIM_BLAS_SUCCESS;
}

/* An attribute that was never set reads as zeros, which are the documented defaults of most. */
static int get_attribute(const struct descriptor *descriptor, int attribute, void *value, size_t n_bytes,
                         size_t *n_written)
{
	if (!descriptor || attribute < 0 || attribute >= MAX_ATTRIBUTES || n_bytes > MAX_ATTRIBUTE_BYTES)
		return SIM_BLAS_INVALID_VALUE;
	if (n_written)
		*n_written = n_bytes;
	if (value)
		memcpy(value, descriptor->bytes[attribute], n_bytes);
	return value || n_written ? SIM_BLAS_SUCCESS : SIM_BLAS_INVALID_VALUE;
}

/* Attributes are 4 or 8 bytes wide; x86-64 and the zeroed storage make both readable as one integer. */
static int64_t integer(const struct descriptor *descriptor, int attribute)
{
	int64_t value;

	memcpy(&value, descriptor->bytes[attribute], sizeof(value));
	return value;
}

static int create(struct descriptor **descriptor)
{
	if (!descriptor)
		return SIM_BLAS_INVALID_VALUE;
	*descriptor = calloc(1, sizeof(**descriptor));
	return *descriptor ? SIM_BLAS_SUCCESS : SIM_BLAS_ALLOC_FAILED;
}

static int destroy(struct descriptor *descriptor)
{
	free(descriptor);
	return SIM_BLAS_SUCCESS;
}

/* Destroy, set and get are alike for every kind of descriptor. */
#define DESCRIPTOR(kind)                                                                                               \
	EXPORTED(int cublasLt##kind##Destroy(struct descriptor *descriptor))                                           \
	{                                                                                                              \
		return destroy(descriptor);                                                                            \
	}                                                                                                              \
	EXPORTED(int cublasLt##kind##SetAttribute(struct descriptor *descriptor, int attribute, const void *value,     \
	                                          size_t n_bytes))                                                     \
	{                                                                                                              \
		return set_attribute(descriptor, attribute, value, n_bytes);                                           \
	}                                                                                                              \
	EXPORTED(int cublasLt##kind##GetAttribute(const struct descriptor *descriptor, int attribute, void *value,     \
	                                          size_t n_bytes, size_t *n_written))                                  \
	{                                                                                                              \
		return get_attribute(descriptor, attribute, value, n_bytes, n_written);                                \
	}

DESCRIPTOR(MatmulDesc)
DESCRIPTOR(MatrixLayout)
DESCRIPTOR(MatmulPreference)
DESCRIPTOR(MatrixTransformDesc)

EXPORTED(int cublasLtMatmulDescCreate(struct descriptor **descriptor, int compute_type, int scale_type))
{
	int status = create(descriptor);

	if (status == SIM_BLAS_SUCCESS) {
		set_attribute(*descriptor, DESC_COMPUTE_TYPE, &compute_type, sizeof(compute_type));
		set_attribute(*descriptor, DESC_SCALE_TYPE, &scale_type, sizeof(scale_type));
	}
	return status;
}

EXPORTED(int cublasLtMatrixLayoutCreate(struct descriptor **layout, int type, uint64_t rows, uint64_t cols, int64_t ld))
{
	const int one = 1;
	int status = create(layout);

	if (status == SIM_BLAS_SUCCESS) {
		set_attribute(*layout, LAYOUT_TYPE, &type, sizeof(type));
		set_attribute(*layout, LAYOUT_ROWS, &rows, sizeof(rows));
		set_attribute(*layout, LAYOUT_COLS, &cols, sizeof(cols));
		set_attribute(*layout, LAYOUT_LD, &ld, sizeof(ld));
		set_attribute(*layout, LAYOUT_BATCH, &one, sizeof(one));
	}
	return status;
}

EXPORTED(int cublasLtMatmulPreferenceCreate(struct descriptor **preference))
{
	return create(preference);
}

EXPORTED(int cublasLtMatrixTransformDescCreate(struct descriptor **descriptor, int scale_type))
{
	(void)scale_type;
	return create(descriptor);
}

EXPORTED(int cublasLtCreate(struct sim_blas **handle))
{
	return sim_blas_create(handle);
}

EXPORTED(int cublasLtDestroy(struct sim_blas *handle))
{
	return sim_blas_destroy(handle);
}

/* One candidate for any request, without workspace. */
EXPORTED(int cublasLtMatmulAlgoGetHeuristic(struct sim_blas *handle, struct descriptor *operation, struct descriptor *a,
                                            struct descriptor *b, struct descriptor *c, struct descriptor *d,
                                            struct descriptor *preference, int n_wanted,
                                            struct heuristic_result *results, int *n_found))
{
	(void)preference;
	if (!handle)
		return SIM_BLAS_NOT_INITIALIZED;
	if (!operation || !a || !b || !c || !d || n_wanted < 1 || !results || !n_found)
		return SIM_BLAS_INVALID_VALUE;
	memset(results, 0, sizeof(*results));
	results->waves = 1.0f;
	*n_found = 1;
	return SIM_BLAS_SUCCESS;
}

EXPORTED(int cublasLtMatmul(struct sim_blas *handle, struct descriptor *operation, const void *alpha, const void *a,
                            struct descriptor *layout_a, const void *b, struct descriptor *layout_b, const void *beta,
                            const void *c, struct descriptor *layout_c, void *d, struct descriptor *layout_d,
                            const void *algorithm, void *workspace, size_t workspace_bytes, CUstream stream))
{
	struct sim_blas_work work = { .factor = 2 };

	(void)alpha, (void)a, (void)b, (void)layout_b, (void)beta, (void)c, (void)layout_c, (void)d, (void)algorithm;
	(void)workspace, (void)workspace_bytes;
	if (!operation || !layout_a || !layout_d)
		return SIM_BLAS_INVALID_VALUE;
	work.m = integer(layout_d, LAYOUT_ROWS);
	work.n = integer(layout_d, LAYOUT_COLS);
	work.k = integer(layout_a, integer(operation, DESC_TRANSA) == SIM_BLAS_OP_N ? LAYOUT_COLS : LAYOUT_ROWS);
	work.batch = integer(layout_d, LAYOUT_BATCH);
	work.element_bytes = sim_blas_element_bytes((int)integer(layout_a, LAYOUT_TYPE));
	return sim_blas_submit(handle, stream, &work);
}

EXPORTED(size_t cublasLtGetVersion(void))
{
	return (size_t)sim_blas_version();
}

EXPORTED(size_t cublasLtGetCudartVersion(void))
{
	return (size_t)(sim_blas_version() / 10000 * 1000);
}

EXPORTED(const char *cublasLtGetStatusName(int status))
{
	return sim_blas_status_name(status);
}

EXPORTED(const char *cublasLtGetStatusString(int status))
{
	return sim_blas_status_name(status);
}
