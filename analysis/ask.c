/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs argv with its stdout in a pipe and nothing else connected. The pipe's reading end, or -1. */
static int start(const char *path, char *const argv[], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	error = posix_spawn(pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		return -1;
	}
	return ends[0];
}

bool sy_ask(const char *path, char *const argv[], sy_line_fn *fn, void *context)
{
	char line[PATH_MAX];
	FILE *answer;
	pid_t pid;
	int fd = start(path, argv, &pid);

	if (fd < 0)
		return false;
	answer = fdopen(fd, "re");
	while (answer && fgets(line, sizeof(line), answer)) {
		line[strcspn(line, "\n")] = '\0';
		fn(context, line);
	}
	if (answer)
		fclose(answer);
	else
		close(fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}
