/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor.h - refusals of the NVIDIA libraries that are only stubs
 *
 * The stubs are shared objects written at run time for the PyTorch that is
 * found. They hold no code but calls of this function, which they find by its
 * name.
 */
#ifndef SIM_VENDOR_H
#define SIM_VENDOR_H

#include "sim/knobs.h"

/*
 * Says, once per function, that a vendor library is not simulated and what
 * the user can do about it. Both strings live as long as the stub, which is
 * never unloaded. The result is always 0; the stub returns its own status. Any thread.
 */
SIM_EXPORT int sim_refuse_vendor(const char *library, const char *function);

#endif
