/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/ipc.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/device.h"
#include "sim/event.h"
#include "sim/event_share.h"
#include "sim/memory.h"
#include "sim/readback.h"
#include "sim/vmm.h"

#define MAGIC UINT64_C(0x636970696d697379) /* "ysimipic", also the version */

enum kind { KIND_MEMORY = 1, KIND_EVENT = 2 };

struct handle {
	uint64_t magic;
	uint32_t kind;
	uint32_t physical; /* the device */
	int32_t pid;
	int32_t fd;
	uint64_t offset;
	uint64_t bytes;
};

_Static_assert(sizeof(struct handle) <= sizeof(CUipcMemHandle), "fits what the program carries");
_Static_assert(sizeof(struct handle) <= sizeof(CUipcEventHandle), "fits what the program carries");

/* The exporter's file, if the number still is one of ours; -1 if not. */
static int open_file(const struct handle *handle)
{
	static const char ours[] = "/memfd:synctally-sim";
	char path[64], target[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->fd);
	ssize_t n = readlink(path, target, sizeof target);
	if (n < (ssize_t)sizeof ours - 1 || memcmp(target, ours, sizeof ours - 1) != 0)
		return -1;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || handle->offset > (uint64_t)st.st_size ||
	    handle->bytes > (uint64_t)st.st_size - handle->offset) {
		close(fd);
		return -1;
	}
	return fd;
}

CUresult sim_ipc_export_memory(CUipcMemHandle *into, uintptr_t address)
{
	const struct sim_device *device = sim_device_of(address);
	const struct sim_range *block = device ? sim_device_memory_find(&device->memory, address) : NULL;

	if (!block || SIM_BLOCK_KIND(block->tag) != SIM_BLOCK_PLAIN)
		return CUDA_ERROR_INVALID_VALUE;
	struct handle handle = { .magic = MAGIC,
		                 .kind = KIND_MEMORY,
		                 .physical = (uint32_t)device->physical,
		                 .pid = getpid(),
		                 .fd = device->memory.fd,
		                 .offset = block->base - device->memory.base,
		                 .bytes = block->bytes };
	memset(into, 0, sizeof *into);
	memcpy(into, &handle, sizeof handle);
	return CUDA_SUCCESS;
}

/* The device with that number on the machine; the current one where this process does not see it. */
static struct sim_device *find_device(uint32_t physical)
{
	for (int i = 0; i < sim_n_devices(); i++)
		if (sim_device(i)->physical == (int)physical)
			return sim_device(i);
	return sim_device_current();
}

CUresult sim_ipc_import_memory(uintptr_t *address, const CUipcMemHandle *from)
{
	struct handle handle;

	memcpy(&handle, from, sizeof handle);
	if (handle.magic != MAGIC || handle.kind != KIND_MEMORY)
		return CUDA_ERROR_INVALID_VALUE;
	if (handle.pid == getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	int fd = open_file(&handle);
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sim_vmm_import(address, handle.bytes, find_device(handle.physical), fd, handle.offset);
	close(fd);
	/* What the other process has put there is shown as it is. */
	if (result == CUDA_SUCCESS)
		sim_readback_note_write(*address, handle.bytes, true);
	return result;
}

CUresult sim_ipc_close_memory(uintptr_t address)
{
	return sim_vmm_end_import(address);
}

CUresult sim_ipc_export_event(CUipcEventHandle *into, CUevent event)
{
	int fd;
	CUresult result = sim_event_shared_file(event, &fd);

	if (result != CUDA_SUCCESS)
		return result;
	if (fd < 0) {
		fd = memfd_create("synctally-sim-event", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, sizeof(struct sim_event_page)) != 0) {
			if (fd >= 0)
				close(fd);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		void *page = mmap(NULL, sizeof(struct sim_event_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		result = page == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : sim_event_share(event, page, fd);
		if (result != CUDA_SUCCESS) {
			close(fd);
			return result;
		}
	}
	struct handle handle = {
		.magic = MAGIC, .kind = KIND_EVENT, .pid = getpid(), .fd = fd, .bytes = sizeof(struct sim_event_page)
	};
	memset(into, 0, sizeof *into);
	memcpy(into, &handle, sizeof handle);
	return CUDA_SUCCESS;
}

CUresult sim_ipc_import_event(CUevent *event, const CUipcEventHandle *from)
{
	struct handle handle;

	memcpy(&handle, from, sizeof handle);
	if (handle.magic != MAGIC || handle.kind != KIND_EVENT)
		return CUDA_ERROR_INVALID_VALUE;
	int fd = open_file(&handle);
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	void *page = mmap(NULL, sizeof(struct sim_event_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CUresult result = page == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
	if (result == CUDA_SUCCESS)
		result = sim_event_create_locked(event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	if (result == CUDA_SUCCESS)
		return sim_event_share(*event, page, fd);
	if (page != MAP_FAILED)
		munmap(page, sizeof(struct sim_event_page));
	close(fd);
	return result;
}
