/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - calls that fail, hang or are slow because a test wants them to
 *
 * SYNCTALLY_SIM_FAULTS="cudaMemcpyAsync:3=700,cuStreamSynchronize:1=hang,cudaMemcpy:2=slow:5000000":
 * the 3rd such call of the process does nothing and returns 700; the 1st never
 * returns; the 2nd takes 5 ms more of host time. Names as the program calls
 * them. A code that leaves a real context unusable (an illegal address, an ECC
 * error ...) is then what every later call that needs the context returns, too.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <cuda.h>

/* The code of a fault that has left the context unusable; CUDA_SUCCESS without one. */
CUresult sim_faults_lasting(void);

/* To be asked once for each call the program makes; no lock held. */
CUresult sim_faults_check(const char *api);

#endif
