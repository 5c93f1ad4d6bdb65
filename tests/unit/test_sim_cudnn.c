/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_cudnn.c - the simulated cuDNN: one kernel per call, descriptors that keep what they are told
 *
 * In virtual time: that a call submits exactly one kernel is seen by its
 * taking, from idle to idle, as long as a kernel launched by hand.
 */
#include "api/clock.h"

#include <cuda.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1001, BAD_PARAM = 2000, NOT_FINALIZED = 2004, BAD_TYPE = 2012 };

/* Descriptors, attributes and types of values of the graph API. */
enum { CONVOLUTION_FORWARD = 10, ENGINE = 2, CONFIG = 3, HEURISTICS = 4, PLAN = 5, GRAPH = 15, PACK = 16, TENSOR = 17 };
enum { INT64 = 3, DATA_TYPE = 1, BOOLEAN = 2, DESCRIPTOR = 15, NUMERICAL_NOTE = 11 };
enum { FORWARD_W = 703, FORWARD_X = 704, FORWARD_Y = 705, OPERATIONS = 801, N_ENGINES = 802 };
enum { TENSOR_TYPE = 901, DIMENSIONS = 902, IS_VIRTUAL = 907 };
enum { HEURISTICS_GRAPH = 201, RESULTS = 202, CONFIG_ENGINE = 300, PLAN_CONFIG = 401, WORKSPACE = 402 };
enum { ENGINE_GRAPH = 1300, ENGINE_NOTES = 1303 };

enum { LSTM = 2, GRU = 3, NO_BIAS = 0, DOUBLE_BIAS = 2, FLOAT = 0, HALF = 2 };

/* The functions under test: their types, pointers of the same names, and a table to fill those. */
#define FUNCTIONS(F)                                                                                                   \
	F(int, cudnnCreate, (void **))                                                                                 \
	F(int, cudnnDestroy, (void *))                                                                                 \
	F(int, cudnnSetStream, (void *, CUstream))                                                                     \
	F(size_t, cudnnGetVersion, (void))                                                                             \
	F(int, cudnnGetProperty, (int, int *))                                                                         \
	F(int, cudnnCreateTensorDescriptor, (void **))                                                                 \
	F(int, cudnnDestroyTensorDescriptor, (void *))                                                                 \
	F(int, cudnnSetTensorNdDescriptor, (void *, int, int, const int *, const int *))                               \
	F(int, cudnnGetTensorNdDescriptor, (void *, int, int *, int *, int *, int *))                                  \
	F(int, cudnnPoolingForward,                                                                                    \
	  (void *, void *, const void *, void *, const void *, const void *, void *, void *))                          \
	F(int, cudnnCreateRNNDescriptor, (void **))                                                                    \
	F(int, cudnnDestroyRNNDescriptor, (void *))                                                                    \
	F(int, cudnnSetRNNDescriptor_v8,                                                                               \
	  (void *, int, int, int, int, int, int, int, int, int32_t, int32_t, int32_t, int32_t, void *, uint32_t))      \
	F(int, cudnnGetRNNWeightSpaceSize, (void *, void *, size_t *))                                                 \
	F(int, cudnnGetRNNWeightParams,                                                                                \
	  (void *, void *, int32_t, size_t, const void *, int32_t, void *, void **, void *, void **))                  \
	F(int, cudnnBackendCreateDescriptor, (int, void **))                                                           \
	F(int, cudnnBackendDestroyDescriptor, (void *))                                                                \
	F(int, cudnnBackendSetAttribute, (void *, int, int, int64_t, const void *))                                    \
	F(int, cudnnBackendGetAttribute, (void *, int, int, int64_t, int64_t *, void *))                               \
	F(int, cudnnBackendFinalize, (void *))                                                                         \
	F(int, cudnnBackendExecute, (void *, void *, void *))

#define DECLARE(result, name, params) static result(*name) params;
FUNCTIONS(DECLARE)

static sy_virtual_clock_fn now;
static CUfunction kernel;
static CUstream stream;
static void *handle;

static void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		fail_msg("%s", dlerror());
	memcpy(slot, &address, sizeof(address));
}

static int set_up(void **state)
{
	void *library = dlopen("libcudnn.so.9", RTLD_NOW);
	CUmodule module;

	(void)state;
	if (!library)
		fail_msg("%s", dlerror());
#define FIND(result, name, params) find(library, #name, &name);
	FUNCTIONS(FIND)
	find(RTLD_DEFAULT, SY_VIRTUAL_CLOCK_SYMBOL, &now);
	/* A program that begins with cuDNN gets the context of device 0. */
	assert_int_equal(cudnnCreate(&handle), SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, "image"), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&kernel, module, "by_hand"), CUDA_SUCCESS);
	assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
	return cudnnSetStream(handle, stream);
}

static int tear_down(void **state)
{
	(void)state;
	return cudnnDestroy(handle);
}

/* Nanoseconds until what was submitted since `begin` is done. */
static uint64_t finish(uint64_t begin)
{
	assert_int_equal(cuStreamSynchronize(stream), CUDA_SUCCESS);
	return now() - begin;
}

static uint64_t one_kernel_ns(void)
{
	uint64_t begin = (finish(0), now());

	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, stream, NULL, NULL), CUDA_SUCCESS);
	return finish(begin);
}

static void a_call_is_one_kernel(void **state)
{
	uint64_t expected = one_kernel_ns(), begin = now();

	(void)state;
	assert_int_equal(cudnnPoolingForward(handle, NULL, NULL, NULL, NULL, NULL, NULL, NULL), SUCCESS);
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	begin = (finish(0), now());
	assert_int_equal(cudnnPoolingForward(handle, NULL, NULL, NULL, NULL, NULL, NULL, NULL), SUCCESS);
	assert_int_equal(finish(begin), expected);
	assert_int_equal(cudnnPoolingForward(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), NOT_INITIALIZED);
}

static void shapes_are_kept(void **state)
{
	const int dims[] = { 2, 3, 4 }, strides[] = { 12, 4, 1 };
	int type = -1, n_dims = 0, seen_dims[5] = { 0 }, seen_strides[5] = { 0 };
	void *tensor;

	(void)state;
	assert_int_equal(cudnnCreateTensorDescriptor(&tensor), SUCCESS);
	assert_int_equal(cudnnSetTensorNdDescriptor(tensor, HALF, 3, dims, strides), SUCCESS);
	assert_int_equal(cudnnGetTensorNdDescriptor(tensor, 5, &type, &n_dims, seen_dims, seen_strides), SUCCESS);
	assert_int_equal(type, HALF);
	assert_int_equal(n_dims, 3);
	assert_memory_equal(seen_dims, dims, sizeof(dims));
	assert_memory_equal(seen_strides, strides, sizeof(strides));
	assert_int_equal(seen_dims[3], 0);
	assert_int_equal(cudnnSetTensorNdDescriptor(tensor, HALF, 9, dims, strides), BAD_PARAM);
	assert_int_equal(cudnnDestroyTensorDescriptor(tensor), SUCCESS);
}

static void *make(int type)
{
	void *made = NULL;

	assert_int_equal(cudnnBackendCreateDescriptor(type, &made), SUCCESS);
	return made;
}

static void set(void *descriptor, int name, int type, int64_t n, const void *elements)
{
	assert_int_equal(cudnnBackendSetAttribute(descriptor, name, type, n, elements), SUCCESS);
}

static void *make_tensor(int64_t a, int64_t b, int64_t c, int64_t d, unsigned char is_virtual)
{
	const int64_t dims[] = { a, b, c, d };
	void *tensor = make(TENSOR);
	const int type = FLOAT;

	set(tensor, TENSOR_TYPE, DATA_TYPE, 1, &type);
	set(tensor, DIMENSIONS, INT64, 4, dims);
	set(tensor, IS_VIRTUAL, BOOLEAN, 1, &is_virtual);
	assert_int_equal(cudnnBackendFinalize(tensor), SUCCESS);
	return tensor;
}

/* A descriptor of one attribute that refers to another, which the caller no longer needs then. */
static void *wrap(int type, int name, void *inner)
{
	void *outer = make(type);

	set(outer, name, DESCRIPTOR, 1, &inner);
	assert_int_equal(cudnnBackendFinalize(outer), SUCCESS);
	assert_int_equal(cudnnBackendDestroyDescriptor(inner), SUCCESS);
	return outer;
}

/* y (n, 64, 32, 32) = x (n, 64, 34, 34) convolved with 64 filters of 64 * 3 * 3 */
static void *make_convolution(int64_t n)
{
	void *x = make_tensor(n, 64, 34, 34, 0), *w = make_tensor(64, 64, 3, 3, 0), *y = make_tensor(n, 64, 32, 32, 0);
	void *operation = make(CONVOLUTION_FORWARD);

	set(operation, FORWARD_X, DESCRIPTOR, 1, &x);
	set(operation, FORWARD_W, DESCRIPTOR, 1, &w);
	set(operation, FORWARD_Y, DESCRIPTOR, 1, &y);
	assert_int_equal(cudnnBackendFinalize(operation), SUCCESS);
	cudnnBackendDestroyDescriptor(x);
	cudnnBackendDestroyDescriptor(w);
	cudnnBackendDestroyDescriptor(y);
	return operation;
}

/* The plan for an operation, found as programs find it. */
static void *plan_for(void *operation)
{
	void *heuristics = wrap(HEURISTICS, HEURISTICS_GRAPH, wrap(GRAPH, OPERATIONS, operation)),
	     *config = make(CONFIG);
	int64_t n_found = 0;

	assert_int_equal(cudnnBackendGetAttribute(heuristics, RESULTS, DESCRIPTOR, 0, &n_found, NULL), SUCCESS);
	assert_int_equal(n_found, 1);
	assert_int_equal(cudnnBackendGetAttribute(heuristics, RESULTS, DESCRIPTOR, 1, &n_found, &config), SUCCESS);
	assert_int_equal(cudnnBackendDestroyDescriptor(heuristics), SUCCESS);
	return wrap(PLAN, PLAN_CONFIG, config);
}

static void *make_pack(void)
{
	void *pack = make(PACK);

	assert_int_equal(cudnnBackendFinalize(pack), SUCCESS);
	return pack;
}

static uint64_t convolution_ns(int64_t n)
{
	void *plan = plan_for(make_convolution(n)), *pack = make_pack();
	int64_t workspace = -1;
	uint64_t begin, ns;

	assert_int_equal(cudnnBackendGetAttribute(plan, WORKSPACE, INT64, 1, NULL, &workspace), SUCCESS);
	assert_int_equal(workspace, 0);
	begin = (finish(0), now());
	assert_int_equal(cudnnBackendExecute(handle, plan, pack), SUCCESS);
	ns = finish(begin);
	cudnnBackendDestroyDescriptor(plan);
	cudnnBackendDestroyDescriptor(pack);
	return ns;
}

static void a_graph_is_one_kernel_that_takes_its_time(void **state)
{
	uint64_t nothing = one_kernel_ns(), small = convolution_ns(16) - nothing, large = convolution_ns(64) - nothing;

	(void)state;
	/* 2 * 16 * 64 * 32 * 32 * 64 * 3 * 3 operations at 100 per ns */
	assert_in_range(small, 12079595 - 1000, 12079595 + 1000);
	assert_in_range(large, 4 * small - 1000, 4 * small + 1000);
}

static void one_engine_does_anything(void **state)
{
	void *plan = plan_for(make(13)), *config = make(CONFIG), *engine = make(ENGINE), *graph = make(GRAPH);
	int64_t n_found = -1, n_engines = 0;
	int note;

	(void)state;
	assert_int_equal(cudnnBackendGetAttribute(plan, PLAN_CONFIG, DESCRIPTOR, 1, &n_found, &config), SUCCESS);
	assert_int_equal(n_found, 1);
	assert_int_equal(cudnnBackendGetAttribute(config, CONFIG_ENGINE, DESCRIPTOR, 1, &n_found, &engine), SUCCESS);
	assert_int_equal(cudnnBackendGetAttribute(engine, ENGINE_NOTES, NUMERICAL_NOTE, 1, &n_found, &note), SUCCESS);
	assert_int_equal(n_found, 0);
	assert_int_equal(cudnnBackendGetAttribute(engine, ENGINE_GRAPH, DESCRIPTOR, 1, &n_found, &graph), SUCCESS);
	assert_int_equal(cudnnBackendGetAttribute(graph, N_ENGINES, INT64, 1, NULL, &n_engines), SUCCESS);
	assert_int_equal(n_engines, 1);
	/* Copies live on. */
	cudnnBackendDestroyDescriptor(plan);
	assert_int_equal(cudnnBackendGetAttribute(graph, OPERATIONS, DESCRIPTOR, 0, &n_found, NULL), SUCCESS);
	assert_int_equal(n_found, 1);
	cudnnBackendDestroyDescriptor(config);
	cudnnBackendDestroyDescriptor(engine);
	cudnnBackendDestroyDescriptor(graph);
}

static void order_is_checked(void **state)
{
	void *plan = make(PLAN), *pack = make_pack();
	int64_t one = 1;

	(void)state;
	assert_int_equal(cudnnBackendGetAttribute(plan, WORKSPACE, INT64, 1, NULL, &one), NOT_FINALIZED);
	assert_int_equal(cudnnBackendExecute(handle, plan, pack), NOT_FINALIZED);
	assert_int_equal(cudnnBackendExecute(handle, pack, pack), BAD_TYPE);
	assert_int_equal(cudnnBackendExecute(NULL, plan, pack), NOT_INITIALIZED);
	assert_int_equal(cudnnBackendSetAttribute(pack, 1000, INT64, 1, &one), NOT_INITIALIZED);
	assert_int_equal(cudnnBackendSetAttribute(plan, 1000, INT64, 1, NULL), BAD_PARAM);
	cudnnBackendDestroyDescriptor(plan);
	cudnnBackendDestroyDescriptor(pack);
}

/* Walks all matrices and biases in order; they have to lie one behind the other and fill the buffer. */
static void check_weights(int cell, int n_gates, int bias, int direction, int projection, int64_t elements)
{
	const int n_matrices = 2 * n_gates + (projection ? 1 : 0), n_layers = 2 * (direction + 1);
	float *buffer = NULL, *next = NULL, *at;
	void *rnn, *shape, *address;
	int pass, layer, matrix, n_dims, dims[3];
	size_t n_bytes;

	assert_int_equal(cudnnCreateRNNDescriptor(&rnn), SUCCESS);
	assert_int_equal(cudnnCreateTensorDescriptor(&shape), SUCCESS);
	assert_int_equal(cudnnSetRNNDescriptor_v8(rnn, 0, cell, bias, direction, 0, FLOAT, FLOAT, 0, 8, 16,
	                                          projection ? projection : 16, 2, NULL, 0),
	                 SUCCESS);
	assert_int_equal(cudnnGetRNNWeightSpaceSize(handle, rnn, &n_bytes), SUCCESS);
	assert_int_equal(n_bytes, elements * 4);
	buffer = next = malloc(n_bytes);
	for (pass = 0; pass < 2; pass++) {
		for (layer = 0; layer < n_layers; layer++) {
			for (matrix = 0; matrix < n_matrices; matrix++) {
				assert_int_equal(cudnnGetRNNWeightParams(handle, rnn, layer, n_bytes, buffer, matrix,
				                                         pass ? NULL : shape, pass ? NULL : &address,
				                                         pass ? shape : NULL, pass ? &address : NULL),
				                 SUCCESS);
				assert_int_equal(cudnnGetTensorNdDescriptor(shape, 3, NULL, &n_dims, dims, NULL),
				                 SUCCESS);
				at = address;
				if (at)
					assert_ptr_equal(at, next);
				else
					assert_int_equal(n_dims, 0);
				next += at ? dims[0] * dims[1] * dims[2] : 0;
			}
		}
	}
	assert_ptr_equal(next, buffer + elements);
	free(buffer);
	assert_int_equal(cudnnGetRNNWeightParams(handle, rnn, n_layers, n_bytes, NULL, 0, NULL, NULL, NULL, NULL),
	                 BAD_PARAM);
	cudnnDestroyTensorDescriptor(shape);
	cudnnDestroyRNNDescriptor(rnn);
}

static void weights_lie_one_behind_the_other(void **state)
{
	(void)state;
	/* gates * 16 * (in + 16) of each layer, and two biases of each gate */
	check_weights(LSTM, 4, DOUBLE_BIAS, 0, 0, 4 * 16 * (8 + 16) + 4 * 16 * (16 + 16) + 2 * 8 * 16);
	check_weights(GRU, 3, DOUBLE_BIAS, 1, 0, 2 * (3 * 16 * (8 + 16) + 3 * 16 * (32 + 16) + 2 * 6 * 16));
	check_weights(GRU, 3, NO_BIAS, 0, 0, 3 * 16 * (8 + 16) + 3 * 16 * (16 + 16));
	/* the outputs are 4 wide, by one more matrix of 4 * 16 */
	check_weights(LSTM, 4, DOUBLE_BIAS, 0, 4, 4 * 16 * (8 + 4) + 4 * 16 * (4 + 4) + 2 * 4 * 16 + 2 * 8 * 16);
}

static void a_program_without_pytorch_gets_a_version_for_all(void **state)
{
	int major = 0, minor = 0;

	(void)state;
	assert_int_equal(cudnnGetVersion(), 99900);
	assert_int_equal(cudnnGetProperty(0, &major), SUCCESS);
	assert_int_equal(cudnnGetProperty(1, &minor), SUCCESS);
	assert_int_equal(major, 9);
	assert_int_equal(minor, 99);
	assert_int_equal(cudnnGetProperty(3, &minor), BAD_PARAM);
}

static void pytorch_gets_the_version_of_its_metadata(void **state)
{
	char root[] = "/tmp/synctally-cudnn-XXXXXX", path[128], command[1024];
	size_t (*ask)(size_t(*)(void));
	void *library;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
	         "cd %s && mkdir -p torch/lib torch-2.13.0.dist-info && "
	         "printf 'Requires-Dist: nvidia-cudnn-frontend==1.2.3\\nRequires-Dist: nvidia-cudnn-cu13==9.20.1.48; "
	         "x\\n' "
	         "> torch-2.13.0.dist-info/METADATA && echo '#include <stddef.h>\nsize_t ask(size_t (*f)(void)); "
	         "size_t ask(size_t (*f)(void)) { return f() + 0; }' | cc -O0 -shared -fPIC -o "
	         "torch/lib/libtorch_cuda.so -x c -",
	         root);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/torch/lib/libtorch_cuda.so", root);
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	find(library, "ask", &ask);
	assert_int_equal(ask(cudnnGetVersion), 92001);
	/* From then on everybody in the process is told the same. */
	assert_int_equal(cudnnGetVersion(), 92001);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_one_kernel),
		cmocka_unit_test(shapes_are_kept),
		cmocka_unit_test(a_graph_is_one_kernel_that_takes_its_time),
		cmocka_unit_test(one_engine_does_anything),
		cmocka_unit_test(order_is_checked),
		cmocka_unit_test(weights_lie_one_behind_the_other),
		cmocka_unit_test(a_program_without_pytorch_gets_a_version_for_all),
		cmocka_unit_test(pytorch_gets_the_version_of_its_metadata),
	};

	setenv("SYNCTALLY_SIM", "clock=virtual,gflops=100", 1);
	return cmocka_run_group_tests_name("sim_cudnn", tests, set_up, tear_down);
}
