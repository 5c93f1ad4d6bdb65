/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - what is mapped in a process, from /proc/PID/maps
 *
 * Not from the loader's list: that one is under a lock which another thread
 * may hold for as long as a constructor runs, and ends with its namespace.
 * Allocates nothing and keeps little on the stack, which may be the trainer's.
 */
#ifndef SY_TRACE_MAPS_H
#define SY_TRACE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sy_mapping {
	uint64_t start, end;
	const char *path; /* of the file, valid until the next call; cut if very long; "" if there is none */
};

struct sy_maps {
	int fd; /* -1: could not be opened */
	size_t start, end;
	char buffer[1024];
};

void sy_maps_open(struct sy_maps *maps, pid_t pid);
/* In the order of addresses; false at the end. */
bool sy_maps_next(struct sy_maps *maps, struct sy_mapping *mapping);
void sy_maps_close(struct sy_maps *maps);

#endif
