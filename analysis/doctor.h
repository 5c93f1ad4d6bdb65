/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - the objects that a program has, or may come to have, and how they come to CUDA
 *
 * The sources of objects: a file, a directory with all below it, wheels (as files or in directories), what is
 * mapped in a process, and what a command would load. Each file counts once.
 */
#ifndef SY_ANALYSIS_DOCTOR_H
#define SY_ANALYSIS_DOCTOR_H

#include "trace/arena.h"
#include "trace/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sy_patient {
	const char *path;    /* of a wheel's member: WHEEL!MEMBER */
	uint32_t reaches;    /* set of enum sy_reach */
	const char *problem; /* why it could not be examined, or NULL */
};

struct sy_doctor {
	struct sy_arena arena;
	struct sy_patient *patients; /* those that come to CUDA, or could not be examined */
	size_t n, capacity;
	size_t n_examined; /* objects, whether they come to CUDA or not */
	struct sy_seen_file {
		dev_t device;
		ino_t inode;
	} * files; /* hash of what has been looked at; inode 0 is empty */
	size_t n_files, files_capacity;
	pid_t pid;         /* of the process looked at; 0: none */
	bool is_preloaded; /* the process has the preload library */
	const char
		*no_bindings; /* why it could not be told what its calls are bound to; NULL: it could, or no process */
	const char *program;  /* of the command; NULL: none */
};

/* A file or a directory. -1: it is not there, cannot be read, or is no object and no wheel. */
int sy_doctor_path(struct sy_doctor *doctor, const char *path, struct sy_err *err);
int sy_doctor_process(struct sy_doctor *doctor, pid_t pid, struct sy_err *err);
/* The program, what the loader would load with it, and the packages of its Python. Runs the loader, and that Python, to ask. */
int sy_doctor_command(struct sy_doctor *doctor, char *const argv[], struct sy_err *err);

/* For the sources: one more object, under the name `shown`; `path` is where it can be read. */
void sy_doctor_add(struct sy_doctor *doctor, const char *path, const char *shown, bool must_be_object);
/* All members of a wheel. */
int sy_doctor_wheel(struct sy_doctor *doctor, const char *path, struct sy_err *err);

void sy_doctor_free(struct sy_doctor *doctor);

#endif
