/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/nccl_ranks.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#define DEFINE_FUNCTION(result, name, params) result(*name) params;
FUNCTIONS(DEFINE_FUNCTION)

static unique_id id;
static int *shared;
static pid_t pids[MAX_RANKS];
static int n_ranks;

int nccl_set_up(void **state)
{
	void *library = dlopen("libnccl.so.2", RTLD_NOW), *address;

	(void)state;
	if (!library)
		fail_msg("%s", dlerror());
#define FIND_FUNCTION(result, name, params)                                                                            \
	address = dlsym(library, #name);                                                                               \
	assert_non_null(address);                                                                                      \
	memcpy(&name, &address, sizeof address);
	FUNCTIONS(FIND_FUNCTION)
	shared = mmap(NULL, MAX_SHARED * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	return 0;
}

static void start_rank(struct rank *self, int rank)
{
	CUcontext context;

	*self = (struct rank){ .rank = rank, .n = n_ranks, .shared = shared };
	check(cuInit(0) == CUDA_SUCCESS);
	check(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
	check(cuCtxSetCurrent(context) == CUDA_SUCCESS);
	check(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
	check(ncclCommInitRank(&self->comm, n_ranks, id, rank) == SUCCESS);
}

static pid_t fork_rank(int rank, body_fn body)
{
	struct rank self;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	/* A rank that hangs is a failure, not a test run that hangs. */
	alarm(120);
	start_rank(&self, rank);
	_exit(body(&self));
}

void nccl_start_ranks(int n, body_fn body)
{
	n_ranks = n;
	memset(shared, 0, MAX_SHARED * sizeof *shared);
	assert_int_equal(ncclGetUniqueId(&id), SUCCESS);
	for (int rank = 0; rank < n; rank++)
		pids[rank] = fork_rank(rank, body);
}

int nccl_wait_rank(int rank)
{
	int status;

	assert_int_equal(waitpid(pids[rank], &status, 0), pids[rank]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void nccl_wait_ranks(int statuses[MAX_RANKS])
{
	for (int rank = 0; rank < n_ranks; rank++)
		statuses[rank] = nccl_wait_rank(rank);
}

pid_t nccl_rank_pid(int rank)
{
	return pids[rank];
}

int *nccl_shared(void)
{
	return shared;
}

void nccl_run_ranks(int n, body_fn body)
{
	int statuses[MAX_RANKS];

	nccl_start_ranks(n, body);
	nccl_wait_ranks(statuses);
	for (int rank = 0; rank < n; rank++)
		assert_int_equal(statuses[rank], 0);
}
