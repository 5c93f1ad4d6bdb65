/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cusolver.h - the simulated cuSOLVER: what its files share
 *
 * Enumerators are facts from the public cuSOLVER documentation. Enum
 * parameters are declared int and data pointers void *, which calls the same
 * way. Nothing is computed; matrices are left as they are.
 */
#ifndef SIM_CUSOLVER_H
#define SIM_CUSOLVER_H

#include "sim/knobs.h"
#include "sim/vendor_launch.h"

/* cusolverStatus_t */
enum sim_solver_status {
	SIM_SOLVER_SUCCESS = 0,
	SIM_SOLVER_NOT_INITIALIZED = 1,
	SIM_SOLVER_ALLOC_FAILED = 2,
	SIM_SOLVER_INVALID_VALUE = 3,
	SIM_SOLVER_EXECUTION_FAILED = 6,
	SIM_SOLVER_NOT_SUPPORTED = 9,
};

/* cusolverDnHandle_t */
struct sim_solver {
	struct sim_vendor device;
};

/*
 * Submits one kernel that reads and writes `elements` elements, then the set
 * to 0 of `n_info` result codes; `info` may be NULL. An enum sim_solver_status.
 */
int sim_solver_submit(const struct sim_solver *handle, double operations, double elements, double element_bytes,
                      void *info, int64_t n_info);

/* Waits for the handle's stream: for the calls that need a result on the host before they return. */
int sim_solver_wait(const struct sim_solver *handle);

#endif
