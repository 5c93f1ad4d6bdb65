/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - signal handlers that call CUDA, or fork, while a call is in progress
 *
 *	signals timer N     a fast timer interrupts N calls at any moment; its handler calls CUDA as well
 *	signals fork N      N calls fork from a handler inside of them; the children return into the call,
 *	                    and go on calling
 *	signals cancel      a thread that is to be cancelled makes the first call of all
 *
 * To be run with the functions of plugins/nothing.c behind the recorder, which
 * raise SIGURG in a wait.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

void synctally_step(void) __attribute__((weak));

static const char kernel[1];
static volatile sig_atomic_t n_handled, n_bad;
static pid_t parent;

static void call_in_handler(int signal)
{
	(void)signal;
	n_handled++;
	n_bad += cudaMemcpyAsync(NULL, NULL, 4, cudaMemcpyDeviceToHost, NULL) != cudaSuccess;
}

static void fork_in_handler(int signal)
{
	(void)signal;
	n_handled++;
	if (getpid() == parent)
		(void)fork();
}

static void call_many(int n)
{
	bool is_child = false;

	for (int i = 0; i < n; i++) {
		n_bad += cudaStreamSynchronize(NULL) != cudaSuccess;
		n_bad += cudaStreamSynchronize(NULL) != cudaSuccess; /* there is nothing to wait for */
		n_bad += cudaLaunchKernel(kernel, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL) != cudaSuccess;
		if (i % 16 == 0 && synctally_step)
			synctally_step();
		if (!is_child && getpid() != parent) {
			is_child = true;
			n = i + 5;
		}
	}
}

static void *call_cancelled(void *has_returned)
{
	pthread_cancel(pthread_self());
	n_bad += cudaStreamSynchronize(NULL) != cudaSuccess;
	*(bool *)has_returned = true;
	pthread_testcancel();
	return NULL;
}

static int cancel(void)
{
	bool has_returned = false;
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, call_cancelled, &has_returned) != 0)
		return 2;
	pthread_join(thread, &result);
	n_bad += cudaStreamSynchronize(NULL) != cudaSuccess;
	printf("%d bad; the call has returned: %d, the thread was cancelled: %d\n", (int)n_bad, has_returned,
	       result == PTHREAD_CANCELED);
	return 0;
}

int main(int argc, char **argv)
{
	const struct itimerval fast = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = call_in_handler, .sa_flags = SA_RESTART };
	int n = argc > 2 ? atoi(argv[2]) : 1000;
	int status, n_children = 0, n_bad_children = 0;

	if (argc > 1 && strcmp(argv[1], "cancel") == 0)
		return cancel();
	parent = getpid();
	if (argc > 1 && strcmp(argv[1], "fork") == 0) {
		action.sa_handler = fork_in_handler;
		sigaction(SIGURG, &action, NULL);
	} else {
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &fast, NULL);
	}
	call_many(n);
	setitimer(ITIMER_REAL, &never, NULL);
	if (getpid() != parent)
		return n_bad != 0;
	while (wait(&status) > 0) {
		n_children++;
		n_bad_children += status != 0;
	}
	printf("%d bad; %d children, %d bad; handler: %s\n", (int)n_bad, n_children, n_bad_children,
	       n_handled ? "ran" : "never ran");
	return 0;
}
