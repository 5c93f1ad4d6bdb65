/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_launch.h - how the simulated NVIDIA libraries submit their work
 *
 * For cuBLAS, cuDNN, cuFFT, cuSOLVER, cuSPARSE and NCCL; each has its own copy.
 * Nothing is computed: a call of theirs becomes one kernel that takes a
 * modelled time. The real libraries hold a static runtime that finds the
 * driver with dlopen and asks it for entry points. So does this: whoever
 * watches the driver sees the same calls.
 */
#ifndef SIM_VENDOR_LAUNCH_H
#define SIM_VENDOR_LAUNCH_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* What every handle holds. Made for the context that is current then. One thread at a time, as the real ones. */
struct sim_vendor {
	CUcontext context;
	CUfunction kernel;
	CUstream stream;
};

/* What a call costs the device: the slower of computing and of moving bytes counts. 0 and 0: a small kernel. */
struct sim_vendor_work {
	double operations;
	double bytes;
};

/*
 * Fills a zeroed structure, for the current context or, if there is none,
 * device 0's; `kernel` is the name of what it will launch.
 * CUDA_ERROR_NOT_INITIALIZED without a driver.
 */
CUresult sim_vendor_open(struct sim_vendor *vendor, const char *kernel);

/* Submits one kernel. */
CUresult sim_vendor_launch(const struct sim_vendor *vendor, CUstream stream, const struct sim_vendor_work *work);

/* Submits a set of `n_words` 32-bit words of the device's memory to 0: the "all is well" of a result code. */
CUresult sim_vendor_clear(const struct sim_vendor *vendor, CUstream stream, void *words, size_t n_words);

/* Makes the primary context of a device current. */
CUresult sim_vendor_choose(int ordinal);

/* The device of the current context. */
CUresult sim_vendor_ordinal(int *ordinal);

/* Submits a copy. */
CUresult sim_vendor_copy(const struct sim_vendor *vendor, CUstream stream, uintptr_t to, uintptr_t from, size_t bytes);

/* Memory of the current device. */
CUresult sim_vendor_alloc(void **address, size_t bytes);
CUresult sim_vendor_free(void *address);

CUresult sim_vendor_wait_stream(CUstream stream);

/* Waits for all the device has to do, as destroying a handle does. */
CUresult sim_vendor_wait_context(void);

#endif
