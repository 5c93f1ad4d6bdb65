/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_process.c - what is mapped in a process, and to what its CUDA calls are bound */
#include "analysis/doctor.h"
#include "analysis/mem.h"
#include "analysis/reach.h"
#include "trace/blind.h"
#include "trace/maps.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libsynctally.so"
#define DELETED " (deleted)"

static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash + 1, LIBRARY) == 0;
}

/* Read through /proc, which has the process's own view of the files, in a container too. */
static void add_mapped(struct sy_doctor *doctor, const struct sy_mapping *mapping)
{
	char path[PATH_MAX];
	size_t n = strlen(mapping->path), m = sizeof(DELETED) - 1;

	if (n > m && strcmp(mapping->path + n - m, DELETED) == 0)
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)doctor->pid,
		         (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	else
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)doctor->pid, mapping->path);
	sy_doctor_add(doctor, path, mapping->path, false);
}

static void mark_past(void *context, const char *path, const char *function)
{
	struct sy_doctor *doctor = context;
	struct sy_patient *patient;

	(void)function;
	for (size_t i = 0; i < doctor->n; i++) {
		if (strcmp(doctor->patients[i].path, path) == 0) {
			doctor->patients[i].reaches |= 1u << SY_REACH_PAST;
			return;
		}
	}
	doctor->patients = sy_mem_grow(doctor->patients, &doctor->capacity, doctor->n, sizeof(*doctor->patients));
	patient = &doctor->patients[doctor->n++];
	patient->path = sy_mem_copy(&doctor->arena, path);
	patient->reaches = 1u << SY_REACH_PAST;
}

static void find_past(struct sy_doctor *doctor)
{
	struct sy_blind_memory *memory = sy_mem_alloc(&doctor->arena, sizeof(*memory));

	switch (sy_blind_find(memory, doctor->pid, LIBRARY, mark_past, doctor)) {
	case SY_BLIND_NO_ACCESS:
		doctor->no_bindings = "its memory may not be read by this user";
		break;
	case SY_BLIND_PARTLY:
		doctor->no_bindings = "it has more objects than are looked at";
		break;
	default:
		break;
	}
}

int sy_doctor_process(struct sy_doctor *doctor, pid_t pid, struct sy_err *err)
{
	struct sy_mapping mapping;
	struct sy_maps maps;
	bool has_any = false;

	sy_maps_open(&maps, pid);
	if (maps.fd < 0)
		return sy_err_set(err, "cannot look into the process: pid=%d: %s", (int)pid,
		                  errno == ENOENT ? "there is none" : strerror(errno));
	doctor->pid = pid;
	while (sy_maps_next(&maps, &mapping)) {
		has_any = true;
		if (!*mapping.path)
			continue;
		if (is_library(mapping.path))
			doctor->is_preloaded = true;
		else
			add_mapped(doctor, &mapping);
	}
	sy_maps_close(&maps);
	if (!has_any)
		return sy_err_set(err, "cannot look into the process: pid=%d: it has ended, or is another user's",
		                  (int)pid);
	if (doctor->is_preloaded)
		find_past(doctor);
	return 0;
}
