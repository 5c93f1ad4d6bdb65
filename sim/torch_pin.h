/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_pin.h - the version of an NVIDIA library that the calling PyTorch was built against
 *
 * PyTorch's libraries do not hold it as data, but its package metadata pins
 * NVIDIA's wheel. It is read here, not by the launcher, so that a preload
 * without the launcher answers the same.
 */
#ifndef SIM_TORCH_PIN_H
#define SIM_TORCH_PIN_H

#include <stdbool.h>

/*
 * Fills in the version of the library, say "cudnn", if `caller` is an address
 * in a library of PyTorch's whose metadata tell it; false, and the version is
 * as it was, if not. The answer for a library is kept. Any thread.
 */
bool sim_torch_pin(const void *caller, const char *library, int version[3]);

/* The directory of the PyTorch that `caller` is in a library of, PATH_MAX bytes. False: it is in none. Any thread. */
bool sim_torch_package(const void *caller, char *path);

#endif
