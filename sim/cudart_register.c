/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart_register.c - libcudart: what nvcc's start-up code and <<< >>> call
 *
 * A fat binary becomes a driver library when something in it is first used;
 * a host stub or shadow variable becomes a name in it.
 */
#include "sim/cudart_face.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/kernel.h"
#include "sim/say.h"

struct entry;

struct binary {
	const void *image;
	CUlibrary library;     /* NULL until first used */
	struct entry *entries; /* all of its stubs and variables */
};

/* A host stub of a kernel, or the host shadow of a variable. */
struct entry {
	struct entry *next; /* in its bucket */
	struct entry *next_of_binary;
	const void *host;
	struct binary *binary;
	const char *name; /* in the program's own data */
	size_t bytes;     /* of a variable; 0 for a kernel */
	CUkernel kernel;  /* NULL until first used */
};

enum { FIRST_BUCKETS = 4096, MAX_NESTED_CONFIGURATIONS = 64 };

static struct {
	pthread_mutex_t lock;
	struct entry **buckets;
	size_t n_buckets;
	size_t n;
	struct binary host_kernels; /* what C programs registered with synctally_sim.h */
} known = { .lock = PTHREAD_MUTEX_INITIALIZER, .host_kernels = { .image = "host functions" } };

static size_t bucket_of(const void *host, size_t n_buckets)
{
	return (size_t)(((uintptr_t)host >> 4) * 0x9E3779B97F4A7C15u >> 32) & (n_buckets - 1);
}

static void grow(void)
{
	size_t n_buckets = known.n_buckets ? 2 * known.n_buckets : FIRST_BUCKETS;
	struct entry **buckets = calloc(n_buckets, sizeof(*buckets));

	if (!buckets)
		return;
	for (size_t i = 0; i < known.n_buckets; i++) {
		while (known.buckets[i]) {
			struct entry *e = known.buckets[i];
			known.buckets[i] = e->next;
			e->next = buckets[bucket_of(e->host, n_buckets)];
			buckets[bucket_of(e->host, n_buckets)] = e;
		}
	}
	free(known.buckets);
	known.buckets = buckets;
	known.n_buckets = n_buckets;
}

static void add(const void *host, void **handle, const char *name, size_t bytes)
{
	struct binary *binary = (struct binary *)handle;
	struct entry *e = malloc(sizeof *e);

	if (!e || !binary) {
		free(e);
		return;
	}
	pthread_mutex_lock(&known.lock);
	if (known.n >= known.n_buckets)
		grow();
	if (known.n_buckets) {
		struct entry **bucket = &known.buckets[bucket_of(host, known.n_buckets)];
		*e = (struct entry){ *bucket, binary->entries, host, binary, name, bytes, NULL };
		*bucket = e;
		binary->entries = e;
		known.n++;
		e = NULL;
	}
	pthread_mutex_unlock(&known.lock);
	free(e);
}

static struct entry *find(const void *host)
{
	struct entry *e = known.n_buckets ? known.buckets[bucket_of(host, known.n_buckets)] : NULL;

	while (e && e->host != host)
		e = e->next;
	return e;
}

static CUresult load(struct binary *binary)
{
	if (binary->library)
		return CUDA_SUCCESS;
	return rt_driver()->cuLibraryLoadData[0](&binary->library, binary->image, NULL, NULL, 0, NULL, NULL, 0);
}

static CUresult host_kernel(CUkernel *kernel, const char *name)
{
	/* A name is one string for good (kernel.h), and so is its kernel. */
	static struct {
		const char *name;
		CUkernel kernel;
	} last[256];
	size_t i = ((uintptr_t)name >> 5) % (sizeof last / sizeof last[0]);

	if (last[i].name != name) {
		CUkernel found;
		CUresult result = load(&known.host_kernels);
		if (result == CUDA_SUCCESS)
			result = rt_driver()->cuLibraryGetKernel[0](&found, known.host_kernels.library, name);
		if (result != CUDA_SUCCESS)
			return result;
		last[i].name = name;
		last[i].kernel = found;
	}
	*kernel = last[i].kernel;
	return CUDA_SUCCESS;
}

cudaError_t rt_kernel_of_stub(CUkernel *kernel, const void *stub)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&known.lock);
	struct entry *e = find(stub);
	const char *name = e ? NULL : sim_kernel_name_of_stub(stub);
	if (e && !e->kernel) {
		result = load(e->binary);
		if (result == CUDA_SUCCESS)
			result = rt_driver()->cuLibraryGetKernel[0](&e->kernel, e->binary->library, e->name);
	}
	if (e && result == CUDA_SUCCESS)
		*kernel = e->kernel;
	if (name)
		result = host_kernel(kernel, name);
	pthread_mutex_unlock(&known.lock);
	return e || name ? rt_error(result) : cudaErrorInvalidDeviceFunction;
}

const void *rt_stub_of_kernel(CUfunction kernel)
{
	const void *stub = NULL;
	const char *name;

	pthread_mutex_lock(&known.lock);
	for (size_t i = 0; i < known.n_buckets && !stub; i++)
		for (const struct entry *e = known.buckets[i]; e && !stub; e = e->next)
			if (e->kernel && (CUfunction)e->kernel == kernel)
				stub = e->host;
	pthread_mutex_unlock(&known.lock);
	if (stub || rt_driver()->cuFuncGetName[0](&name, kernel) != CUDA_SUCCESS)
		return stub;
	return sim_kernel_stub_of_name(name);
}

cudaError_t rt_address_of_symbol(CUdeviceptr *address, size_t *bytes, const void *symbol)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&known.lock);
	struct entry *e = find(symbol);
	if (e) {
		*bytes = e->bytes;
		result = load(e->binary);
		if (result == CUDA_SUCCESS)
			result = rt_driver()->cuLibraryGetGlobal[0](address, NULL, e->binary->library, e->name);
	}
	pthread_mutex_unlock(&known.lock);
	return e ? rt_error(result) : cudaErrorInvalidSymbol;
}

SIM_EXPORT void **__cudaRegisterFatBinary(void *image);
SIM_EXPORT void **__cudaRegisterFatBinary(void *image)
{
	struct binary *binary = calloc(1, sizeof *binary);

	if (binary)
		binary->image = image;
	return (void **)binary;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **binary);
SIM_EXPORT void __cudaRegisterFatBinaryEnd(void **binary)
{
	(void)binary;
}

static void remove_entry(struct entry *e)
{
	struct entry **link = &known.buckets[bucket_of(e->host, known.n_buckets)];

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
	free(e);
	known.n--;
}

/* The program's code goes away: forget its stubs. Launches in flight do not need the library. */
SIM_EXPORT void __cudaUnregisterFatBinary(void **handle);
SIM_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	struct binary *binary = (struct binary *)handle;

	if (!binary)
		return;
	pthread_mutex_lock(&known.lock);
	while (binary->entries) {
		struct entry *next = binary->entries->next_of_binary;
		remove_entry(binary->entries);
		binary->entries = next;
	}
	pthread_mutex_unlock(&known.lock);
	if (binary->library)
		rt_driver()->cuLibraryUnload[0](binary->library);
	free(binary);
}

SIM_EXPORT char __cudaInitModule(void **binary);
SIM_EXPORT char __cudaInitModule(void **binary)
{
	(void)binary;
	return 1;
}

SIM_EXPORT void __cudaRegisterFunction(void **binary, const char *stub, char *device_stub, const char *name, int limit,
                                       uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
SIM_EXPORT void __cudaRegisterFunction(void **binary, const char *stub, char *device_stub, const char *name, int limit,
                                       uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)device_stub;
	(void)limit;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp;
	add(stub, binary, name, 0);
}

SIM_EXPORT void __cudaRegisterVar(void **binary, char *shadow, char *device_address, const char *name, int is_extern,
                                  size_t bytes, int is_constant, int is_global);
SIM_EXPORT void __cudaRegisterVar(void **binary, char *shadow, char *device_address, const char *name, int is_extern,
                                  size_t bytes, int is_constant, int is_global)
{
	(void)device_address;
	(void)is_extern;
	(void)is_constant;
	(void)is_global;
	add(shadow, binary, name, bytes);
}

SIM_EXPORT void __cudaRegisterManagedVar(void **binary, void **shadow, char *device_address, const char *name,
                                         int is_extern, size_t bytes, int is_constant, int is_global);
SIM_EXPORT void __cudaRegisterManagedVar(void **binary, void **shadow, char *device_address, const char *name,
                                         int is_extern, size_t bytes, int is_constant, int is_global)
{
	(void)binary;
	(void)shadow;
	(void)device_address;
	(void)name;
	(void)is_extern;
	(void)bytes;
	(void)is_constant;
	(void)is_global;
	sim_refuse("__managed__ variables");
}

/* A launch configuration on its way from <<< >>> to the stub. */
struct configuration {
	dim3 grid;
	dim3 block;
	size_t shared_bytes;
	struct CUstream_st *stream;
};

static __thread struct configuration configurations[MAX_NESTED_CONFIGURATIONS];
static __thread unsigned n_configurations;

SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream);
SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream)
{
	if (n_configurations == MAX_NESTED_CONFIGURATIONS)
		return 1;
	configurations[n_configurations++] = (struct configuration){ grid, block, shared_bytes, stream };
	return 0;
}

SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
SIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	if (n_configurations == 0)
		return rt_note(cudaErrorMissingConfiguration);
	const struct configuration *c = &configurations[--n_configurations];
	*grid = c->grid;
	*block = c->block;
	*shared_bytes = c->shared_bytes;
	*(struct CUstream_st **)stream = c->stream;
	return cudaSuccess;
}
