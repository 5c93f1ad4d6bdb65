/* SPDX-License-Identifier: Apache-2.0 */
/* by_name.c - a library that links no CUDA and finds the driver by dlopen and dlsym */
#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) int plugin_by_name(int n);

int plugin_by_name(int n)
{
	union {
		void *object;
		CUresult (*function)(void);
	} synchronize = { NULL };
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);

	if (driver)
		synchronize.object = dlsym(driver, "cuCtxSynchronize");
	for (int i = 0; synchronize.object && i < n; i++)
		if (synchronize.function() != CUDA_SUCCESS)
			return 2;
	return synchronize.object ? 0 : 1;
}
