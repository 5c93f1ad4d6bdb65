/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simlibs.h - what to preload so that a command runs on the simulated device
 */
#ifndef SY_ANALYSIS_SIMLIBS_H
#define SY_ANALYSIS_SIMLIBS_H

#include <stddef.h>

/*
 * Fills `out` with a colon-separated LD_PRELOAD list, without libsynctally.so:
 * the simulated libraries in `sim_dir` for the CUDA version that the command
 * uses, then stand-ins for the other NVIDIA libraries that its PyTorch needs.
 * `argv` is the command, NULL-terminated. May run the command's Python
 * interpreter for a moment, and writes the cache of stub_cache.h. Returns 0,
 * or -1 with one line (no newline) in `err`. Not thread-safe.
 */
int sy_simlibs_preload(const char *sim_dir, char *const argv[], char *out, size_t out_bytes, char *err,
                       size_t err_bytes);

#endif
