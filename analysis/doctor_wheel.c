/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_wheel.c - the object files inside a Python wheel, which is a ZIP archive */
#include "analysis/doctor.h"
#include "analysis/mem.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

/* A file without a name, where there is room for large ones. */
static int open_scratch(struct sy_err *err)
{
	const char *directory = getenv("TMPDIR");
	int fd = open(directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		sy_err_set(err, "no place to unpack a wheel's member to: TMPDIR=%s: %s",
		           directory && *directory ? directory : "/tmp", strerror(errno));
	return fd;
}

static int examine_member(struct sy_doctor *doctor, struct archive *archive, const char *wheel, const char *member,
                          struct sy_err *err)
{
	int fd = open_scratch(err);
	int result = 0;

	if (fd < 0)
		return -1;
	if (archive_read_data_into_fd(archive, fd) != ARCHIVE_OK)
		result = sy_err_set(err, "cannot unpack: wheel=%s member=%s: %s", wheel, member,
		                    archive_error_string(archive));
	else
		sy_doctor_add(doctor, sy_mem_printf(&doctor->arena, "/proc/self/fd/%d", fd),
		              sy_mem_printf(&doctor->arena, "%s!%s", wheel, member), false);
	close(fd);
	return result;
}

int sy_doctor_wheel(struct sy_doctor *doctor, const char *path, struct sy_err *err)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	int result = 0, status;

	if (!archive || archive_read_support_format_zip(archive) != ARCHIVE_OK ||
	    archive_read_open_filename(archive, path, READ_BYTES) != ARCHIVE_OK) {
		result = sy_err_set(err, "cannot read the wheel: path=%s: %s", path,
		                    archive ? archive_error_string(archive) : "out of memory");
		archive_read_free(archive);
		return result;
	}
	while (result == 0 && (status = archive_read_next_header(archive, &entry)) != ARCHIVE_EOF) {
		const char *member = archive_entry_pathname(entry);

		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			result = sy_err_set(err, "cannot read the wheel: path=%s: %s", path,
			                    archive_error_string(archive));
		else if (member && archive_entry_filetype(entry) == AE_IFREG &&
		         (strstr(member, ".so") || archive_entry_mode(entry) & 0111))
			result = examine_member(doctor, archive, path, member, err);
	}
	archive_read_free(archive);
	return result;
}
