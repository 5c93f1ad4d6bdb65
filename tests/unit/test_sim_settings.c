/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles, marked readbacks, jitter and faults: settings of one process, so all in one program. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <synctally_sim.h>

static CUfunction kernel;

static void launch(void)
{
	assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
}

static void a_profile_and_what_comes_after_it(void **unused)
{
	struct cudaDeviceProp properties;

	(void)unused;
	assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
	assert_int_equal(properties.multiProcessorCount, 58); /* l4 */
	assert_int_equal(properties.major, 8);                /* kept from the defaults */
}

static void a_tagged_readback_tells_address_and_launches_apart(void **unused)
{
	uint32_t *device, first[2], later[2], size_4[1];
	uint64_t size_8;
	unsigned char byte = 77;

	(void)unused;
	assert_int_equal(cudaMalloc((void **)&device, 4096), cudaSuccess);
	launch();
	for (int i = 0; i < 2; i++)
		assert_int_equal(cudaMemcpy(&first[i], device + i, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_int_equal(cudaMemcpy(size_4, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	launch();
	for (int i = 0; i < 2; i++)
		assert_int_equal(cudaMemcpy(&later[i], device + i, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_int_equal(cudaMemcpy(&size_8, device, 8, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_int_equal(cudaMemcpy(&byte, device, 1, cudaMemcpyDeviceToHost), cudaSuccess);
	for (int i = 0; i < 2; i++) {
		assert_in_range(first[i], 1, 4092);
		assert_int_not_equal(first[i], later[i]);
	}
	assert_int_not_equal(first[0], first[1]);
	assert_int_equal(first[0], size_4[0]); /* the same reading again */
	assert_int_equal(size_8, later[0]);
	assert_int_equal(byte, 0);
	cudaFree(device);
}

static void what_the_host_wrote_is_shown_as_it_is(void **unused)
{
	uint32_t *device, value = 123456, seen = 0;

	(void)unused;
	assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
	launch();
	assert_int_equal(cudaMemcpy(device, &value, 4, cudaMemcpyHostToDevice), cudaSuccess);
	assert_int_equal(cudaMemcpy(&seen, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_int_equal(seen, value);
	cudaFree(device);
}

static void device_times_vary_within_the_jitter(void **unused)
{
	enum { N = 200, NOMINAL = 1000000 + 1300 };
	uint64_t least = UINT64_MAX, most = 0;

	(void)unused;
	for (int i = 0; i < N; i++) {
		uint64_t begin = synctally_sim_now(), spent;

		launch();
		assert_int_equal(cudaStreamSynchronize(NULL), cudaSuccess);
		spent = synctally_sim_now() - begin;
		least = spent < least ? spent : least;
		most = spent > most ? spent : most;
	}
	/* Host time of the calls comes on top of at most 12 us. */
	assert_in_range(least, NOMINAL * 0.9, NOMINAL * 0.93 + 12000);
	assert_in_range(most, NOMINAL * 1.07, NOMINAL * 1.1 + 12000);
}

static void the_nth_call_fails_and_no_other(void **unused)
{
	void *device;

	(void)unused;
	assert_int_equal(cudaMalloc(&device, 64), cudaSuccess);
	assert_int_equal(cudaMemset(device, 1, 64), cudaSuccess);
	assert_int_equal(cudaMemset(device, 2, 64), cudaErrorInvalidValue);
	assert_int_equal(cudaStreamSynchronize(NULL), cudaSuccess);
	assert_int_equal(*(unsigned char *)synctally_sim_host_view(device), 1);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
	assert_int_equal(cudaMemset(device, 3, 64), cudaSuccess);
	assert_int_equal(cudaStreamSynchronize(NULL), cudaSuccess);
	assert_int_equal(*(unsigned char *)synctally_sim_host_view(device), 3);
	cudaFree(device);
}

static void a_slow_call_takes_its_time(void **unused)
{
	uint64_t begin = synctally_sim_now();
	cudaEvent_t event;

	(void)unused;
	assert_int_equal(cudaEventCreate(&event), cudaSuccess);
	assert_true(synctally_sim_now() - begin >= 7000000);
	cudaEventDestroy(event);
}

static void a_sticky_error_stays(void **unused)
{
	void *device;

	(void)unused;
	assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_int_equal(cudaMalloc(&device, 64), cudaErrorIllegalAddress);
	assert_int_equal(cudaStreamSynchronize(NULL), cudaErrorIllegalAddress);
}

int main(void)
{
	CUmodule module;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_and_what_comes_after_it),
		cmocka_unit_test(a_tagged_readback_tells_address_and_launches_apart),
		cmocka_unit_test(what_the_host_wrote_is_shown_as_it_is),
		cmocka_unit_test(device_times_vary_within_the_jitter),
		cmocka_unit_test(the_nth_call_fails_and_no_other),
		cmocka_unit_test(a_slow_call_takes_its_time),
		cmocka_unit_test(a_sticky_error_stays),
	};

	setenv("SYNCTALLY_SIM", "l4,clock=virtual,readback=tagged,kernel_ns=1000000,jitter=100,seed=7", 1);
	setenv("SYNCTALLY_SIM_FAULTS", "cudaMemset:2=1,cudaEventCreate:1=slow:7000000,cudaDeviceSynchronize:1=700", 1);
	if (cudaFree(NULL) != cudaSuccess || cuModuleLoadData(&module, "") != CUDA_SUCCESS ||
	    cuModuleGetFunction(&kernel, module, "only_takes_time") != CUDA_SUCCESS)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
