/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_module.c - libcuda: modules, libraries, functions, launches, occupancy
 *
 * Code is not read: any name a program asks a module for is a function of that
 * name. Variables are as long as a cubin says; in other images any name is one
 * of GLOBAL_BYTES. Modules and libraries are one thing, and so are functions
 * and kernels.
 */
#include "sim/cuda_face.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cuda_image.h"
#include "sim/kernel.h"
#include "sim/memory.h"

/* Untouched pages cost nothing, so a variable may be given more room than it needs. */
#define GLOBAL_BYTES ((size_t)1 << 20)

enum { MAX_BLOCK_THREADS = 1024, SM_THREADS = 1536, SM_BLOCKS = 24, WARP = 32, REGISTERS = 32 };

struct global {
	struct global *next;
	uintptr_t address; /* 0 until somebody asks */
	size_t bytes;
	char name[];
};

struct module {
	struct module *next;
	struct global *globals;
};

/* Guards the list of loaded modules and the variables of each. */
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
static struct module *modules;

static int add_global(void *module, const char *name, size_t bytes)
{
	struct module *m = module;
	struct global *g = malloc(sizeof *g + strlen(name) + 1);

	if (!g)
		return CUDA_ERROR_OUT_OF_MEMORY;
	g->address = 0;
	g->bytes = bytes;
	strcpy(g->name, name);
	g->next = m->globals;
	m->globals = g;
	return CUDA_SUCCESS;
}

static void free_module(struct module *m)
{
	while (m->globals) {
		struct global *next = m->globals->next;

		if (m->globals->address)
			sim_memory_free_device(m->globals->address);
		free(m->globals);
		m->globals = next;
	}
	free(m);
}

static CUresult load(void **module, const void *image)
{
	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	struct module *m = calloc(1, sizeof *m);
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (sim_image_variables(image, add_global, m) != 0) {
		free_module(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&modules_lock);
	m->next = modules;
	modules = m;
	pthread_mutex_unlock(&modules_lock);
	*module = m;
	return CUDA_SUCCESS;
}

static CUresult unload(const void *module)
{
	pthread_mutex_lock(&modules_lock);
	struct module **link = &modules;
	while (*link && *link != module)
		link = &(*link)->next;
	struct module *m = *link;
	if (m)
		*link = m->next;
	pthread_mutex_unlock(&modules_lock);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	free_module(m);
	return CUDA_SUCCESS;
}

static CUresult load_file(void **module, const char *path)
{
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	return access(path, R_OK) == 0 ? load(module, "") : CUDA_ERROR_FILE_NOT_FOUND;
}

static CUresult function_named(struct sim_function **function, const void *module, const char *name)
{
	if (!function || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	struct sim_function *f = sim_function_of_name(name);
	if (!f)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*function = f;
	return CUDA_SUCCESS;
}

/* The variable, with memory. NULL without. Called with the lock held. */
static struct global *find_global(struct module *m, const char *name)
{
	struct global *g = m->globals;

	while (g && strcmp(g->name, name) != 0)
		g = g->next;
	if (!g && add_global(m, name, GLOBAL_BYTES) == CUDA_SUCCESS)
		g = m->globals;
	if (g && !g->address && sim_memory_alloc_device(&g->address, g->bytes) != CUDA_SUCCESS)
		return NULL;
	return g;
}

static CUresult global_named(CUdeviceptr *ptr, size_t *bytes, void *module, const char *name)
{
	struct module *m = module;

	if (!m || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&modules_lock);
	struct global *g = find_global(m, name);
	pthread_mutex_unlock(&modules_lock);
	if (!g)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (ptr)
		*ptr = g->address;
	if (bytes)
		*bytes = g->bytes;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *path)
{
	SIM_TOUCH();
	return load_file((void **)module, path);
}

SIM_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	SIM_TOUCH();
	return load((void **)module, image);
}

SIM_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options,
                                       void **values)
{
	SIM_TOUCH();
	(void)n;
	(void)options;
	(void)values;
	return load((void **)module, image);
}

SIM_EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	SIM_TOUCH();
	return load((void **)module, image);
}

SIM_EXPORT CUresult cuModuleUnload(CUmodule module)
{
	SIM_TOUCH();
	return unload(module);
}

SIM_EXPORT CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	SIM_TOUCH();
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	SIM_TOUCH();
	return function_named((struct sim_function **)function, module, name);
}

SIM_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
	SIM_TOUCH();
	return global_named(ptr, bytes, module, name);
}

SIM_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values,
                                      unsigned n_jit, CUlibraryOption *options, void **values, unsigned n)
{
	SIM_TOUCH();
	(void)jit;
	(void)jit_values;
	(void)n_jit;
	(void)options;
	(void)values;
	(void)n;
	return load((void **)library, code);
}

SIM_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit, void **jit_values,
                                          unsigned n_jit, CUlibraryOption *options, void **values, unsigned n)
{
	SIM_TOUCH();
	(void)jit;
	(void)jit_values;
	(void)n_jit;
	(void)options;
	(void)values;
	(void)n;
	return load_file((void **)library, path);
}

SIM_EXPORT CUresult cuLibraryUnload(CUlibrary library)
{
	SIM_TOUCH();
	return unload(library);
}

SIM_EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	SIM_TOUCH();
	return function_named((struct sim_function **)kernel, library, name);
}

SIM_EXPORT CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	SIM_TOUCH();
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	*module = (CUmodule)library;
	return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
	SIM_TOUCH();
	return global_named(ptr, bytes, library, name);
}

SIM_EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	SIM_TOUCH();
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	*function = (CUfunction)kernel;
	return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult name_of(const char **name, const void *function)
{
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = function ? sim_function_name(function) : NULL;
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_EXPORT CUresult cuFuncGetName(const char **name, CUfunction function)
{
	SIM_TOUCH();
	return name_of(name, function);
}

SIM_EXPORT CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
	SIM_TOUCH();
	return name_of(name, kernel);
}

/* No kernel is newer than the device. */
static int kernel_arch(void)
{
	const struct sim_knobs *knobs = sim_knobs();

	return (int)(knobs->kernel_arch < knobs->compute_capability ? knobs->kernel_arch : knobs->compute_capability);
}

static CUresult attribute_of(int *value, CUfunction_attribute attribute, const void *function)
{
	if (!value || !function)
		return value ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	switch ((int)attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = MAX_BLOCK_THREADS;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = REGISTERS;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = kernel_arch();
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = 49152;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*value = -1;
		break;
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	SIM_TOUCH();
	return attribute_of(value, attribute, function);
}

SIM_EXPORT CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
	SIM_TOUCH();
	(void)device;
	return attribute_of(value, attribute, kernel);
}

/* What follows tunes kernels that compute; it is accepted and changes nothing. */
SIM_EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	SIM_TOUCH();
	(void)attribute;
	(void)value;
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_EXPORT CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
	SIM_TOUCH();
	(void)attribute;
	(void)value;
	(void)device;
	return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
	SIM_TOUCH();
	(void)config;
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_EXPORT CUresult cuFuncLoad(CUfunction function)
{
	SIM_TOUCH();
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_EXPORT CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
	SIM_TOUCH();
	if (!state || !function)
		return state ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*state = CU_FUNCTION_LOADING_STATE_LOADED;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, CUfunction function, int block,
                                                                         size_t shared_bytes, unsigned flags)
{
	SIM_TOUCH();
	(void)shared_bytes;
	(void)flags;
	if (!n || !function || block <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	int warps = (block + WARP - 1) / WARP;
	*n = SM_THREADS / WARP / warps;
	if (*n > SM_BLOCKS)
		*n = SM_BLOCKS;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction function, int block,
                                                                size_t shared_bytes)
{
	return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, function, block, shared_bytes, 0);
}

SIM_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction function,
                                                     CUoccupancyB2DSize size_of_block, size_t shared_bytes, int limit)
{
	SIM_TOUCH();
	(void)size_of_block;
	(void)shared_bytes;
	if (!min_grid || !block || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*block = limit > 0 && limit < MAX_BLOCK_THREADS ? limit : MAX_BLOCK_THREADS;
	*min_grid = (int)sim_knobs()->sm_count;
	return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, const struct sim_launch_config *config, void **params)
{
	uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
	uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];

	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (threads == 0 || threads > MAX_BLOCK_THREADS || blocks == 0)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_launch((struct sim_function *)function, config, params);
}

CUresult sim_cuLaunchKernel(CUfunction func, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                            void **extra)
{
	struct sim_launch_config config = {
		{ grid_x, grid_y, grid_z }, { block_x, block_y, block_z }, shared_bytes, stream
	};

	(void)extra;
	return launch(func, &config, params);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction func, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                       CUstream stream, void **params)
{
	return sim_cuLaunchKernel(func, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params,
	                          NULL);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction func, void **params, void **extra)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_cuLaunchKernel(func, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
	                          c->sharedMemBytes, c->hStream, params, extra);
}
