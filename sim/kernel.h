/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - kernels: names, host functions, launches
 *
 * The public half is include/synctally_sim.h.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/knobs.h"

/* A kernel as the driver face hands it out (CUfunction, CUkernel). Never freed: programs keep handles. */
struct sim_function;

/* The function of that name; the same name gives the same function. NULL without memory. Takes the lock. */
SIM_EXPORT struct sim_function *sim_function_of_name(const char *name);

/* The name of a kernel registered with this host stub, or NULL. The string stays. Takes the lock. */
SIM_EXPORT const char *sim_kernel_name_of_stub(const void *stub);

/* The other way round: a stub registered for the name, or NULL. Takes the lock. */
SIM_EXPORT const void *sim_kernel_stub_of_name(const char *name);

SIM_EXPORT const char *sim_function_name(const struct sim_function *function);

struct sim_launch_config {
	unsigned grid[3];
	unsigned block[3];
	unsigned shared_bytes;
	CUstream stream;
};

/*
 * Submits a kernel. args as cuLaunchKernel() takes them; they are copied only
 * if a host function is registered. Takes the lock.
 */
SIM_EXPORT CUresult sim_launch(struct sim_function *function, const struct sim_launch_config *config, void **args);

/* A launch for later: what a node of a graph does. In what a caller passes in only the first three are set. */
struct sim_kernel_work {
	struct sim_function *function;
	struct sim_launch_config config; /* the stream does not matter */
	void **args;                     /* as the program passed them; the node's own: pointers, then the arguments */
	const void *registered;          /* what the program had registered for the name when the node was made */
	uint64_t device_ns;              /* as sim_launch_takes(); 0: the kernel's own time */
};

/* What follows: lock held. */
struct sim_op;
CUresult sim_kernel_work_check(const struct sim_kernel_work *work);
/* Copies the arguments. False without memory. */
bool sim_kernel_work_copy(struct sim_kernel_work *to, const struct sim_kernel_work *from);
void sim_kernel_work_drop(struct sim_kernel_work *work);
/* What one execution does to memory, NULL if nothing, and how long it takes. CUDA_ERROR_OUT_OF_MEMORY. */
CUresult sim_kernel_work_op(const struct sim_kernel_work *work, struct sim_op **op, uint64_t *duration_ns);
/* The same for a host function. */
CUresult sim_host_work_op(CUhostFn func, void *data, struct sim_op **op, uint64_t *duration_ns);

/*
 * The device time of the calling thread's next launch, in place of the
 * kernel's own: for libraries that know what they are about to compute.
 */
SIM_EXPORT void sim_launch_takes(uint64_t device_ns);

/* Submits a host function: func(data), or func(stream, CUDA_SUCCESS, data). Takes the lock. */
SIM_EXPORT CUresult sim_launch_host_func(CUstream stream, CUhostFn func, void *data);
SIM_EXPORT CUresult sim_launch_callback(CUstream stream, CUstreamCallback func, void *data);

#endif
