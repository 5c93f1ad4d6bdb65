/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor.c - refusals of the NVIDIA libraries that are only stubs
 */
#include "sim/vendor.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sim/say.h"

/* What a user can do instead; the first stem that begins the name of the library, after "lib", counts. */
static const struct {
	const char *stem;
	const char *advice;
} table[] = {
	{ "cudnn", "set torch.backends.cudnn.enabled = False, or choose another attention backend" },
	{ "cufft", "keep FFTs on the CPU in the simulated run" },
	{ "cusolver", "keep dense solvers and decompositions on the CPU in the simulated run" },
	{ "cusparse", "keep sparse tensors on the CPU in the simulated run" },
	{ "cublas", "keep this operation on the CPU in the simulated run" },
	{ "nccl", "use the gloo backend in the simulated run" },
	{ "nvshmem", "do without symmetric memory in the simulated run" },
	{ "nvrtc", "nothing can be compiled for the device: do without jiterator and fused kernels" },
	{ "cupti", "profile without CUDA activities" },
	{ "cufile", "read and write files without GPUDirect Storage" },
};

/* Functions are named like their library, so the name of either will do. */
static const char *advice_for(const char *name)
{
	size_t i;

	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(name, table[i].stem, strlen(table[i].stem)) == 0)
			return table[i].advice;
	}
	return "do without it in the simulated run";
}

/* A stub passes the same string each time, so its address tells functions apart. */
static bool is_first(const char *function)
{
	static const char *seen[1024];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static size_t n_seen;
	bool is_new = true;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n_seen && is_new; i++)
		is_new = seen[i] != function;
	if (is_new && n_seen < sizeof(seen) / sizeof(seen[0]))
		seen[n_seen++] = function;
	else
		is_new = false;
	pthread_mutex_unlock(&lock);
	return is_new;
}

int sim_refuse_vendor(const char *library, const char *function)
{
	if (!is_first(function))
		return 0;
	if (strcmp(library, "libsynctally_extras.so") == 0)
		sim_say("%s: the simulated device does not have this function, the call fails; %s", function,
		        advice_for(function));
	else
		sim_say("%s (%s): the simulated device has only a stub of this library, the call fails; %s", function,
		        library, advice_for(library));
	return 0;
}
