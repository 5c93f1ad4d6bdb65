/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_image.h - the little that is read of a program for the device: its variables
 *
 * Not for code: kernels are known by name only, and do nothing.
 */
#ifndef SIM_CUDA_IMAGE_H
#define SIM_CUDA_IMAGE_H

#include <stddef.h>

/* Returns 0 to go on. `name` is valid during the call. */
typedef int sim_image_fn(void *context, const char *name, size_t bytes);

/*
 * Calls `each` for every variable of an ELF image (cubin), which must be whole:
 * as for the driver, its length is what its own headers say. Images of other
 * kinds have none. Returns what stopped it, or 0.
 */
int sim_image_variables(const void *image, sim_image_fn *each, void *context);

#endif
