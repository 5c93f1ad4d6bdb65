/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/log.h"

#include "interposer/undisturbed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINES 16

static _Atomic int n_lines;
static struct stat first_stderr; /* st_ino 0: there was none */

void sy_log_init(void)
{
	if (fstat(STDERR_FILENO, &first_stderr) != 0)
		first_stderr.st_ino = 0;
}

/*
 * A program that has closed its standard error may have a file of its own, or a
 * connection, under that number now. A stream that people read is a terminal or
 * a pipe, or is appended to.
 */
static bool is_stderr(void)
{
	struct stat now;

	if (fstat(STDERR_FILENO, &now) != 0)
		return false;
	if (now.st_dev == first_stderr.st_dev && now.st_ino == first_stderr.st_ino)
		return true;
	if (S_ISREG(now.st_mode))
		return (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0;
	return S_ISCHR(now.st_mode) || S_ISFIFO(now.st_mode);
}

static size_t append(char *line, size_t used, size_t capacity, const char *text)
{
	size_t n = strlen(text);

	if (n > capacity - used)
		n = capacity - used;
	memcpy(line + used, text, n);
	return used + n;
}

void sy_log_parts(const char *const *parts)
{
	char line[1024];
	struct sy_undisturbed saved;
	ssize_t written;
	size_t used;

	if (atomic_fetch_add(&n_lines, 1) >= MAX_LINES)
		return;
	used = append(line, 0, sizeof(line) - 1, "synctally: ");
	for (; *parts; parts++)
		used = append(line, used, sizeof(line) - 1, *parts);
	line[used++] = '\n';
	sy_undisturbed_begin(&saved);
	/* One write, so that lines of several processes do not mix; nobody is told if it fails. */
	written = is_stderr() ? write(STDERR_FILENO, line, used) : 0;
	(void)written;
	sy_undisturbed_end(&saved);
}

const char *sy_log_number(char buffer[SY_LOG_NUMBER_BYTES], long value)
{
	unsigned long rest = value < 0 ? 0ul - (unsigned long)value : (unsigned long)value;
	size_t at = SY_LOG_NUMBER_BYTES - 1; /* from the back: 20 digits and a sign fit */

	buffer[at] = '\0';
	do {
		buffer[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		buffer[--at] = '-';
	return &buffer[at];
}

const char *sy_log_reason(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "no permission";
	case ENOSPC:
	case EDQUOT:
		return "no space left";
	case EFBIG:
		return "file size limit reached";
	case ENOENT:
		return "no such directory, or the trace was removed";
	case ESTALE:
		return "the trace was replaced";
	case EEXIST:
		return "the file exists";
	case ESPIPE:
		return "not a plain file: name another one in SYNCTALLY_OUT";
	case EROFS:
		return "read-only file system";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENOMEM:
		return "no memory";
	case ENAMETOOLONG:
		return "path too long";
	default:
		return "system error";
	}
}
