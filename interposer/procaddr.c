/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/procaddr.h"

#include "interposer/compiler.h"
#include "interposer/dl.h"
#include "interposer/real.h"
#include "interposer/undisturbed.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* The header maps the plain name to the _v2 symbol; both are exported symbols of libcuda. */
#undef cuGetProcAddress

typedef CUresult (*proc_v1_fn)(const char *symbol, void **function, int version, cuuint64_t flags);
typedef CUresult (*proc_v2_fn)(const char *symbol, void **function, int version, cuuint64_t flags,
                               CUdriverProcAddressQueryResult *status);

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);

static void *real_v1, *real_v2; /* atomic */

/* Between object and function pointers, as POSIX asks of dlsym's callers. */
union proc {
	void *object;
	proc_v1_fn v1;
	proc_v2_fn v2;
};

static void *find_real(const char *name)
{
	struct sy_undisturbed saved;
	void *at;

	sy_undisturbed_begin(&saved);
	if (!sy_real_dlsym)
		sy_dl_init();
	at = sy_libc_dlsym(RTLD_NEXT, name);
	if (!at) {
		void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

		at = handle ? sy_libc_dlsym(handle, name) : NULL;
		(void)dlerror(); /* the failed look-up was ours, not the program's */
	}
	sy_undisturbed_end(&saved);
	return at;
}

/* The out-parameter is touched only where the driver has filled it. */
static void replace(CUresult result, const char *symbol, void **function, int version, cuuint64_t flags)
{
	bool is_per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;

	if (result == CUDA_SUCCESS && symbol && function && *function)
		*function = sy_real_replace_proc(symbol, version, is_per_thread, *function);
}

SY_EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
	union proc real = { __atomic_load_n(&real_v1, __ATOMIC_RELAXED) };
	CUresult result;

	if (!real.object)
		real.object = find_real("cuGetProcAddress");
	if (!real.object)
		return CUDA_ERROR_NOT_SUPPORTED;
	result = real.v1(symbol, function, version, flags);
	replace(result, symbol, function, version, flags);
	return result;
}

SY_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                       CUdriverProcAddressQueryResult *status)
{
	union proc real = { __atomic_load_n(&real_v2, __ATOMIC_RELAXED) };
	CUresult result;

	if (!real.object)
		real.object = find_real("cuGetProcAddress_v2");
	if (!real.object)
		return CUDA_ERROR_NOT_SUPPORTED;
	result = real.v2(symbol, function, version, flags, status);
	replace(result, symbol, function, version, flags);
	return result;
}

/* Makes `found` the true function of an entry unless another one already is; returns whether it is now. */
static bool adopt(void **real, void *found)
{
	void *expected = NULL;

	if (__atomic_compare_exchange_n(real, &expected, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		sy_real_keep(found);
	return !expected || expected == found;
}

void *sy_procaddr_replace(const char *name, void *found)
{
	union proc ours = { found };
	void **real = NULL;

	if (strcmp(name, "cuGetProcAddress_v2") == 0) {
		ours.v2 = cuGetProcAddress_v2;
		real = &real_v2;
	} else if (strcmp(name, "cuGetProcAddress") == 0) {
		ours.v1 = cuGetProcAddress;
		real = &real_v1;
	}
	return real && found != ours.object && adopt(real, found) ? ours.object : found;
}
