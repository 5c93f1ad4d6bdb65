/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static struct sy_segment_header *process_defs(const struct sy_writer *writer)
{
	return (struct sy_segment_header *)((char *)writer->header + SY_PROCESS_DEFS_OFFSET);
}

/* Growing a file past RLIMIT_FSIZE raises SIGXFSZ, which would end the program: ask first. */
static bool may_grow_to(uint64_t end_bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end_bytes <= limit.rlim_cur;
}

/*
 * Reserves disk space, so that a later store into the mapping cannot fault on a
 * full disk. File systems without fallocate get zeros written instead.
 */
static int back_with_space(int fd, uint64_t offset, uint64_t bytes)
{
	static const char zeros[4096];

	if (!may_grow_to(offset + bytes))
		return EFBIG;
	if (fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return errno;
	for (uint64_t at = offset; at < offset + bytes; at += sizeof(zeros)) {
		ssize_t n = pwrite(fd, zeros, sizeof(zeros), (off_t)at);

		if (n != (ssize_t)sizeof(zeros))
			return n < 0 ? errno : ENOSPC;
	}
	return 0;
}

static void *map_range(int fd, uint64_t offset, uint32_t bytes, int *error)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (at == MAP_FAILED) {
		*error = errno;
		return NULL;
	}
	/*
	 * Page faults on the way cost more than the events; older kernels do not know the advice, which is fine.
	 * EFAULT: a store into it would raise SIGBUS; the file was cut, or its space is not there after all.
	 */
	if (madvise(at, bytes, MADV_POPULATE_WRITE) != 0 && errno == EFAULT) {
		munmap(at, bytes);
		*error = ENOSPC;
		return NULL;
	}
	return at;
}

int sy_writer_open(struct sy_writer *writer, const char *path, const struct sy_file_header *initial)
{
	struct sy_file_header *header;
	struct sy_segment_header *defs;
	struct stat status;
	int error = 0;
	int fd;

	if (strlen(path) >= sizeof(writer->path))
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	if (fstat(fd, &status) != 0)
		error = errno;
	else
		error = back_with_space(fd, 0, SY_HEADER_BYTES);
	header = error ? NULL : map_range(fd, 0, SY_HEADER_BYTES, &error);
	close(fd);
	if (!header) {
		unlink(path);
		return error;
	}
	*header = *initial;
	header->major = SY_FORMAT_MAJOR;
	header->minor = SY_FORMAT_MINOR;
	header->header_bytes = sizeof(*header);
	header->end_bytes = SY_HEADER_BYTES;
	header->n_threads = 0;
	header->discarded_events = 0;
	header->discarded_defs = 0;
	header->state = SY_STATE_RUNNING;
	memcpy(writer->path, path, strlen(path) + 1);
	writer->device = status.st_dev;
	writer->inode = status.st_ino;
	writer->header = header;
	defs = process_defs(writer);
	defs->bytes = SY_HEADER_BYTES - SY_PROCESS_DEFS_OFFSET;
	defs->thread = SY_PROCESS_THREAD;
	atomic_thread_fence(memory_order_release);
	defs->kind = SY_SEG_DEFS;
	header->magic = SY_FORMAT_MAGIC;
	return 0;
}

/* Opens the trace again, and makes sure that the path still leads to it. */
static int reopen(const struct sy_writer *writer, int *error)
{
	struct stat status;
	int fd = open(writer->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0) {
		*error = errno;
		return -1;
	}
	if (fstat(fd, &status) != 0 || status.st_dev != writer->device || status.st_ino != writer->inode) {
		close(fd);
		*error = ESTALE;
		return -1;
	}
	return fd;
}

struct sy_segment_header *sy_writer_segment(struct sy_writer *writer, enum sy_segment_kind kind, uint32_t bytes,
                                            uint32_t thread, uint32_t sequence, uint32_t tid, const char *name,
                                            int *error)
{
	struct sy_segment_header *segment;
	uint64_t offset;
	int fd = reopen(writer, error);

	if (fd < 0)
		return NULL;
	offset = __atomic_fetch_add(&writer->header->end_bytes, bytes, __ATOMIC_RELAXED);
	*error = back_with_space(fd, offset, bytes);
	segment = *error ? NULL : map_range(fd, offset, bytes, error);
	close(fd);
	if (!segment)
		return NULL;
	segment->bytes = bytes;
	segment->thread = thread;
	segment->sequence = sequence;
	segment->tid = tid;
	strncpy(segment->name, name, sizeof(segment->name) - 1);
	__atomic_store_n(&segment->kind, kind, __ATOMIC_RELEASE);
	return segment;
}

void sy_writer_release(struct sy_segment_header *segment)
{
	munmap(segment, segment->bytes);
}

bool sy_writer_define(struct sy_writer *writer, struct sy_segment_header *segment, enum sy_def_kind kind, uint32_t id,
                      const struct sy_part *parts, unsigned n_parts)
{
	struct sy_segment_header *to = segment ? segment : process_defs(writer);
	size_t payload_bytes = 0;
	size_t record_bytes;
	struct sy_def_header *def;
	char *at;

	for (unsigned i = 0; i < n_parts; i++)
		payload_bytes += parts[i].bytes;
	record_bytes = (sizeof(*def) + payload_bytes + 7) & ~(size_t)7;
	if (record_bytes > to->bytes - sizeof(*to) - to->used)
		return false;
	def = (struct sy_def_header *)((char *)(to + 1) + to->used);
	at = (char *)(def + 1);
	for (unsigned i = 0; i < n_parts; i++) {
		memcpy(at, parts[i].data, parts[i].bytes);
		at += parts[i].bytes;
	}
	def->pad = (uint16_t)(record_bytes - sizeof(*def) - payload_bytes);
	def->bytes = (uint32_t)record_bytes;
	def->id = id;
	def->kind = (uint16_t)kind;
	/* A reader takes only what `used` covers, so a half-written definition is never seen. */
	__atomic_store_n(&to->used, to->used + (uint32_t)record_bytes, __ATOMIC_RELEASE);
	return true;
}
