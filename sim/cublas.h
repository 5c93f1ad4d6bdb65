/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublas.h - the simulated cuBLAS and cuBLASLt: what their files share
 *
 * NVIDIA's cuBLAS headers are not needed to build: the enumerators and the
 * sizes below are facts from the public cuBLAS documentation. Enum parameters
 * are declared int and data pointers void *, which calls the same way.
 *
 * Nothing is computed. A call submits one kernel that takes a modelled time,
 * and it submits it as the real library does: through the driver.
 */
#ifndef SIM_CUBLAS_H
#define SIM_CUBLAS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/knobs.h"
#include "sim/vendor_launch.h"

/* cublasStatus_t */
enum sim_blas_status {
	SIM_BLAS_SUCCESS = 0,
	SIM_BLAS_NOT_INITIALIZED = 1,
	SIM_BLAS_ALLOC_FAILED = 3,
	SIM_BLAS_INVALID_VALUE = 7,
	SIM_BLAS_EXECUTION_FAILED = 13,
	SIM_BLAS_INTERNAL_ERROR = 14,
	SIM_BLAS_NOT_SUPPORTED = 15,
};

/* cublasPointerMode_t, cublasSideMode_t, cublasOperation_t */
enum { SIM_BLAS_HOST_POINTERS = 0, SIM_BLAS_DEVICE_POINTERS = 1 };
enum { SIM_BLAS_SIDE_LEFT = 0 };
enum { SIM_BLAS_OP_N = 0 };

/*
 * cublasHandle_t, and cublasLtHandle_t too: programs may pass the one for the
 * other. Made for the context that is current then. One thread at a time, as
 * the real one.
 */
struct sim_blas {
	struct sim_vendor device;
	int pointer_mode;
	int math_mode;
	int atomics_mode;
	int sm_count_target;
};

/* The size of one call: factor * m * n * k * batch operations on elements of `element_bytes`. */
struct sim_blas_work {
	int64_t m, n, k, batch;
	int factor; /* operations per innermost step; 2: multiply and add */
	int element_bytes;
};

/* A handle for the current context; that of device 0 if there is none. An enum sim_blas_status. */
int sim_blas_create(struct sim_blas **handle);

/* Waits for the device, as documented, and frees. */
int sim_blas_destroy(struct sim_blas *handle);

/* Submits the work to a stream. Nothing for a result without elements. An enum sim_blas_status. */
int sim_blas_submit(struct sim_blas *handle, CUstream stream, const struct sim_blas_work *work);

/*
 * The same for functions that return numbers: with host pointers, waits for
 * the handle's stream and writes zeros.
 */
int sim_blas_submit_result(struct sim_blas *handle, const struct sim_blas_work *work, void *result,
                           size_t result_bytes);

/*
 * The same for functions that report how it went: sets *host_info, and one int
 * per matrix of the batch on the device, to 0. Either may be NULL. Does not wait.
 */
int sim_blas_submit_info(struct sim_blas *handle, const struct sim_blas_work *work, int *host_info, void *device_info);

/* Bytes of one element of a cudaDataType. */
int sim_blas_element_bytes(int data_type);

/* CUBLAS_VERSION for the CUDA this copy is built for. */
int sim_blas_version(void);

const char *sim_blas_status_name(int status);

#endif
