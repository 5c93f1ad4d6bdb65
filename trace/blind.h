/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blind.h - which objects of a process make CUDA calls past the preload library
 *
 * What the preload library exports, every object that imports it is to be bound
 * to. One that was loaded with a scope of its own (RTLD_DEEPBIND, dlmopen) is
 * bound to CUDA's libraries themselves, and its calls are not seen. The slots
 * that the loader has filled tell; nothing is asked of the loader.
 *
 * The process may be the caller's own: its memory is read by process_vm_readv,
 * so that an object unmapped meanwhile is a failed read and no fault. Allocates
 * nothing. One thread at a time per memory.
 */
#ifndef SY_TRACE_BLIND_H
#define SY_TRACE_BLIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SY_BLIND_OBJECTS 4096
#define SY_BLIND_MATCHES 1024

/* Some 900 KB, mostly untouched. Zeroed at first; what has been judged is not looked at again. */
struct sy_blind_memory {
	pid_t pid;
	uint32_t n_objects;
	struct sy_blind_object {
		uint64_t base, end;
		uint32_t path; /* in `paths` */
		bool is_judged;
	} objects[SY_BLIND_OBJECTS];
	uint32_t n_paths;
	char paths[SY_BLIND_OBJECTS * 128];
	uint64_t judged[SY_BLIND_OBJECTS * 2]; /* keys of objects; 0 empty */
	struct sy_blind_match {
		uint32_t symbol;
		char name[60];
	} matches[SY_BLIND_MATCHES];
	uint32_t n_matches;
	bool is_full;
	uint64_t records[1024];
	unsigned char window[4096 + 64];
};

enum sy_blind_result {
	SY_BLIND_DONE,
	SY_BLIND_PARTLY,    /* there are more objects than fit */
	SY_BLIND_NO_ACCESS, /* its memory or its mappings may not be read */
	SY_BLIND_NO_LIBRARY /* no preload library there */
};

/* `function`: one that goes past. Each object is told once per memory. */
typedef void sy_blind_fn(void *context, const char *path, const char *function);

/* `library`: the file name of the preload library, without its directory. */
enum sy_blind_result sy_blind_find(struct sy_blind_memory *memory, pid_t pid, const char *library, sy_blind_fn *fn,
                                   void *context);

#endif
