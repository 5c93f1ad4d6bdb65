/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synctally_sim.h - give the simulated device kernels that compute
 *
 * For C programs and tests that run on synctally's simulated device. A kernel
 * with a host function really does its work: the function runs on the host
 * when the kernel completes on the device's clock, and sees the arguments as
 * they were at the launch. Kernels without one only take time.
 *
 * Link with -lsimcore, or find the functions with dlsym. They return 0, or -1
 * with a line on stderr. Any thread may call them.
 */
#ifndef SYNCTALLY_SIM_H
#define SYNCTALLY_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One launch, as the host function sees it. Valid until the function returns. */
struct synctally_sim_launch {
	unsigned grid[3];
	unsigned block[3];
	unsigned shared_bytes;
	void *const *args; /* args[i] points at a copy of argument i; device pointers need synctally_sim_host_view() */
	void *user;        /* as registered */
};

/*
 * The body of a kernel. It runs on whatever thread lets the device catch up,
 * one at a time, in the order in which kernels complete. It may not call CUDA
 * (such calls fail with "not permitted").
 */
typedef void (*synctally_sim_kernel_fn)(const struct synctally_sim_launch *launch);

struct synctally_sim_kernel {
	const char *name;            /* as cuModuleGetFunction() gets it; copied */
	const void *stub;            /* what cudaLaunchKernel() gets, or NULL; only the address is used */
	synctally_sim_kernel_fn run; /* NULL: the kernel only takes time, as device_ns says */
	void *user;
	unsigned n_args;
	const size_t *arg_bytes; /* size of each argument; copied */
	uint64_t device_ns;      /* time on the device; 0: the setting kernel_ns */
};

/* Adds a kernel. The same name or stub again replaces the earlier one for launches from then on. */
int synctally_sim_register_kernel(const struct synctally_sim_kernel *kernel);

/*
 * The bytes behind a device pointer, for host functions and for tests that
 * look without a copy. Other addresses come back unchanged. Valid as long as
 * the device memory is.
 */
void *synctally_sim_host_view(const void *device_pointer);

/* Lets host time pass, as if the program had computed: moves the virtual clock, or really waits in real time. */
void synctally_sim_host_work(uint64_t ns);

/* Now, in nanoseconds, on the clock the device uses. */
uint64_t synctally_sim_now(void);

#ifdef __cplusplus
}
#endif

#endif
