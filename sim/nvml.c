/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - the simulated libnvidia-ml: what programs ask the management library about the device
 *
 * PyTorch asks it which devices exist before CUDA is started, who else uses
 * the memory when it runs out, and about fabrics when it maps memory. It must
 * not start the device: a program may ask first and fork later. What no model
 * stands behind (temperature, power, clocks, NVLink) is answered "not
 * supported", as many real devices do; functions that are not here are missing,
 * which the bindings report. Functions, codes and structures: public NVML
 * documentation.
 */
#include "sim/device.h"
#include "sim/identity.h"
#include "sim/knobs.h"
#include "sim/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED(...)                                                                                                  \
	SIM_EXPORT __VA_ARGS__;                                                                                        \
	__VA_ARGS__

/* nvmlReturn_t: number and words. */
#define RESULTS(R)                                                                                                     \
	R(SUCCESS, 0, "Success")                                                                                       \
	R(ERROR_UNINITIALIZED, 1, "Uninitialized")                                                                     \
	R(ERROR_INVALID_ARGUMENT, 2, "Invalid Argument")                                                               \
	R(ERROR_NOT_SUPPORTED, 3, "Not Supported")                                                                     \
	R(ERROR_NOT_FOUND, 6, "Not Found")                                                                             \
	R(ERROR_INSUFFICIENT_SIZE, 7, "Insufficient Size")

#define RESULT_VALUE(name, number, words) NVML_##name = number,
enum { RESULTS(RESULT_VALUE) };

/* Written by a driver of the generation that speaks CUDA 13. */
static const char driver_version[] = "580.00.00";
static const char nvml_version[] = "13.580.00.00";

/* A device handle is opaque; ours are places in this array. */
static char handles[SIM_MAX_DEVICES];
static _Atomic int n_inits;

struct memory_v1 {
	unsigned long long total, free, used;
};

struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct pci_info {
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct process_v1 {
	unsigned pid;
	unsigned long long used;
};

struct process_v2 {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};

#define NO_INSTANCE 0xffffffffu /* the device is not divided */

EXPORTED(int nvmlInit_v2(void))
{
	n_inits++;
	return NVML_SUCCESS;
}

EXPORTED(int nvmlInit(void))
{
	return nvmlInit_v2();
}

EXPORTED(int nvmlInitWithFlags(unsigned flags))
{
	(void)flags;
	return nvmlInit_v2();
}

EXPORTED(int nvmlShutdown(void))
{
	if (n_inits <= 0)
		return NVML_ERROR_UNINITIALIZED;
	n_inits--;
	return NVML_SUCCESS;
}

EXPORTED(const char *nvmlErrorString(int result))
{
	switch (result) {
#define RESULT_CASE(name, number, words)                                                                               \
	case number:                                                                                                   \
		return words;
		RESULTS(RESULT_CASE)
	default:
		return "Unknown Error";
	}
}

/* Every answer below begins so: not before init, not without a place for it. */
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (n_inits <= 0)                                                                                      \
			return NVML_ERROR_UNINITIALIZED;                                                               \
		if (!(condition))                                                                                      \
			return NVML_ERROR_INVALID_ARGUMENT;                                                            \
	} while (0)

static int ordinal_of(const void *handle)
{
	const char *place = handle;

	return place >= handles && place < handles + sim_n_physical() ? (int)(place - handles) : -1;
}

static int give_text(char *out, unsigned bytes, const char *text)
{
	if (strlen(text) >= bytes)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_SUCCESS;
}

EXPORTED(int nvmlSystemGetDriverVersion(char *text, unsigned bytes))
{
	CHECK(text);
	return give_text(text, bytes, driver_version);
}

EXPORTED(int nvmlSystemGetNVMLVersion(char *text, unsigned bytes))
{
	CHECK(text);
	return give_text(text, bytes, nvml_version);
}

EXPORTED(int nvmlSystemGetCudaDriverVersion_v2(int *version))
{
	CHECK(version);
	*version = CUDA_VERSION;
	return NVML_SUCCESS;
}

EXPORTED(int nvmlSystemGetCudaDriverVersion(int *version))
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

EXPORTED(int nvmlDeviceGetCount_v2(unsigned *count))
{
	CHECK(count);
	*count = (unsigned)sim_n_physical();
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetCount(unsigned *count))
{
	return nvmlDeviceGetCount_v2(count);
}

EXPORTED(int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device))
{
	CHECK(device && index < (unsigned)sim_n_physical());
	*device = &handles[index];
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetHandleByIndex(unsigned index, void **device))
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

EXPORTED(int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device))
{
	unsigned domain, bus, slot, function;

	/* The domain has four digits here and eight there. */
	CHECK(bus_id && device && sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4);
	for (int i = 0; i < sim_n_physical(); i++) {
		if (domain == 0 && bus == SIM_PCI_BUS(i) && slot == 0 && function == 0) {
			*device = &handles[i];
			return NVML_SUCCESS;
		}
	}
	return NVML_ERROR_NOT_FOUND;
}

EXPORTED(int nvmlDeviceGetHandleByPciBusId(const char *bus_id, void **device))
{
	return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

EXPORTED(int nvmlDeviceGetUUID(const void *device, char *text, unsigned bytes))
{
	char uuid[SIM_UUID_TEXT_BYTES];
	int physical = ordinal_of(device);

	CHECK(physical >= 0 && text);
	sim_physical_uuid_text(physical, uuid);
	return give_text(text, bytes, uuid);
}

EXPORTED(int nvmlDeviceGetHandleByUUID(const char *text, void **device))
{
	char uuid[SIM_UUID_TEXT_BYTES];

	CHECK(text && device);
	for (int i = 0; i < sim_n_physical(); i++) {
		sim_physical_uuid_text(i, uuid);
		if (strcmp(uuid, text) == 0) {
			*device = &handles[i];
			return NVML_SUCCESS;
		}
	}
	return NVML_ERROR_NOT_FOUND;
}

EXPORTED(int nvmlDeviceGetIndex(const void *device, unsigned *index))
{
	int physical = ordinal_of(device);

	CHECK(physical >= 0 && index);
	*index = (unsigned)physical;
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetMinorNumber(const void *device, unsigned *minor))
{
	return nvmlDeviceGetIndex(device, minor);
}

EXPORTED(int nvmlDeviceGetName(const void *device, char *text, unsigned bytes))
{
	CHECK(ordinal_of(device) >= 0 && text);
	return give_text(text, bytes, SIM_DEVICE_NAME);
}

EXPORTED(int nvmlDeviceGetPciInfo_v3(const void *device, struct pci_info *info))
{
	int physical = ordinal_of(device);

	CHECK(physical >= 0 && info);
	*info = (struct pci_info){ .bus = SIM_PCI_BUS(physical) };
	snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "0000:%02X:00.0", (unsigned)(unsigned char)info->bus);
	snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus);
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetCudaComputeCapability(const void *device, int *major, int *minor))
{
	CHECK(ordinal_of(device) >= 0 && major && minor);
	*major = (int)(sim_knobs()->compute_capability / 10);
	*minor = (int)(sim_knobs()->compute_capability % 10);
	return NVML_SUCCESS;
}

/* What this process holds of it; other processes have simulated devices of their own. */
static struct memory_v1 memory_of(int physical)
{
	struct memory_v1 memory = { .total = sim_knobs()->memory, .free = sim_knobs()->memory };
	size_t free_bytes, total_bytes;

	if (sim_memory_info_of(physical, &free_bytes, &total_bytes)) {
		memory.total = total_bytes;
		memory.free = free_bytes;
		memory.used = total_bytes - free_bytes;
	}
	return memory;
}

EXPORTED(int nvmlDeviceGetMemoryInfo(const void *device, struct memory_v1 *memory))
{
	int physical = ordinal_of(device);

	CHECK(physical >= 0 && memory);
	*memory = memory_of(physical);
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetMemoryInfo_v2(const void *device, struct memory_v2 *memory))
{
	int physical = ordinal_of(device);

	CHECK(physical >= 0 && memory);
	struct memory_v1 of = memory_of(physical);
	memory->total = of.total;
	memory->reserved = 0;
	memory->free = of.free;
	memory->used = of.used;
	return NVML_SUCCESS;
}

/* Whether this process has memory there. */
static bool is_used(const void *device, unsigned long long *used)
{
	*used = memory_of(ordinal_of(device)).used;
	return *used > 0;
}

EXPORTED(int nvmlDeviceGetComputeRunningProcesses(const void *device, unsigned *n, struct process_v1 *processes))
{
	unsigned long long used;

	CHECK(ordinal_of(device) >= 0 && n && (processes || *n == 0));
	unsigned room = *n;
	*n = is_used(device, &used) ? 1 : 0;
	if (room < *n)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	if (*n)
		processes[0] = (struct process_v1){ (unsigned)getpid(), used };
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetComputeRunningProcesses_v2(const void *device, unsigned *n, struct process_v2 *processes))
{
	unsigned long long used;

	CHECK(ordinal_of(device) >= 0 && n && (processes || *n == 0));
	unsigned room = *n;
	*n = is_used(device, &used) ? 1 : 0;
	if (room < *n)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	if (*n)
		processes[0] = (struct process_v2){ (unsigned)getpid(), used, NO_INSTANCE, NO_INSTANCE };
	return NVML_SUCCESS;
}

EXPORTED(int nvmlDeviceGetComputeRunningProcesses_v3(const void *device, unsigned *n, struct process_v2 *processes))
{
	return nvmlDeviceGetComputeRunningProcesses_v2(device, n, processes);
}

EXPORTED(int nvmlDeviceGetP2PStatus(const void *device, const void *other, int index, int *status))
{
	(void)index;
	CHECK(ordinal_of(device) >= 0 && ordinal_of(other) >= 0 && status);
	*status = 0; /* NVML_P2P_STATUS_OK */
	return NVML_SUCCESS;
}

/* The part that all versions of the structure have. */
struct fabric_info {
	unsigned version; /* the caller's */
	unsigned char cluster_uuid[SIM_UUID_BYTES];
	int status;
	unsigned clique;
	unsigned char state;
};

/* No fabric is an answer: PyTorch takes a refusal for a failure. */
EXPORTED(int nvmlDeviceGetGpuFabricInfoV(const void *device, struct fabric_info *info))
{
	CHECK(ordinal_of(device) >= 0 && info);
	memset(info->cluster_uuid, 0, sizeof info->cluster_uuid);
	info->status = NVML_SUCCESS;
	info->clique = 0;
	info->state = 0; /* NVML_GPU_FABRIC_STATE_NOT_SUPPORTED */
	return NVML_SUCCESS;
}

/* What no model stands behind. */
#define NOT_SUPPORTED(name, ...)                                                                                       \
	EXPORTED(int name(const void *device, __VA_ARGS__))                                                            \
	{                                                                                                              \
		CHECK(ordinal_of(device) >= 0);                                                                        \
		return NVML_ERROR_NOT_SUPPORTED;                                                                       \
	}
#define A_PLACE __attribute__((unused)) void *place
#define A_NUMBER __attribute__((unused)) unsigned number
NOT_SUPPORTED(nvmlDeviceGetUtilizationRates, A_PLACE)
NOT_SUPPORTED(nvmlDeviceGetTemperature, A_NUMBER, A_PLACE)
NOT_SUPPORTED(nvmlDeviceGetPowerUsage, A_PLACE)
NOT_SUPPORTED(nvmlDeviceGetClockInfo, A_NUMBER, A_PLACE)
NOT_SUPPORTED(nvmlDeviceGetNvLinkState, A_NUMBER, A_PLACE)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemoteDeviceType, A_NUMBER, A_PLACE)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo_v2, A_NUMBER, A_PLACE)
