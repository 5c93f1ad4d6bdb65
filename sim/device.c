/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "sim/capture.h"
#include "sim/ledger.h"
#include "sim/lock.h"
#include "sim/say.h"
#include "sim/scope.h"
#include "sim/stream.h"
#include "sim/timeline.h"
#include "sim/vmm.h"

static struct sim_device devices[SIM_N_DEVICES];
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

static void start(void)
{
	struct sim_device *device = &devices[0];

	start_result = CUDA_ERROR_OUT_OF_MEMORY;
	if (!sim_device_memory_map(&device->memory, sim_knobs()->memory)) {
		sim_say("no address range for the memory of the device: bytes=%llu",
		        (unsigned long long)sim_knobs()->memory);
		return;
	}
	device->legacy = sim_stream_create(device, SIM_STREAM_LEGACY, 0);
	if (!device->legacy)
		return;
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
	return ordinal >= 0 && ordinal < SIM_N_DEVICES ? &devices[ordinal] : NULL;
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
	while (device->memory.live.n)
		sim_device_memory_free(&device->memory, device->memory.live.at[0].base);
	sim_stream_end_created(device);
	sim_unlock();
	return CUDA_SUCCESS;
}
