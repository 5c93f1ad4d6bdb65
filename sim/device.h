/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - what belongs to one simulated device, and starting it
 *
 * As many as the program sees (identity.h). Stream slots and the order of
 * operations are process-wide. Each thread works with one device at a time.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/device_memory.h"
#include "sim/identity.h"
#include "sim/knobs.h"

struct sim_stream;

/* Lock held for everything but the constants ordinal, physical and memory.base, alias and bytes. */
struct sim_device {
	int ordinal;
	int physical; /* its number on the machine (identity.h) */
	struct sim_device_memory memory;
	struct sim_stream *legacy;
	uint64_t blocking_ready_ns;    /* when all blocking streams are idle */
	uint64_t ready_ns;             /* when all streams are idle */
	uint64_t n_blocking_submitted; /* operations, all blocking streams together */
};

/*
 * Brings the devices to life, once. CUDA_ERROR_NOT_INITIALIZED in a child of a
 * process that had done so: like a real context, a device does not survive
 * fork(). CUDA_ERROR_NO_DEVICE if the program may see none.
 * CUDA_ERROR_OUT_OF_MEMORY if no address range is to be had.
 */
SIM_EXPORT CUresult sim_device_start(void);

/* Whether that has happened, and well. Any thread. */
bool sim_device_is_started(void);

/* True in a forked child of a process that had started its devices. */
bool sim_device_is_lost(void);

/* NULL for an ordinal that does not exist. Only after sim_device_start(). */
SIM_EXPORT struct sim_device *sim_device(int ordinal);

SIM_EXPORT int sim_n_devices(void);

/*
 * The device the calling thread works with; the first one for a thread that
 * has chosen none. -1 as ordinal takes the choice back; sim_device_chosen()
 * returns it.
 */
struct sim_device *sim_device_current(void);
SIM_EXPORT void sim_device_choose(int ordinal);
SIM_EXPORT int sim_device_chosen(void);

/* The device whose range of addresses holds this one, allocated or not; NULL if none does. No lock needed. */
struct sim_device *sim_device_of(uintptr_t address);

/* Waits for the device, then frees its memory and ends its created streams. Takes the lock. */
SIM_EXPORT CUresult sim_device_reset(struct sim_device *device);

#endif
