/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(struct sy_err *err, const char *path)
{
	return sy_err_set(err, "cannot write: path=%s: %s", path, strerror(errno));
}

static int exists(struct sy_err *err, const char *path)
{
	return sy_err_set(err, "there is a file of that name: path=%s: name another one, or use --force", path);
}

/* mkostemp is for secrets; a result is as readable as any new file. */
static void make_readable(int fd)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
}

/* A name nobody else uses, in the same folder, so that moving it is one step. */
static int make_beside(struct sy_output *output, bool with_stream, struct sy_err *err)
{
	int fd;

	if (asprintf(&output->beside, "%s.XXXXXX", output->path) < 0) {
		output->beside = NULL;
		return sy_err_set(err, "out of memory");
	}
	fd = mkostemp(output->beside, O_CLOEXEC);
	if (fd < 0)
		return cannot(err, output->path);
	make_readable(fd);
	if (with_stream)
		output->file = fdopen(fd, "w");
	else
		close(fd);
	return !with_stream || output->file ? 0 : cannot(err, output->path);
}

int sy_output_open(struct sy_output *output, const char *path, bool may_replace, bool with_stream, struct sy_err *err)
{
	struct stat status;
	bool is_there = lstat(path, &status) == 0;
	int result;

	*output = (struct sy_output){ .path = path, .may_replace = may_replace };
	if (is_there && S_ISLNK(status.st_mode) && stat(path, &status) != 0)
		return sy_err_set(err, "cannot write: path=%s: a link that leads nowhere", path);
	output->is_plain = !is_there || S_ISREG(status.st_mode);
	if (is_there && output->is_plain && !may_replace)
		return exists(err, path);
	if (is_there && S_ISDIR(status.st_mode))
		return sy_err_set(err, "cannot write: path=%s: it is a directory", path);
	if (output->is_plain) {
		result = make_beside(output, with_stream, err);
	} else {
		output->beside = strdup(path);
		output->file = with_stream ? fopen(path, "we") : NULL;
		result = !with_stream || output->file ? 0 : cannot(err, path);
	}
	if (result != 0)
		sy_output_drop(output);
	return result;
}

/* 0, or -1 with errno. */
static int move(const struct sy_output *output)
{
	if (output->may_replace)
		return rename(output->beside, output->path);
	/* Unlike rename, link fails if somebody made the file meanwhile. */
	if (link(output->beside, output->path) == 0)
		return unlink(output->beside);
	if (errno == EEXIST)
		return -1;
	return rename(output->beside, output->path);
}

int sy_output_keep(struct sy_output *output, struct sy_err *err)
{
	bool has_failed = output->file && (fflush(output->file) != 0 || ferror(output->file));
	int why = errno;

	if (output->file && fclose(output->file) != 0 && !has_failed) {
		has_failed = true;
		why = errno;
	}
	output->file = NULL;
	if (!has_failed && output->is_plain && move(output) != 0) {
		has_failed = true;
		why = errno;
	}
	if (has_failed) {
		sy_output_drop(output);
		errno = why;
		return why == EEXIST ? exists(err, output->path) : cannot(err, output->path);
	}
	free(output->beside);
	output->beside = NULL;
	return 0;
}

void sy_output_drop(struct sy_output *output)
{
	if (output->file)
		(void)fclose(output->file);
	output->file = NULL;
	if (output->beside && output->is_plain)
		(void)unlink(output->beside);
	free(output->beside);
	output->beside = NULL;
}
