/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_proc.c - libcuda: how programs find the rest of it, and what went wrong in words */
#include "sim/cuda_face.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "sim/refusals.h"

/* Index of the first row of that name, or sim_n_procs. */
static unsigned first_of(const char *name)
{
	unsigned low = 0, high = sim_n_procs;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		if (strcmp(sim_procs[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The newest form that existed in the caller's CUDA version, in the spelling asked for if there is one. */
static const struct sim_proc *best_of(const char *name, int version, bool is_per_thread)
{
	const struct sim_proc *best = NULL;

	for (unsigned i = first_of(name); i < sim_n_procs && strcmp(sim_procs[i].name, name) == 0; i++) {
		const struct sim_proc *proc = &sim_procs[i];
		if (proc->version > version || (proc->is_per_thread && !is_per_thread))
			continue;
		if (!best || proc->is_per_thread >= best->is_per_thread)
			best = proc;
	}
	return best;
}

SIM_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **address, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult *status)
{
	if (!name || !address)
		return CUDA_ERROR_INVALID_VALUE;
	const struct sim_proc *proc = best_of(name, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
	unsigned first = first_of(name);
	bool is_known = first < sim_n_procs && strcmp(sim_procs[first].name, name) == 0;
	if (status)
		*status = proc       ? CU_GET_PROC_ADDRESS_SUCCESS
		          : is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
		                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	/* ISO C has no conversion from a function pointer; POSIX promises that the bytes are the same. */
	if (proc)
		memcpy(address, &proc->address, sizeof *address);
	else
		*address = NULL;
	return proc ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SIM_EXPORT CUresult cuGetProcAddress(const char *name, void **address, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(name, address, version, flags, NULL);
}

/* Says, once, whose calls will fail. The linker for device code asks too, and does without. */
static void explain_no_tables(const void *caller)
{
	static atomic_flag is_said = ATOMIC_FLAG_INIT;
	Dl_info asker = { .dli_fname = NULL };

	dladdr(caller, &asker);
	const char *path = asker.dli_fname ? asker.dli_fname : "the program";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (strncmp(name, "libnvJitLink", strlen("libnvJitLink")) == 0 || atomic_flag_test_and_set(&is_said))
		return;
	sim_say("cuGetExportTable: %s seems to have a CUDA runtime linked in, which wants undocumented tables; the "
	        "simulated device has only the shared libcudart, and calls of this one fail with error 500",
	        name);
}

/* The tables behind this are private to the vendor's own libraries: not simulated, by rule. */
SIM_EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	(void)id;
	explain_no_tables(__builtin_return_address(0));
	if (table)
		*table = NULL;
	return CUDA_ERROR_NOT_FOUND;
}

static const struct {
	CUresult code;
	const char *name;
	const char *text;
} errors[] = {
#define SIM_ERROR(code, driver_name, runtime_name, text) { (CUresult)code, driver_name, text },
#include "sim/errors.def"
#undef SIM_ERROR
};

enum { N_ERRORS = sizeof errors / sizeof errors[0] };

SIM_EXPORT CUresult cuGetErrorString(CUresult code, const char **text)
{
	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = NULL;
	for (unsigned i = 0; i < N_ERRORS && !*text; i++)
		if (errors[i].code == code)
			*text = errors[i].text;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuGetErrorName(CUresult code, const char **name)
{
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = NULL;
	for (unsigned i = 0; i < N_ERRORS && !*name; i++)
		if (errors[i].code == code)
			*name = errors[i].name;
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_EXPORT CUresult cuProfilerStart(void);
SIM_EXPORT CUresult cuProfilerStart(void)
{
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuProfilerStop(void);
SIM_EXPORT CUresult cuProfilerStop(void)
{
	return CUDA_SUCCESS;
}

/* The device writes no log, so nobody is ever called. */
SIM_EXPORT CUresult cuLogsRegisterCallback(CUlogsCallback func, void *data, CUlogsCallbackHandle *handle)
{
	(void)func;
	(void)data;
	if (handle)
		*handle = NULL;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
	(void)handle;
	return CUDA_SUCCESS;
}
