/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_stubs.h - stand-ins for the NVIDIA libraries a PyTorch installation needs
 *
 * PyTorch does not load unless every symbol it imports exists. The stand-ins
 * export exactly those, under the right names and version nodes, and refuse
 * when called. They hold no NVIDIA code.
 */
#ifndef SY_ANALYSIS_VENDOR_STUBS_H
#define SY_ANALYSIS_VENDOR_STUBS_H

#include "analysis/torch_info.h"

#include <stddef.h>

/* The function, exported by the simulated device, that stubs tell of a refusal: (library, function). */
#define SY_STUB_IMPORT "sim_refuse_vendor"

/* Imports from our own libraries that this version of them lacks end up in this library. */
#define SY_STUB_EXTRAS "libsynctally_extras.so"

/* Receives one finished library. 0, or -1 with a message set by the receiver to stop. */
typedef int (*sy_stub_file_fn)(const char *soname, const void *bytes, size_t n_bytes, void *context);

/*
 * Makes every library that the files in the installation's lib directory need
 * and that neither the system nor `sim_dir` provides, and hands each to `fn`.
 * 0, or -1 with one line in `err`. Any thread.
 */
int sy_vendor_stubs(const struct sy_torch *torch, const char *sim_dir, sy_stub_file_fn fn, void *context, char *err,
                    size_t err_bytes);

#endif
