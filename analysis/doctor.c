/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/doctor.h"

#include "analysis/mem.h"
#include "analysis/reach.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void grow_files(struct sy_doctor *doctor)
{
	struct sy_seen_file *old = doctor->files;
	size_t n = doctor->files_capacity;

	doctor->files_capacity = n ? 2 * n : 1024;
	doctor->files = calloc(doctor->files_capacity, sizeof(*doctor->files));
	if (!doctor->files)
		abort();
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)old[i].inode % doctor->files_capacity;

		if (!old[i].inode)
			continue;
		while (doctor->files[at].inode)
			at = (at + 1) % doctor->files_capacity;
		doctor->files[at] = old[i];
	}
	free(old);
}

/* Whether this file is met for the first time. */
static bool is_new(struct sy_doctor *doctor, const struct stat *status)
{
	size_t at;

	if (doctor->n_files * 2 >= doctor->files_capacity)
		grow_files(doctor);
	at = (size_t)status->st_ino % doctor->files_capacity;
	for (; doctor->files[at].inode; at = (at + 1) % doctor->files_capacity)
		if (doctor->files[at].inode == status->st_ino && doctor->files[at].device == status->st_dev)
			return false;
	doctor->files[at] = (struct sy_seen_file){ status->st_dev, status->st_ino };
	doctor->n_files++;
	return true;
}

void sy_doctor_add(struct sy_doctor *doctor, const char *path, const char *shown, bool must_be_object)
{
	enum sy_reach_result result;
	struct sy_patient *patient;
	char err[SY_ERR_BYTES];
	struct stat status;
	uint32_t reaches;

	if (stat(path, &status) == 0 && (!S_ISREG(status.st_mode) || (status.st_nlink && !is_new(doctor, &status))))
		return;
	result = sy_reach_examine(path, &reaches, err, sizeof(err));
	if (result == SY_REACH_NOT_ELF && !must_be_object)
		return;
	doctor->n_examined += result == SY_REACH_EXAMINED;
	if (result == SY_REACH_EXAMINED && reaches == 0 && !must_be_object)
		return;
	doctor->patients = sy_mem_grow(doctor->patients, &doctor->capacity, doctor->n, sizeof(*doctor->patients));
	patient = &doctor->patients[doctor->n++];
	patient->path = sy_mem_copy(&doctor->arena, shown);
	patient->reaches = reaches;
	if (result == SY_REACH_UNREADABLE)
		patient->problem = sy_mem_copy(&doctor->arena, err);
}

static bool ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n > m && strcmp(path + n - m, ending) == 0;
}

/* Names that an object file may have: libx.so, libx.so.1, and programs, which have none of these endings. */
static bool may_be_object(const char *name, mode_t mode)
{
	return strstr(name, ".so") || (mode & 0111 && !ends_in(name, ".py") && !ends_in(name, ".sh"));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int walk(struct sy_doctor *doctor, const char *path, struct sy_err *err)
{
	char *roots[2] = { sy_mem_copy(&doctor->arena, path), NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int result = 0;

	if (!tree)
		return sy_err_set(err, "cannot read the directory: path=%s: %s", path, strerror(errno));
	while (result == 0 && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			result = sy_err_set(err, "cannot read the directory: path=%s: %s", entry->fts_path,
			                    strerror(entry->fts_errno));
		if (entry->fts_info != FTS_F)
			continue;
		if (ends_in(entry->fts_name, ".whl"))
			result = sy_doctor_wheel(doctor, entry->fts_path, err);
		else if (may_be_object(entry->fts_name, entry->fts_statp->st_mode))
			sy_doctor_add(doctor, entry->fts_path, entry->fts_path, false);
	}
	fts_close(tree);
	return result;
}

int sy_doctor_path(struct sy_doctor *doctor, const char *path, struct sy_err *err)
{
	char reason[SY_ERR_BYTES];
	struct stat status;
	uint32_t reaches;

	if (stat(path, &status) != 0)
		return sy_err_set(err, "cannot be examined: path=%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return walk(doctor, path, err);
	if (ends_in(path, ".whl"))
		return sy_doctor_wheel(doctor, path, err);
	switch (S_ISREG(status.st_mode) ? sy_reach_examine(path, &reaches, reason, sizeof(reason)) : SY_REACH_NOT_ELF) {
	case SY_REACH_UNREADABLE:
		return sy_err_set(err, "%s", reason);
	case SY_REACH_NOT_ELF:
		return sy_err_set(err, "neither a directory, nor an object file, nor a wheel: path=%s", path);
	default:
		sy_doctor_add(doctor, path, path, true);
		return 0;
	}
}

void sy_doctor_free(struct sy_doctor *doctor)
{
	sy_arena_free(&doctor->arena);
	free(doctor->patients);
	free(doctor->files);
}
