/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "sim/capture.h"
#include "sim/ledger.h"
#include "sim/lock.h"
#include "sim/pool.h"
#include "sim/say.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"
#include "sim/vmm.h"

static struct sim_device devices[SIM_MAX_DEVICES];
static int n_devices;
/* What the calling thread chose, plus 1: a new thread has chosen none. */
static SIM_TLS int chosen_plus_1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult start_result = CUDA_ERROR_NOT_INITIALIZED;
static _Atomic bool is_started;
static _Atomic bool is_lost;

static void after_fork_in_child(void)
{
	sim_unlock();
	sim_ledger_forget();
	atomic_store(&is_lost, true);
}

static bool start_device(struct sim_device *device)
{
	if (!sim_device_memory_map(&device->memory, sim_knobs()->memory)) {
		sim_say("no address range for the memory of the device: bytes=%llu",
		        (unsigned long long)sim_knobs()->memory);
		return false;
	}
	device->legacy = sim_stream_create(device, SIM_STREAM_LEGACY, 0);
	return device->legacy;
}

static void start(void)
{
	int physical[SIM_MAX_DEVICES], n = sim_visible_devices(physical);

	start_result = n ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NO_DEVICE;
	for (int i = 0; i < n; i++) {
		devices[i].ordinal = i;
		devices[i].physical = physical[i];
		if (!start_device(&devices[i]))
			return;
	}
	if (!n)
		return;
	n_devices = n;
	pthread_atfork(sim_lock, sim_unlock, after_fork_in_child);
	start_result = CUDA_SUCCESS;
	atomic_store(&is_started, true);
}

bool sim_device_is_started(void)
{
	return atomic_load(&is_started) && !sim_device_is_lost();
}

CUresult sim_device_start(void)
{
	if (sim_device_is_lost())
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_once(&once, start);
	return start_result;
}

bool sim_device_is_lost(void)
{
	return atomic_load_explicit(&is_lost, memory_order_relaxed);
}

struct sim_device *sim_device(int ordinal)
{
	return ordinal >= 0 && ordinal < n_devices ? &devices[ordinal] : NULL;
}

int sim_n_devices(void)
{
	return n_devices;
}

struct sim_device *sim_device_current(void)
{
	return &devices[chosen_plus_1 ? chosen_plus_1 - 1 : 0];
}

void sim_device_choose(int ordinal)
{
	chosen_plus_1 = ordinal + 1;
}

int sim_device_chosen(void)
{
	return chosen_plus_1 - 1;
}

struct sim_device *sim_device_of(uintptr_t address)
{
	for (int i = 0; i < n_devices; i++)
		if (sim_device_memory_owns(&devices[i].memory, address))
			return &devices[i];
	return NULL;
}

CUresult sim_device_reset(struct sim_device *device)
{
	sim_lock();
	CUresult result = sim_capture_wait_device(device);
	if (result != CUDA_SUCCESS) {
		sim_unlock();
		return result;
	}
	sim_scope_note_pending(sim_streams_device_pending(device));
	(void)sim_timeline_wait_device(device);
	sim_vmm_reset(device);
	sim_pools_reset(device);
	while (device->memory.live.n)
		sim_device_memory_free(&device->memory, device->memory.live.at[0].base);
	sim_stream_end_created(device);
	sim_unlock();
	return CUDA_SUCCESS;
}
