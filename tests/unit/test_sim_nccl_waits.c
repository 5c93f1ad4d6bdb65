/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_nccl_waits.c - the simulated NCCL: when the host is held, what time it is, and ranks that do not come
 */
#include "tests/unit/nccl_ranks.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/include/synctally_sim.h"

enum { COUNT = 64, BYTES = COUNT * sizeof(float) };

static int seen(struct rank *self, int i)
{
	return __atomic_load_n(&self->shared[i], __ATOMIC_ACQUIRE);
}

static void show(struct rank *self, int i, int value)
{
	__atomic_store_n(&self->shared[i], value, __ATOMIC_RELEASE);
}

static void await(struct rank *self, int i)
{
	while (!seen(self, i))
		sched_yield();
}

static CUdeviceptr filled(struct rank *self, float value)
{
	float host[COUNT];
	CUdeviceptr buffer;

	for (int i = 0; i < COUNT; i++)
		host[i] = value;
	check(cuMemAlloc(&buffer, BYTES) == CUDA_SUCCESS);
	check(cuMemcpyHtoDAsync(buffer, host, BYTES, self->stream) == CUDA_SUCCESS);
	return buffer;
}

static int holds(CUdeviceptr buffer, CUstream stream, float value)
{
	float host[COUNT];

	check(cuMemcpyDtoHAsync(host, buffer, BYTES, stream) == CUDA_SUCCESS);
	for (int i = 0; i < COUNT; i++)
		if (host[i] != value)
			return 0;
	return 1;
}

static int sum(struct rank *self, CUdeviceptr buffer, CUstream stream)
{
	return ncclAllReduce(buffer, buffer, COUNT, FLOAT32, SUM, self->comm, stream);
}

static CUstream new_stream(void)
{
	CUstream stream;

	check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
	return stream;
}

/* Rank 0 does all it may do before rank 1 comes. */
static int goes_on(struct rank *self)
{
	CUdeviceptr mine = filled(self, 1 + (float)self->rank), other;
	CUstream free_stream = new_stream(), after = new_stream();
	CUevent event;

	if (self->rank == 1)
		await(self, 0);
	check(sum(self, mine, self->stream) == SUCCESS);
	check(cuEventCreate(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
	check(cuEventRecord(event, self->stream) == CUDA_SUCCESS);
	check(cuStreamWaitEvent(after, event, 0) == CUDA_SUCCESS);
	check(cuMemAlloc(&other, BYTES) == CUDA_SUCCESS);
	check(cuMemcpyDtoDAsync(other, mine, BYTES, after) == CUDA_SUCCESS);
	if (self->rank == 0) {
		check(cuMemsetD8Async(mine, 0, 0, free_stream) == CUDA_SUCCESS);
		check(cuStreamSynchronize(free_stream) == CUDA_SUCCESS);
		check(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
		check(cuStreamQuery(self->stream) == CUDA_ERROR_NOT_READY);
		check(cuStreamQuery(after) == CUDA_ERROR_NOT_READY);
		check(cuStreamQuery(free_stream) == CUDA_SUCCESS);
		show(self, 0, 1);
	}
	check(holds(other, after, 3));
	check(cuEventSynchronize(event) == CUDA_SUCCESS);
	check(cuEventQuery(event) == CUDA_SUCCESS);
	check(cuCtxSynchronize() == CUDA_SUCCESS);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_the_host_is_held_only_where_it_waits(void **state)
{
	(void)state;
	nccl_run_ranks(2, goes_on);
}

/* The rank that comes first in real time; in virtual time rank 1 is always the later one. */
static int first_rank;

static int measures(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 1);
	CUevent start, end;
	float ms;

	check(cuEventCreate(&start, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
	check(cuEventCreate(&end, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
	if (self->rank == 1)
		synctally_sim_host_work(1000000);
	if (self->rank != first_rank)
		await(self, 1);
	check(cuEventRecord(start, self->stream) == CUDA_SUCCESS);
	for (int i = 0; i < 5; i++)
		check(sum(self, buffer, self->stream) == SUCCESS);
	check(cuEventRecord(end, self->stream) == CUDA_SUCCESS);
	show(self, 1, 1);
	check(holds(buffer, self->stream, 32));
	check(cuEventElapsedTime(&ms, start, end) == CUDA_SUCCESS);
	self->shared[2 + self->rank] = (int)(ms * 1000);
	self->shared[4 + self->rank] = (int)synctally_sim_now();
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void measure(int first, int results[4])
{
	int statuses[MAX_RANKS];

	first_rank = first;
	nccl_start_ranks(2, measures);
	nccl_wait_ranks(statuses);
	assert_int_equal(statuses[0], 0);
	assert_int_equal(statuses[1], 0);
	memcpy(results, nccl_shared() + 2, 4 * sizeof *results);
}

static void test_virtual_time_does_not_depend_on_real_time(void **state)
{
	int one[4], other[4];

	(void)state;
	measure(0, one);
	measure(1, other);
	assert_memory_equal(one, other, sizeof one);
	/* The copy that both end with began when the last collective was complete, for both at once. */
	assert_int_equal(one[2], one[3]);
	/* Five times the latency; on rank 0 what it waits for rank 1 besides. */
	assert_in_range(one[1], 50, 60);
	assert_in_range(one[0], 1000, 1060);
}

/* The same order of calls, but each on another stream than on the other rank; events tie the streams together. */
static int crosses(struct rank *self)
{
	CUdeviceptr a = filled(self, 1), b = filled(self, 2);
	CUstream other = new_stream();
	CUevent event;

	check(cuStreamSynchronize(self->stream) == CUDA_SUCCESS);
	check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
	for (int i = 0; i < 50; i++) {
		CUstream first = (i + self->rank) % 2 ? other : self->stream;
		CUstream second = (i + self->rank) % 2 ? self->stream : other;
		check(sum(self, a, first) == SUCCESS);
		check(sum(self, b, second) == SUCCESS);
		check(cuEventRecord(event, second) == CUDA_SUCCESS);
		check(cuStreamWaitEvent(first, event, 0) == CUDA_SUCCESS);
	}
	check(cuCtxSynchronize() == CUDA_SUCCESS);
	check(holds(a, other, 1125899906842624.0f) && holds(b, other, 2251799813685248.0f));
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_collectives_on_several_streams_do_not_block_each_other(void **state)
{
	(void)state;
	nccl_run_ranks(2, crosses);
}

/* What was copied to the host before a collective is not seen early, though rank 1 has long had what rank 0 gives. */
static int keeps_time(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 5);
	float *pinned;

	check(cuMemHostAlloc((void **)&pinned, BYTES, 0) == CUDA_SUCCESS);
	pinned[0] = 77;
	check(cuMemsetD8Async(buffer, 0, BYTES, self->stream) == CUDA_SUCCESS);
	check(cuMemcpyDtoHAsync(pinned, buffer, BYTES, self->stream) == CUDA_SUCCESS);
	check(sum(self, buffer, self->stream) == SUCCESS);
	if (self->rank == 1) {
		check(holds(buffer, self->stream, 0));
		show(self, 0, 1);
	} else {
		await(self, 0);
		check(pinned[0] == 77);
		check(cuStreamSynchronize(self->stream) == CUDA_SUCCESS);
	}
	check(pinned[0] == 0);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_the_host_sees_copies_at_their_time(void **state)
{
	(void)state;
	nccl_run_ranks(2, keeps_time);
}

static int fills_queues(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 0);

	for (int i = 0; i < 100; i++)
		check(sum(self, buffer, self->stream) == SUCCESS);
	check(holds(buffer, self->stream, 0));
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_a_full_queue_waits_for_the_other_rank(void **state)
{
	(void)state;
	setenv("SYNCTALLY_SIM", "clock=virtual,queue_depth=8", 1);
	nccl_run_ranks(2, fills_queues);
	setenv("SYNCTALLY_SIM", "clock=real", 1);
	nccl_run_ranks(2, fills_queues);
	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
}

static int sees_failure(struct rank *self, CUdeviceptr buffer, int expected)
{
	int error;

	check(cuStreamSynchronize(self->stream) == CUDA_ERROR_LAUNCH_FAILED);
	check(ncclCommGetAsyncError(self->comm, &error) == SUCCESS && error == expected);
	/* As after a real device's failure, every later call fails. */
	check(cuMemFree(buffer) == CUDA_ERROR_LAUNCH_FAILED);
	check(sum(self, buffer, self->stream) == expected);
	check(ncclCommAbort(self->comm) == SUCCESS);
	return 0;
}

static int waits_for_rank_1(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 1);

	if (self->rank == 1)
		for (;;)
			pause();
	check(sum(self, buffer, self->stream) == SUCCESS);
	show(self, 0, 1);
	return sees_failure(self, buffer, REMOTE_ERROR);
}

static void test_a_rank_that_is_killed_is_noticed(void **state)
{
	int statuses[MAX_RANKS];

	(void)state;
	nccl_start_ranks(2, waits_for_rank_1);
	while (!__atomic_load_n(&nccl_shared()[0], __ATOMIC_ACQUIRE))
		sched_yield();
	kill(nccl_rank_pid(1), SIGKILL);
	nccl_wait_ranks(statuses);
	assert_int_equal(statuses[0], 0);
	assert_int_equal(statuses[1], 1000 + SIGKILL);
}

static int waits_in_vain(struct rank *self)
{
	int result = waits_for_rank_1(self);

	await(self, 1);
	kill(self->shared[1], SIGKILL);
	return result;
}

static void test_a_rank_that_lives_and_does_not_come(void **state)
{
	int statuses[MAX_RANKS];

	(void)state;
	setenv("SYNCTALLY_SIM", "clock=virtual,peer_wait_s=1", 1);
	nccl_start_ranks(2, waits_in_vain);
	nccl_shared()[1] = nccl_rank_pid(1);
	nccl_wait_ranks(statuses);
	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	assert_int_equal(statuses[0], 0);
	assert_int_equal(statuses[1], 1000 + SIGKILL);
}

static int disagrees(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 1);

	check(ncclAllReduce(buffer, buffer, COUNT - (size_t)self->rank, FLOAT32, SUM, self->comm, self->stream) ==
	      SUCCESS);
	return sees_failure(self, buffer, INVALID_USAGE);
}

static void test_ranks_that_call_different_things_are_told(void **state)
{
	(void)state;
	nccl_run_ranks(2, disagrees);
}

/* Rank 1 ends, without a word, as soon as it has what it needs; rank 0 takes its part of it later. */
static int leaves_early(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 1);

	check(sum(self, buffer, self->stream) == SUCCESS);
	if (self->rank == 1) {
		check(holds(buffer, self->stream, 2));
		return 0;
	}
	await(self, 0);
	check(holds(buffer, self->stream, 2));
	return 0;
}

static void test_what_a_rank_gave_outlives_it(void **state)
{
	(void)state;
	nccl_start_ranks(2, leaves_early);
	assert_int_equal(nccl_wait_rank(1), 0);
	__atomic_store_n(&nccl_shared()[0], 1, __ATOMIC_RELEASE);
	assert_int_equal(nccl_wait_rank(0), 0);
}

static void *abort_once_held(void *argument)
{
	struct rank *self = argument;

	check(ncclCommAbort(self->comm) == SUCCESS);
	return NULL;
}

/* Rank 1 never calls; rank 0 is freed from its wait by a thread that aborts, and the device is well. */
static int is_aborted(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 1);
	pthread_t thread;

	if (self->rank == 1) {
		await(self, 0);
		return 0;
	}
	check(sum(self, buffer, self->stream) == SUCCESS);
	check(pthread_create(&thread, NULL, abort_once_held, self) == 0);
	check(cuStreamSynchronize(self->stream) == CUDA_SUCCESS);
	check(pthread_join(thread, NULL) == 0);
	show(self, 0, 1);
	check(cuMemFree(buffer) == CUDA_SUCCESS);
	return 0;
}

static void test_abort_frees_who_waits(void **state)
{
	(void)state;
	nccl_run_ranks(2, is_aborted);
}

static int alone(struct rank *self)
{
	CUdeviceptr buffer = filled(self, 3), other = filled(self, 4);
	int count, device, version;

	check(ncclCommCount(self->comm, &count) == SUCCESS && count == 1);
	check(ncclCommCuDevice(self->comm, &device) == SUCCESS && device == 0);
	check(ncclGetVersion(&version) == SUCCESS && version == 29900);
	check(sum(self, buffer, self->stream) == SUCCESS);
	check(holds(buffer, self->stream, 3));
	check(ncclAllGather(buffer, other, COUNT, FLOAT32, self->comm, self->stream) == SUCCESS);
	check(holds(other, self->stream, 3));
	check(ncclAllReduce(buffer, other, COUNT, N_TYPES, SUM, self->comm, self->stream) == INVALID_ARGUMENT);
	check(strstr(ncclGetLastError(self->comm), "ncclAllReduce"));
	check(ncclBroadcast(buffer, other, COUNT, FLOAT32, 1, self->comm, self->stream) == INVALID_ARGUMENT);
	check(ncclGroupEnd() == INVALID_USAGE);
	check(ncclAllReduce((CUdeviceptr)(uintptr_t)&count, other, 1, INT32, SUM, self->comm, self->stream) ==
	      INVALID_ARGUMENT);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_one_rank_alone(void **state)
{
	(void)state;
	nccl_run_ranks(1, alone);
}

/* Both ranks in one thread of this rank's process, made and used in groups. */
static int two_in_one(struct rank *self)
{
	CUdeviceptr a = filled(self, 1), b = filled(self, 2);
	CUstream other = new_stream();
	comm_t comms[2];
	unique_id id;

	check(cuStreamSynchronize(self->stream) == CUDA_SUCCESS);
	check(ncclGetUniqueId(&id) == SUCCESS);
	check(ncclGroupStart() == SUCCESS);
	check(ncclCommInitRank(&comms[0], 2, id, 0) == SUCCESS);
	check(ncclCommInitRank(&comms[1], 2, id, 1) == SUCCESS);
	check(ncclGroupEnd() == SUCCESS);
	check(ncclGroupStart() == SUCCESS);
	check(ncclAllReduce(a, a, COUNT, FLOAT32, SUM, comms[0], self->stream) == SUCCESS);
	check(ncclAllReduce(b, b, COUNT, FLOAT32, SUM, comms[1], other) == SUCCESS);
	check(ncclGroupEnd() == SUCCESS);
	check(holds(a, self->stream, 3) && holds(b, other, 3));
	check(ncclCommDestroy(comms[0]) == SUCCESS);
	check(ncclCommDestroy(comms[1]) == SUCCESS);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_ranks_of_one_process(void **state)
{
	(void)state;
	nccl_run_ranks(1, two_in_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_host_is_held_only_where_it_waits),
		cmocka_unit_test(test_virtual_time_does_not_depend_on_real_time),
		cmocka_unit_test(test_collectives_on_several_streams_do_not_block_each_other),
		cmocka_unit_test(test_the_host_sees_copies_at_their_time),
		cmocka_unit_test(test_a_full_queue_waits_for_the_other_rank),
		cmocka_unit_test(test_a_rank_that_is_killed_is_noticed),
		cmocka_unit_test(test_a_rank_that_lives_and_does_not_come),
		cmocka_unit_test(test_ranks_that_call_different_things_are_told),
		cmocka_unit_test(test_what_a_rank_gave_outlives_it),
		cmocka_unit_test(test_abort_frees_who_waits),
		cmocka_unit_test(test_one_rank_alone),
		cmocka_unit_test(test_ranks_of_one_process),
	};

	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	return cmocka_run_group_tests(tests, nccl_set_up, NULL);
}
