/* SPDX-License-Identifier: Apache-2.0 */
/* wrappers.h - our function for each row of the API table, for handing out by address */
#ifndef SY_INTERPOSER_WRAPPERS_H
#define SY_INTERPOSER_WRAPPERS_H

#include "interposer/real.h"

extern const sy_fn sy_wrapper_fn[SY_N_API];

#endif
