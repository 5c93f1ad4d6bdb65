/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_segment.h - the memory that the ranks of one communicator share
 *
 * A file without a name (memfd) that only processes of the same user can
 * open, through the process that made it: nothing is left behind, however the
 * ranks end. Its beginning is mapped by all; the bytes that ranks give each
 * other lie far behind, at offsets that follow from what they are for, and are
 * written and read, never mapped. All functions: any thread.
 */
#ifndef SIM_NCCL_SEGMENT_H
#define SIM_NCCL_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SIM_NCCL_MAX_RANKS = 8,
	SIM_NCCL_RING = 256, /* operations of one channel that may be under way, a power of two */
};

/* Where a segment is: what a unique id holds. */
struct sim_place {
	int32_t pid;
	int32_t fd;
	uint8_t token[16];
};

/* What one rank says about its part in an operation, the n-th of its channel. Counts are n + 1, and grow. */
struct sim_part {
	_Atomic uint64_t published; /* what follows is filled in */
	uint64_t start_ns;
	uint64_t count;
	int32_t kind, type, reduction, root;
	_Atomic uint64_t sent;     /* its bytes are in the file */
	_Atomic uint64_t released; /* it has read the others' */
};

/* The operations of a channel: a ring of slots, of as many parts as the channel has parties. */
struct sim_channel {
	struct sim_part *parts;
	_Atomic uint32_t *n_released; /* per slot */
	unsigned n_parties;
	unsigned index;
};

enum sim_rank_state { SIM_RANK_AWAITED, SIM_RANK_HERE, SIM_RANK_LEFT };

/* What a rank says when a communicator is split, and where its new one is. */
struct sim_split {
	_Atomic uint32_t n_asked, n_placed, n_done; /* of splits so far */
	int32_t color, key;
	struct sim_place place;
};

struct sim_segment; /* mapped */

/* A rank's hold on a segment. */
struct sim_attachment {
	struct sim_segment *segment;
	int fd;
	int n_ranks, rank;
	_Atomic int pidfds[SIM_NCCL_MAX_RANKS]; /* -1: not known yet, -2: this process */
};

/* Makes a segment, which lives as long as this process or a rank has it. False: the system refuses. */
bool sim_segment_make(struct sim_place *place);

/* NULL, or why a rank cannot attach to it: a text for a person. */
const char *sim_segment_attach(const struct sim_place *place, int n_ranks, int rank, struct sim_attachment *attachment);

/* Says that the rank has left, and lets go. */
void sim_segment_leave(struct sim_attachment *attachment);
void sim_segment_detach(struct sim_attachment *attachment);

/* All ranks have attached: nobody needs to find it any more. */
bool sim_segment_is_complete(const struct sim_attachment *attachment);
void sim_segment_forget(const struct sim_attachment *attachment, const struct sim_place *place);

/* True if the rank was here and is no more: what it has not said it will not say. */
bool sim_segment_is_gone(struct sim_attachment *attachment, int rank);

struct sim_split *sim_segment_split(const struct sim_attachment *attachment, int rank);

struct sim_channel sim_segment_collective(const struct sim_attachment *attachment);

/* Party 0 sends to party 1. */
struct sim_channel sim_segment_pair(const struct sim_attachment *attachment, int from, int to);

static inline struct sim_part *sim_channel_part(const struct sim_channel *channel, uint64_t n, unsigned party)
{
	return &channel->parts[n % SIM_NCCL_RING * channel->n_parties + party];
}

/* True once everybody is done with what last had the place of the n-th operation. */
bool sim_channel_has_room(const struct sim_channel *channel, uint64_t n);

/* One party has read all it needs of the n-th operation. The last one gives the memory back. */
void sim_channel_release(const struct sim_attachment *attachment, const struct sim_channel *channel, uint64_t n,
                         unsigned party);

/* Bytes of a party, from that offset in what it gives. False: the system refuses. */
bool sim_channel_write(const struct sim_attachment *attachment, const struct sim_channel *channel, uint64_t n,
                       unsigned party, const void *from, size_t bytes);
bool sim_channel_read(const struct sim_attachment *attachment, const struct sim_channel *channel, uint64_t n,
                      unsigned party, size_t offset, void *to, size_t bytes);

/* The bell that every change rings. Listen, look, and then wait for a ring since; false after that many ns without. */
uint32_t sim_segment_listen(const struct sim_attachment *attachment);
bool sim_segment_wait(const struct sim_attachment *attachment, uint32_t heard, uint64_t ns);
void sim_segment_ring(const struct sim_attachment *attachment);

#endif
