/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub_cache.h - make the vendor stubs of a PyTorch once and keep them
 *
 * They live in $XDG_CACHE_HOME/synctally (~/.cache/synctally), in one directory
 * per PyTorch build and build of ours; all may be deleted at any time no run begins. A directory
 * appears complete, by rename, or not at all, so any number of processes may
 * do this at once. Where the cache cannot be used, a private directory under
 * $TMPDIR serves this run and is removed when the calling process exits.
 */
#ifndef SY_ANALYSIS_STUB_CACHE_H
#define SY_ANALYSIS_STUB_CACHE_H

#include "analysis/torch_info.h"

#include <limits.h>
#include <stddef.h>

/* Receives the absolute path of one stub. A result other than 0 stops and is passed on. */
typedef int (*sy_stub_path_fn)(const char *path, void *context);

/*
 * Makes the stubs of `torch` if they are not there yet, then calls `fn` with
 * each. 0, or -1 with one line in `err`. Not thread-safe: one caller per process.
 */
int sy_stub_cache(const struct sy_torch *torch, const char *sim_dir, sy_stub_path_fn fn, void *context, char *err,
                  size_t err_bytes);

#endif
