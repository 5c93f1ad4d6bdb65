/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - which devices the machine has, which the program sees, and what they are called
 *
 * The machine has as many as the setting `devices` says, numbered from 0: their
 * physical numbers. CUDA_VISIBLE_DEVICES chooses and orders those that a
 * program sees, by number or by (the beginning of) a UUID; the place in it is a
 * device's ordinal, which is all that CUDA calls speak of. Reads the settings
 * and starts nothing. Any thread.
 */
#ifndef SIM_IDENTITY_H
#define SIM_IDENTITY_H

#include "sim/knobs.h"

enum { SIM_MAX_DEVICES = 8, SIM_UUID_BYTES = 16, SIM_UUID_TEXT_BYTES = 48 };

#define SIM_DEVICE_NAME "synctally simulated device"

/* Of PCI domain 0, device 0, function 0. */
#define SIM_PCI_BUS(physical) ((unsigned)(physical) + 1)

SIM_EXPORT int sim_n_physical(void);

SIM_EXPORT void sim_physical_uuid(int physical, unsigned char uuid[SIM_UUID_BYTES]);

/* "GPU-" and the bytes, as tools write it. */
SIM_EXPORT void sim_physical_uuid_text(int physical, char text[SIM_UUID_TEXT_BYTES]);

/* The physical number of each visible device, in order; returns how many. */
int sim_visible_devices(int physical[SIM_MAX_DEVICES]);

#endif
