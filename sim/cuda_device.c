/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.c - libcuda: what there is, and what it says about itself */
#include "sim/cuda_face.h"

#include <stdio.h>
#include <string.h>

#include "sim/device.h"
#include "sim/identity.h"

static CUresult check(const void *out, CUdevice device)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

SIM_EXPORT CUresult cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = CUDA_VERSION;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDeviceGetCount(int *count)
{
	SIM_TOUCH();
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sim_n_devices();
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	SIM_TOUCH();
	CUresult result = check(device, ordinal);
	if (result == CUDA_SUCCESS)
		*device = ordinal;
	return result;
}

SIM_EXPORT CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
	SIM_TOUCH();
	CUresult result = bytes > 0 ? check(name, device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		snprintf(name, (size_t)bytes, "%s", SIM_DEVICE_NAME);
	return result;
}

SIM_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	SIM_TOUCH();
	CUresult result = check(uuid, device);
	if (result == CUDA_SUCCESS)
		sim_physical_uuid(sim_device(device)->physical, (unsigned char *)uuid->bytes);
	return result;
}

SIM_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	return cuDeviceGetUuid_v2(uuid, device);
}

SIM_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	SIM_TOUCH();
	CUresult result = check(bytes, device);
	if (result == CUDA_SUCCESS)
		*bytes = sim_device(device)->memory.bytes;
	return result;
}

SIM_EXPORT CUresult cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device)
{
	SIM_TOUCH();
	CUresult result = bytes > 0 ? check(text, device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		snprintf(text, (size_t)bytes, "0000:%02x:00.0", SIM_PCI_BUS(sim_device(device)->physical));
	return result;
}

SIM_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
	unsigned domain = 0, bus, slot;

	SIM_TOUCH();
	if (!device || !text ||
	    (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 && sscanf(text, "%x:%x", &bus, &slot) != 2))
		return CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < sim_n_devices(); i++) {
		if (domain == 0 && slot == 0 && bus == SIM_PCI_BUS(sim_device(i)->physical)) {
			*device = i;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	SIM_TOUCH();
	CUresult result = check(value, device);
	if (result != CUDA_SUCCESS)
		return result;
	switch ((int)attribute) {
#define SIM_ATTRIBUTE(name, answer)                                                                                    \
	case CU_DEVICE_ATTRIBUTE_##name:                                                                               \
		*value = answer;                                                                                       \
		break;
#include "sim/device_attributes.def"
#undef SIM_ATTRIBUTE
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);

	if (result == CUDA_SUCCESS)
		result = cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	return result;
}

SIM_EXPORT CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice device)
{
	SIM_TOUCH();
	CUresult result = check(prop, device);
	if (result != CUDA_SUCCESS)
		return result;
	*prop = (CUdevprop){ .maxThreadsPerBlock = 1024,
		             .maxThreadsDim = { 1024, 1024, 64 },
		             .maxGridSize = { 2147483647, 65535, 65535 },
		             .sharedMemPerBlock = 49152,
		             .totalConstantMemory = 65536,
		             .SIMDWidth = 32,
		             .memPitch = 2147483647,
		             .regsPerBlock = 65536,
		             .clockRate = 2520000,
		             .textureAlign = 512 };
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	SIM_TOUCH();
	CUresult result = check(can, device);
	if (result == CUDA_SUCCESS)
		result = check(can, peer);
	if (result == CUDA_SUCCESS)
		*can = device != peer;
	return result;
}

SIM_EXPORT CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer)
{
	SIM_TOUCH();
	CUresult result = check(value, device);
	if (result == CUDA_SUCCESS)
		result = device == peer ? CUDA_ERROR_INVALID_DEVICE : check(value, peer);
	if (result == CUDA_SUCCESS)
		*value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
	return result;
}
