/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cufft.c - the simulated libcufft
 *
 * The functions with which PyTorch transforms: plans of any size and type, each
 * execution one kernel. Enumerators: public cuFFT documentation; its enums are
 * declared int. Nothing is computed.
 */
#include "sim/knobs.h"
#include "sim/vendor_launch.h"

#include <library_types.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

/* cufftResult */
enum {
	FFT_SUCCESS = 0,
	FFT_INVALID_PLAN = 1,
	FFT_ALLOC_FAILED = 2,
	FFT_INVALID_VALUE = 4,
	FFT_EXEC_FAILED = 6,
	FFT_SETUP_FAILED = 7,
	FFT_INVALID_SIZE = 8,
};

/* A plan allows three dimensions; PyTorch makes no others. */
enum { MAX_RANK = 3 };

struct plan {
	struct sim_vendor device;
	struct sim_vendor_work work;
	bool is_made;
};

/* cufftHandle is a small integer: an index into this table. */
static struct {
	pthread_mutex_t lock;
	struct plan **plans;
	int room;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct plan *find(int handle)
{
	struct plan *plan = NULL;

	pthread_mutex_lock(&table.lock);
	if (handle >= 0 && handle < table.room)
		plan = table.plans[handle];
	pthread_mutex_unlock(&table.lock);
	return plan;
}

/* Its index, or -1 without memory. Lock held. */
static int add(struct plan *plan)
{
	struct plan **grown;
	int i, free_index;

	for (free_index = 0; free_index < table.room && table.plans[free_index]; free_index++)
		;
	if (free_index == table.room) {
		grown = reallocarray(table.plans, (size_t)table.room + 64, sizeof(*grown));
		if (!grown)
			return -1;
		for (i = table.room; i < table.room + 64; i++)
			grown[i] = NULL;
		table.plans = grown;
		table.room += 64;
	}
	table.plans[free_index] = plan;
	return free_index;
}

EXPORTED(int cufftCreate(int *handle))
{
	struct plan *plan;
	int index;

	if (!handle)
		return FFT_INVALID_VALUE;
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return FFT_ALLOC_FAILED;
	if (sim_vendor_open(&plan->device, "synctally_fft") != CUDA_SUCCESS) {
		free(plan);
		return FFT_SETUP_FAILED;
	}
	pthread_mutex_lock(&table.lock);
	index = add(plan);
	pthread_mutex_unlock(&table.lock);
	if (index < 0) {
		free(plan);
		return FFT_ALLOC_FAILED;
	}
	*handle = index;
	return FFT_SUCCESS;
}

EXPORTED(int cufftDestroy(int handle))
{
	struct plan *plan = find(handle);

	if (!plan)
		return FFT_INVALID_PLAN;
	pthread_mutex_lock(&table.lock);
	table.plans[handle] = NULL;
	pthread_mutex_unlock(&table.lock);
	free(plan);
	return FFT_SUCCESS;
}

static double element_bytes(cudaDataType type)
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
	default:
		return 4;
	}
}

/* 5 n log2(n) operations for n points: the customary count, as in FFTW's benchmarks. Workspace: as much as the data. */
EXPORTED(int cufftXtMakePlanMany(int handle, int rank, long long *n, long long *in_embed, long long in_stride,
                                 long long in_distance, cudaDataType in_type, long long *out_embed,
                                 long long out_stride, long long out_distance, cudaDataType out_type, long long batch,
                                 size_t *work_bytes, cudaDataType execution_type))
{
	struct plan *plan = find(handle);
	double points = 1;
	int i;

	(void)in_embed, (void)in_stride, (void)in_distance, (void)out_embed, (void)out_stride, (void)out_distance;
	if (!plan)
		return FFT_INVALID_PLAN;
	if (!n || !work_bytes || rank < 1 || rank > MAX_RANK)
		return FFT_INVALID_VALUE;
	for (i = 0; i < rank; i++) {
		if (n[i] < 1)
			return FFT_INVALID_SIZE;
		points *= (double)n[i];
	}
	if (batch < 1)
		return FFT_INVALID_SIZE;
	plan->work.operations = 5 * points * log2(points) * (double)batch;
	plan->work.bytes = points * (double)batch * (element_bytes(in_type) + element_bytes(out_type));
	plan->is_made = true;
	*work_bytes = (size_t)(points * (double)batch * element_bytes(execution_type));
	return FFT_SUCCESS;
}

EXPORTED(int cufftXtExec(int handle, void *input, void *output, int direction))
{
	struct plan *plan = find(handle);

	(void)input, (void)output, (void)direction;
	if (!plan || !plan->is_made)
		return FFT_INVALID_PLAN;
	if (sim_vendor_launch(&plan->device, plan->device.stream, &plan->work) != CUDA_SUCCESS)
		return FFT_EXEC_FAILED;
	return FFT_SUCCESS;
}

EXPORTED(int cufftSetStream(int handle, CUstream stream))
{
	struct plan *plan = find(handle);

	if (!plan)
		return FFT_INVALID_PLAN;
	plan->device.stream = stream;
	return FFT_SUCCESS;
}

/* Where the workspace is makes no difference. */
EXPORTED(int cufftSetAutoAllocation(int handle, int is_automatic))
{
	(void)is_automatic;
	return find(handle) ? FFT_SUCCESS : FFT_INVALID_PLAN;
}

EXPORTED(int cufftSetWorkArea(int handle, void *work))
{
	(void)work;
	return find(handle) ? FFT_SUCCESS : FFT_INVALID_PLAN;
}
