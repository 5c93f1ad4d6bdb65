/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - the one symbol through which the interposer tells where a call comes from
 *
 * The simulated device can be told what a readback at some line shall show. It
 * does not know lines; the preload library does. It looks this symbol up with
 * dlsym, and without the library there are no lines.
 */
#ifndef SY_API_SITE_H
#define SY_API_SITE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Frame `depth` of the calling thread's Python stack, 0 being the innermost:
 * file (cut and NUL-terminated) and line. False: there is no such frame.
 * Inside a CUDA call, on the thread that made it. No lock, no allocation.
 */
#define SY_PYTHON_FRAME_SYMBOL "synctally_python_frame"
typedef bool (*sy_python_frame_fn)(unsigned depth, char *file, size_t file_bytes, unsigned *line);

#endif
