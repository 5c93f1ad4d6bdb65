/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sim_nccl.c - the simulated NCCL: every collective, type and reduction against a plain computation
 */
#include "tests/unit/nccl_ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 37 };

static size_t bytes_of(int type)
{
	static const size_t bytes[N_TYPES] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

	return bytes[type];
}

/* Small floats whose values all of these formats hold: 0, 0.5, ... 3.5 by their bits. */
static unsigned small_float(int type, double value)
{
	unsigned exponent_bits = type == BFLOAT16 ? 8 : type == E4M3 ? 4 : 5;
	unsigned mantissa_bits = type == FLOAT16 ? 10 : type == BFLOAT16 ? 7 : type == E4M3 ? 3 : 2;
	int exponent, bias = (1 << (exponent_bits - 1)) - 1;
	double fraction;

	if (value == 0)
		return 0;
	fraction = frexp(fabs(value), &exponent); /* 0.5 <= fraction < 1 */
	unsigned mantissa = (unsigned)((fraction * 2 - 1) * (1 << mantissa_bits));
	unsigned sign = value < 0 ? 1u << (exponent_bits + mantissa_bits) : 0;
	return sign | (unsigned)(exponent - 1 + bias) << mantissa_bits | mantissa;
}

static void put(int type, void *to, double value)
{
	int64_t integer = (int64_t)value;
	float f32 = (float)value;
	unsigned bits;

	switch (type) {
	case FLOAT32:
		memcpy(to, &f32, sizeof f32);
		break;
	case FLOAT64:
		memcpy(to, &value, sizeof value);
		break;
	case FLOAT16:
	case BFLOAT16:
	case E4M3:
	case E5M2:
		bits = small_float(type, value);
		memcpy(to, &bits, bytes_of(type));
		break;
	default:
		memcpy(to, &integer, bytes_of(type));
	}
}

/* What rank r gives at i: small, so that no sum or product of eight is inexact in any type. */
static double given(int rank, size_t i)
{
	static const double values[] = { 1, 2, 1, 0, 1, 1, 2 };

	return values[(i + 3 * (size_t)rank) % 7];
}

static double plain(int reduction, int n, size_t i)
{
	double result = given(0, i);

	for (int rank = 1; rank < n; rank++) {
		double value = given(rank, i);
		if (reduction == PROD)
			result *= value;
		else if (reduction == MAX)
			result = fmax(result, value);
		else if (reduction == MIN)
			result = fmin(result, value);
		else
			result += value;
	}
	return reduction == AVG ? result / n : result;
}

struct buffers {
	CUdeviceptr send, receive;
	char *host;
	size_t bytes;
};

/* What this rank gives goes up; the other buffer is all ones. */
static void prepare(const struct rank *self, const struct buffers *buffers, int type, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(type, buffers->host + i * bytes_of(type), given(self->rank, i));
	check(cuMemcpyHtoDAsync(buffers->send, buffers->host, n * bytes_of(type), self->stream) == CUDA_SUCCESS);
	check(cuMemsetD8Async(buffers->receive, 0xff, buffers->bytes, self->stream) == CUDA_SUCCESS);
}

static void compare(const struct rank *self, const struct buffers *buffers, int type, size_t i, double value)
{
	char expected[8];

	(void)self;
	put(type, expected, value);
	check(memcmp(buffers->host + i * bytes_of(type), expected, bytes_of(type)) == 0);
}

static void fetch(const struct rank *self, const struct buffers *buffers)
{
	memset(buffers->host, 0, buffers->bytes);
	check(cuMemcpyDtoHAsync(buffers->host, buffers->receive, buffers->bytes, self->stream) == CUDA_SUCCESS);
	check(cuStreamSynchronize(self->stream) == CUDA_SUCCESS);
}

static void make_buffers(struct buffers *buffers)
{
	buffers->bytes = MAX_RANKS * COUNT * sizeof(double);
	buffers->host = malloc(buffers->bytes);
	check(buffers->host);
	check(cuMemAlloc(&buffers->send, buffers->bytes) == CUDA_SUCCESS);
	check(cuMemAlloc(&buffers->receive, buffers->bytes) == CUDA_SUCCESS);
}

static int is_whole(double value)
{
	return value == floor(value);
}

static void reduce_one(const struct rank *self, const struct buffers *b, int type, int reduction)
{
	int root = self->n - 1;

	prepare(self, b, type, COUNT);
	check(ncclAllReduce(b->send, b->receive, COUNT, type, reduction, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < COUNT; i++)
		if (reduction != AVG || is_whole(plain(reduction, self->n, i)))
			compare(self, b, type, i, plain(reduction, self->n, i));
	prepare(self, b, type, COUNT);
	check(ncclReduce(b->send, b->receive, COUNT, type, reduction, root, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < COUNT && self->rank == root; i++)
		if (reduction != AVG || is_whole(plain(reduction, self->n, i)))
			compare(self, b, type, i, plain(reduction, self->n, i));
	check(self->rank == root || (unsigned char)b->host[0] == 0xff);
	prepare(self, b, type, COUNT * (size_t)self->n);
	check(ncclReduceScatter(b->send, b->receive, COUNT, type, reduction, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < COUNT; i++) {
		double value = plain(reduction, self->n, i + (size_t)self->rank * COUNT);
		if (reduction != AVG || is_whole(value))
			compare(self, b, type, i, value);
	}
}

static int every_reduction(struct rank *self)
{
	struct buffers b;

	make_buffers(&b);
	for (int type = 0; type < N_TYPES; type++)
		for (int reduction = 0; reduction < N_REDUCTIONS; reduction++)
			/* Sums of eight are exact in all but e5m2, which has three digits. */
			if (type != E5M2 || reduction == MAX || reduction == MIN || self->n == 2)
				reduce_one(self, &b, type, reduction);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_reductions_are_what_a_plain_computation_gives(void **state)
{
	(void)state;
	for (int n = 2; n <= 4; n++)
		nccl_run_ranks(n, every_reduction);
	nccl_run_ranks(MAX_RANKS, every_reduction);
}

static void gather_one(const struct rank *self, const struct buffers *b, int type)
{
	size_t n = (size_t)self->n, rank = (size_t)self->rank;
	int root = self->n - 1;

	prepare(self, b, type, COUNT);
	check(ncclAllGather(b->send, b->receive, COUNT, type, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < n * COUNT; i++)
		compare(self, b, type, i, given((int)(i / COUNT), i % COUNT));
	prepare(self, b, type, COUNT);
	check(ncclBroadcast(b->send, b->receive, COUNT, type, root, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < COUNT; i++)
		compare(self, b, type, i, given(root, i));
	prepare(self, b, type, n * COUNT);
	check(ncclAlltoAll(b->send, b->receive, COUNT, type, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < n * COUNT; i++)
		compare(self, b, type, i, given((int)(i / COUNT), rank * COUNT + i % COUNT));
	prepare(self, b, type, COUNT);
	check(ncclGather(b->send, b->receive, COUNT, type, root, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < n * COUNT && self->rank == root; i++)
		compare(self, b, type, i, given((int)(i / COUNT), i % COUNT));
	prepare(self, b, type, n * COUNT);
	check(ncclScatter(b->send, b->receive, COUNT, type, root, self->comm, self->stream) == SUCCESS);
	fetch(self, b);
	for (size_t i = 0; i < COUNT; i++)
		compare(self, b, type, i, given(root, rank * COUNT + i));
}

static int every_gather(struct rank *self)
{
	struct buffers b;

	make_buffers(&b);
	for (int type = 0; type < N_TYPES; type++)
		gather_one(self, &b, type);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_what_is_gathered_comes_from_the_right_rank(void **state)
{
	(void)state;
	nccl_run_ranks(2, every_gather);
	nccl_run_ranks(4, every_gather);
}

/* Each rank sends to the next, itself included where there is one rank; then all to all by sends. */
static int sends(struct rank *self)
{
	int next = (self->rank + 1) % self->n, previous = (self->rank + self->n - 1) % self->n;
	struct buffers b;

	make_buffers(&b);
	prepare(self, &b, FLOAT32, COUNT);
	check(ncclGroupStart() == SUCCESS);
	check(ncclSend(b.send, COUNT, FLOAT32, next, self->comm, self->stream) == SUCCESS);
	check(ncclRecv(b.receive, COUNT, FLOAT32, previous, self->comm, self->stream) == SUCCESS);
	check(ncclGroupEnd() == SUCCESS);
	fetch(self, &b);
	for (size_t i = 0; i < COUNT; i++)
		compare(self, &b, FLOAT32, i, given(previous, i));
	prepare(self, &b, FLOAT32, (size_t)self->n * COUNT);
	check(ncclGroupStart() == SUCCESS);
	for (int rank = 0; rank < self->n; rank++) {
		size_t at = (size_t)rank * COUNT * sizeof(float);
		check(ncclSend(b.send + at, COUNT, FLOAT32, rank, self->comm, self->stream) == SUCCESS);
		check(ncclRecv(b.receive + at, COUNT, FLOAT32, rank, self->comm, self->stream) == SUCCESS);
	}
	check(ncclGroupEnd() == SUCCESS);
	fetch(self, &b);
	for (size_t i = 0; i < (size_t)self->n * COUNT; i++)
		compare(self, &b, FLOAT32, i, given((int)(i / COUNT), (size_t)self->rank * COUNT + i % COUNT));
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_sends_meet_their_receives(void **state)
{
	(void)state;
	nccl_run_ranks(1, sends);
	nccl_run_ranks(2, sends);
	nccl_run_ranks(4, sends);
}

/* More operations than a ring has places, of all kinds, with no wait between them. */
static int many(struct rank *self)
{
	enum { N = 700 };
	struct buffers b;
	CUstream streams[3];

	make_buffers(&b);
	for (int i = 0; i < 3; i++)
		check(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
	prepare(self, &b, INT64, COUNT);
	check(cuStreamSynchronize(self->stream) == CUDA_SUCCESS);
	for (int i = 0; i < N; i++)
		check(ncclAllReduce(b.send, b.send, 1, INT64, SUM, self->comm, streams[i % 3]) == SUCCESS);
	check(cuCtxSynchronize() == CUDA_SUCCESS);
	check(ncclBroadcast(b.send, b.receive, COUNT, INT64, 0, self->comm, self->stream) == SUCCESS);
	fetch(self, &b);
	/* Each doubles the sum: what is left of it in 64 bits. */
	compare(self, &b, INT64, 0, 0);
	compare(self, &b, INT64, 1, given(0, 1));
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_many_operations_on_several_streams(void **state)
{
	(void)state;
	nccl_run_ranks(2, many);
}

static int factors(struct rank *self)
{
	struct buffers b;
	float scalar = (float)(self->rank + 1);
	double sum = 0;
	int reduction;

	make_buffers(&b);
	check(ncclRedOpCreatePreMulSum(&reduction, &scalar, FLOAT32, 1, self->comm) == SUCCESS);
	prepare(self, &b, FLOAT32, COUNT);
	check(ncclAllReduce(b.send, b.receive, COUNT, FLOAT64, reduction, self->comm, self->stream) ==
	      INVALID_ARGUMENT);
	check(ncclAllReduce(b.send, b.receive, COUNT, FLOAT32, reduction, self->comm, self->stream) == SUCCESS);
	fetch(self, &b);
	for (size_t i = 0; i < COUNT; i++) {
		sum = 0;
		for (int rank = 0; rank < self->n; rank++)
			sum += (rank + 1) * given(rank, i);
		compare(self, &b, FLOAT32, i, sum);
	}
	check(ncclRedOpDestroy(reduction, self->comm) == SUCCESS);
	check(ncclRedOpDestroy(reduction, self->comm) == INVALID_ARGUMENT);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_a_sum_of_products(void **state)
{
	(void)state;
	nccl_run_ranks(3, factors);
}

/* Even and odd ranks apart, in reverse order; then without rank 0. */
static int splits(struct rank *self)
{
	comm_t part;
	struct buffers b;
	int count, rank;

	make_buffers(&b);
	check(ncclCommSplit(self->comm, self->rank % 2, -self->rank, &part, NULL) == SUCCESS);
	check(ncclCommCount(part, &count) == SUCCESS && count == 2);
	check(ncclCommUserRank(part, &rank) == SUCCESS && rank == 1 - self->rank / 2);
	prepare(self, &b, FLOAT32, COUNT);
	check(ncclAllReduce(b.send, b.receive, COUNT, FLOAT32, SUM, part, self->stream) == SUCCESS);
	fetch(self, &b);
	for (size_t i = 0; i < COUNT; i++)
		compare(self, &b, FLOAT32, i, given(self->rank % 2, i) + given(self->rank % 2 + 2, i));
	check(ncclCommDestroy(part) == SUCCESS);
	check(ncclCommSplit(self->comm, self->rank == 0 ? -1 : 7, 0, &part, NULL) == SUCCESS);
	check((part == NULL) == (self->rank == 0));
	check(!part || (ncclCommCount(part, &count) == SUCCESS && count == 3));
	check(!part || ncclCommDestroy(part) == SUCCESS);
	check(ncclCommDestroy(self->comm) == SUCCESS);
	return 0;
}

static void test_a_communicator_is_split(void **state)
{
	(void)state;
	nccl_run_ranks(4, splits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reductions_are_what_a_plain_computation_gives),
		cmocka_unit_test(test_what_is_gathered_comes_from_the_right_rank),
		cmocka_unit_test(test_sends_meet_their_receives),
		cmocka_unit_test(test_many_operations_on_several_streams),
		cmocka_unit_test(test_a_sum_of_products),
		cmocka_unit_test(test_a_communicator_is_split),
	};

	setenv("SYNCTALLY_SIM", "clock=virtual", 1);
	return cmocka_run_group_tests(tests, nccl_set_up, NULL);
}
