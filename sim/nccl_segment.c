/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nccl_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NOT_KNOWN = -1, SAME_PROCESS = -2 };

#define MAGIC 0x6c63636e79737973u
#define N_PAIRS (SIM_NCCL_MAX_RANKS * SIM_NCCL_MAX_RANKS)

/* Each part of each operation has this much of the file to itself: more than a device holds, and mostly a hole. */
#define PART_SHIFT 40
#define DATA_BASE ((off_t)1 << PART_SHIFT)

struct rank {
	_Atomic int32_t state;
	_Atomic int32_t pid;
	struct sim_split split;
};

/* What makes a file a segment, and this one. */
struct head {
	uint64_t magic;
	uint8_t token[16];
};

struct sim_segment {
	struct head head;
	_Atomic int32_t n_ranks; /* 0 until the first has attached */
	_Atomic uint32_t n_attached;
	_Atomic bool is_forgotten;
	_Atomic uint32_t bell;
	struct rank ranks[SIM_NCCL_MAX_RANKS];
	_Atomic uint32_t n_released[1 + N_PAIRS][SIM_NCCL_RING];
	struct sim_part collective[SIM_NCCL_RING * SIM_NCCL_MAX_RANKS];
	struct sim_part pair[N_PAIRS][SIM_NCCL_RING * 2];
};

void sim_segment_forget(const struct sim_attachment *attachment, const struct sim_place *place)
{
	/* Several ranks of the process that made it may come here. */
	if (place->pid == getpid() && !atomic_exchange(&attachment->segment->is_forgotten, true))
		close(place->fd);
}

bool sim_segment_make(struct sim_place *place)
{
	struct head head = { .magic = MAGIC };
	int fd = memfd_create("synctally-nccl", MFD_CLOEXEC);

	if (fd < 0)
		return false;
	if (getrandom(head.token, sizeof head.token, 0) != sizeof head.token || fchmod(fd, S_IRUSR | S_IWUSR) != 0 ||
	    ftruncate(fd, sizeof(struct sim_segment)) != 0 || pwrite(fd, &head, sizeof head, 0) != sizeof head) {
		close(fd);
		return false;
	}
	place->pid = getpid();
	place->fd = fd;
	memcpy(place->token, head.token, sizeof head.token);
	return true;
}

static int open_place(const struct sim_place *place)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", place->pid, place->fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* The first rank decides how many there are. */
static bool agrees(struct sim_segment *segment, int n_ranks)
{
	int32_t none = 0;

	return atomic_compare_exchange_strong(&segment->n_ranks, &none, n_ranks) || none == n_ranks;
}

static const char *enter(struct sim_segment *segment, const struct sim_place *place, int n_ranks, int rank)
{
	int32_t awaited = SIM_RANK_AWAITED;

	const struct head *head = &segment->head;

	if (head->magic != MAGIC || memcmp(head->token, place->token, sizeof place->token) != 0)
		return "the process that made the id is gone";
	if (!agrees(segment, n_ranks))
		return "the ranks do not agree on their number";
	/* Before the state: who sees the state reads the process. */
	if (atomic_load(&segment->ranks[rank].state) == SIM_RANK_AWAITED)
		atomic_store(&segment->ranks[rank].pid, getpid());
	if (!atomic_compare_exchange_strong(&segment->ranks[rank].state, &awaited, SIM_RANK_HERE))
		return "this rank has been taken by another process or thread";
	atomic_fetch_add(&segment->n_attached, 1);
	return NULL;
}

const char *sim_segment_attach(const struct sim_place *place, int n_ranks, int rank, struct sim_attachment *attachment)
{
	struct stat status;
	int fd = open_place(place);

	if (fd < 0)
		return "the process that made the id is gone, or is not of this user and machine";
	if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(struct sim_segment)) {
		close(fd);
		return "the process that made the id is gone";
	}
	void *mapped = mmap(NULL, sizeof(struct sim_segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const char *reason = mapped == MAP_FAILED ? "no memory" : enter(mapped, place, n_ranks, rank);
	if (reason) {
		if (mapped != MAP_FAILED)
			munmap(mapped, sizeof(struct sim_segment));
		close(fd);
		return reason;
	}
	attachment->segment = mapped;
	attachment->fd = fd;
	attachment->n_ranks = n_ranks;
	attachment->rank = rank;
	for (int i = 0; i < SIM_NCCL_MAX_RANKS; i++)
		atomic_store(&attachment->pidfds[i], NOT_KNOWN);
	sim_segment_ring(attachment);
	return NULL;
}

void sim_segment_leave(struct sim_attachment *attachment)
{
	atomic_store(&attachment->segment->ranks[attachment->rank].state, SIM_RANK_LEFT);
	sim_segment_ring(attachment);
}

void sim_segment_detach(struct sim_attachment *attachment)
{
	for (int i = 0; i < attachment->n_ranks; i++)
		if (attachment->pidfds[i] >= 0)
			close(attachment->pidfds[i]);
	munmap(attachment->segment, sizeof *attachment->segment);
	close(attachment->fd);
}

bool sim_segment_is_complete(const struct sim_attachment *attachment)
{
	return atomic_load(&attachment->segment->n_attached) == (uint32_t)attachment->n_ranks;
}

/* True if the process is gone already. */
static bool watch(_Atomic int *pidfd, int pid)
{
	int not_known = NOT_KNOWN;
	int fd = pid == getpid() ? SAME_PROCESS : (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd == -1)
		return errno == ESRCH;
	if (!atomic_compare_exchange_strong(pidfd, &not_known, fd) && fd >= 0)
		close(fd);
	return false;
}

bool sim_segment_is_gone(struct sim_attachment *attachment, int rank)
{
	struct rank *other = &attachment->segment->ranks[rank];
	_Atomic int *pidfd = &attachment->pidfds[rank];
	int state = atomic_load(&other->state);

	if (state != SIM_RANK_HERE)
		return state == SIM_RANK_LEFT;
	if (atomic_load(pidfd) == NOT_KNOWN && watch(pidfd, atomic_load(&other->pid)))
		return true;
	struct pollfd ends = { .fd = atomic_load(pidfd), .events = POLLIN };
	return ends.fd >= 0 && poll(&ends, 1, 0) == 1;
}

struct sim_split *sim_segment_split(const struct sim_attachment *attachment, int rank)
{
	return &attachment->segment->ranks[rank].split;
}

struct sim_channel sim_segment_collective(const struct sim_attachment *attachment)
{
	struct sim_segment *segment = attachment->segment;

	return (struct sim_channel){ segment->collective, segment->n_released[0], (unsigned)attachment->n_ranks, 0 };
}

struct sim_channel sim_segment_pair(const struct sim_attachment *attachment, int from, int to)
{
	struct sim_segment *segment = attachment->segment;
	unsigned pair = (unsigned)(from * SIM_NCCL_MAX_RANKS + to);

	return (struct sim_channel){ segment->pair[pair], segment->n_released[1 + pair], 2, 1 + pair };
}

bool sim_channel_has_room(const struct sim_channel *channel, uint64_t n)
{
	if (n < SIM_NCCL_RING)
		return true;
	for (unsigned party = 0; party < channel->n_parties; party++)
		if (atomic_load(&sim_channel_part(channel, n, party)->released) != n - SIM_NCCL_RING + 1)
			return false;
	return true;
}

static off_t offset_of(const struct sim_channel *channel, uint64_t n, unsigned party)
{
	off_t slot = (off_t)channel->index * SIM_NCCL_RING + (off_t)(n % SIM_NCCL_RING);

	return DATA_BASE + ((slot * SIM_NCCL_MAX_RANKS + party) << PART_SHIFT);
}

void sim_channel_release(const struct sim_attachment *attachment, const struct sim_channel *channel, uint64_t n,
                         unsigned party)
{
	_Atomic uint32_t *n_released = &channel->n_released[n % SIM_NCCL_RING];

	if (atomic_fetch_add(n_released, 1) + 1 == channel->n_parties) {
		off_t all = (off_t)channel->n_parties << PART_SHIFT;
		fallocate(attachment->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_of(channel, n, 0), all);
		atomic_store(n_released, 0);
	}
	atomic_store(&sim_channel_part(channel, n, party)->released, n + 1);
}

bool sim_channel_write(const struct sim_attachment *attachment, const struct sim_channel *channel, uint64_t n,
                       unsigned party, const void *from, size_t bytes)
{
	off_t at = offset_of(channel, n, party);

	for (size_t done = 0; done < bytes;) {
		ssize_t written = pwrite(attachment->fd, (const char *)from + done, bytes - done, at + (off_t)done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		done += (size_t)written;
	}
	return true;
}

bool sim_channel_read(const struct sim_attachment *attachment, const struct sim_channel *channel, uint64_t n,
                      unsigned party, size_t offset, void *to, size_t bytes)
{
	off_t at = offset_of(channel, n, party) + (off_t)offset;

	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(attachment->fd, (char *)to + done, bytes - done, at + (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

uint32_t sim_segment_listen(const struct sim_attachment *attachment)
{
	return atomic_load(&attachment->segment->bell);
}

bool sim_segment_wait(const struct sim_attachment *attachment, uint32_t heard, uint64_t ns)
{
	struct timespec limit = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return syscall(SYS_futex, &attachment->segment->bell, FUTEX_WAIT, heard, &limit, NULL, 0) == 0 ||
	       errno != ETIMEDOUT;
}

void sim_segment_ring(const struct sim_attachment *attachment)
{
	atomic_fetch_add(&attachment->segment->bell, 1);
	syscall(SYS_futex, &attachment->segment->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
