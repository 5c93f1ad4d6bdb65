/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dl.h - the loader's own dlsym and dlvsym, and our answer in their place
 *
 * dlsym and dlvsym are exported by this library (entry_*.S). They answer only
 * for CUDA names we wrap and go on to the true function by a jump otherwise, so
 * that the caller's return address, on which RTLD_NEXT and RTLD_DEFAULT depend,
 * stays in place.
 */
#ifndef SY_INTERPOSER_DL_H
#define SY_INTERPOSER_DL_H

#include <stdbool.h>

typedef void *(*sy_dlsym_fn)(void *handle, const char *name);
typedef void *(*sy_dlvsym_fn)(void *handle, const char *name, const char *version);

/* NULL until sy_dl_init. The entries in entry_*.S jump through them: to the next in the preload order. */
extern sy_dlsym_fn sy_real_dlsym;
extern sy_dlvsym_fn sy_real_dlvsym;

/* For look-ups of our own: what follows us is "next" for it, and not what follows another tool's dlsym. */
extern sy_dlsym_fn sy_libc_dlsym;

/*
 * Finds the true functions. May run before any constructor and inside another
 * library's start-up, so it calls nothing that could be interposed. Idempotent.
 */
void sy_dl_init(void);

/*
 * True in a forked child. It asks the loader for as little as it can: a thread
 * of its parent may have held one of the loader's locks, which nobody will
 * release here.
 */
bool sy_dl_is_child(void);

/* Our answer to dlsym(handle, "cu..."), or NULL to go on. Called by entry_*.S only. */
void *sy_dl_answer(void *handle, const char *name);

/*
 * True if some loaded object defines `name`. Asks the objects' tables instead
 * of dlsym, whose failure would leave a message for the program's dlerror().
 * Not before sy_dl_init has returned.
 */
bool sy_dl_is_defined(const char *name);

#endif
