/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_names.h - which libraries are NVIDIA's, and what a stub of each answers
 */
#ifndef SY_ANALYSIS_VENDOR_NAMES_H
#define SY_ANALYSIS_VENDOR_NAMES_H

#include "analysis/stub_code.h"
#include "analysis/torch_info.h"

#include <stdbool.h>

/* libcudnn.so.9 and the like, including the ones the simulated device provides. */
bool sy_vendor_is_nvidia(const char *soname);

/* True for the libraries the simulated device provides itself, whatever else it has. */
bool sy_vendor_is_own(const char *soname);

/*
 * Further libraries, by file name, of which the simulated device may have one
 * for this CUDA version: the i-th, or NULL behind the last. Where it has not, a
 * stub serves.
 */
const char *sy_vendor_simulated(int cuda_major, size_t i);

/* True if this is one of them and `sim_dir` has it. */
bool sy_vendor_has_simulated(const char *sim_dir, int cuda_major, const char *soname);

/*
 * How well a function without a version node fits a library by its name:
 * cuFileRead fits libcufile.so.0. The longest fit counts; 0 is none.
 */
size_t sy_vendor_fit(const char *soname, const char *function);

/* Completes a stub whose name and version node are set: what it does when called. */
void sy_vendor_answer(const char *soname, const struct sy_torch *torch, struct sy_stub *stub);

#endif
