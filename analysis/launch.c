/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };

#define N_FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))

static volatile pid_t child;

static void forward(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)context;
	/* The terminal sends to the whole process group: the command has that one already. */
	if (info->si_code <= 0 && child > 0)
		kill(child, number);
	errno = saved_errno;
}

/* Notes the old actions, for the command and for afterwards. */
static void catch_signals(struct sigaction old[N_FORWARDED])
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = forward;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < N_FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &old[i]);
		/* What was ignored, as nohup does, stays so. */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static void restore_signals(const struct sigaction old[N_FORWARDED])
{
	for (size_t i = 0; i < N_FORWARDED; i++)
		sigaction(forwarded[i], &old[i], NULL);
}

/* In the child; tells the parent through the pipe why there is no program. */
static void execute(char *const command[], const struct sy_setting *settings, int report)
{
	int error = 0;

	for (; settings->name && !error; settings++)
		if (setenv(settings->name, settings->value, 1) != 0)
			error = errno;
	if (!error) {
		execvp(command[0], command);
		error = errno;
	}
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Reads the reason of a failed start; 0 if the pipe was closed by a successful one. */
static int read_reason(int from)
{
	int error = 0;
	ssize_t n;

	do
		n = read(from, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

static pid_t start(char *const command[], const struct sy_setting *settings, const struct sigaction *old,
                   const int report[2])
{
	sigset_t all, before;
	pid_t pid;

	/* No signal may come between the fork and the note of the child's id. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		restore_signals(old);
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(report[0]);
		execute(command, settings, report[1]);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int sy_launch(char *const command[], const struct sy_setting *settings, int *was_started, struct sy_err *err)
{
	struct sigaction old[N_FORWARDED];
	int report[2];
	int wait_status = 0, reason;
	pid_t pid;

	*was_started = 0;
	if (pipe2(report, O_CLOEXEC) != 0) {
		sy_err_set(err, "cannot start a process: %s", strerror(errno));
		return 126;
	}
	catch_signals(old);
	pid = start(command, settings, old, report);
	reason = pid < 0 ? errno : 0;
	close(report[1]);
	if (pid > 0) {
		reason = read_reason(report[0]);
		while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
			;
	}
	close(report[0]);
	child = 0;
	restore_signals(old);
	if (!reason) {
		*was_started = 1;
		return status_of(wait_status);
	}
	sy_err_set(err, "cannot run the program: name=%s: %s", command[0], strerror(reason));
	return reason == ENOENT ? 127 : 126;
}
