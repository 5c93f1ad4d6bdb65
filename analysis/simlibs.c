/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simlibs.c - what to preload so that a command runs on the simulated device
 *
 * Preloading, not LD_LIBRARY_PATH: PyTorch's libraries carry DT_RPATH, which
 * comes first. A preloaded library with the same SONAME is taken instead.
 */
#include "analysis/simlibs.h"

#include "analysis/complain.h"
#include "analysis/python_probe.h"
#include "analysis/stub_cache.h"
#include "analysis/torch_info.h"
#include "analysis/vendor_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a command that names no CUDA version gets: the newest we speak. */
#define DEFAULT_CUDA_MAJOR 13

struct list {
	char *out;
	size_t bytes, used;
	char *err;
	size_t err_bytes;
};

static int append(const char *path, void *context)
{
	struct list *list = context;
	size_t room = list->bytes - list->used;
	int n = snprintf(list->out + list->used, room, "%s%s", list->used ? ":" : "", path);

	if (n < 0 || (size_t)n >= room)
		return sy_complain(list->err, list->err_bytes,
		                   "cannot preload the simulated device: the list is longer than %zu bytes",
		                   list->bytes);
	list->used += (size_t)n;
	return 0;
}

/* Appends sim_dir/name, or sim_dir/name.major; the file has to exist. */
static int append_own(struct list *list, const char *sim_dir, const char *name, int major)
{
	char path[PATH_MAX], suffix[16] = "";

	if (major)
		snprintf(suffix, sizeof(suffix), ".%d", major);
	if (snprintf(path, sizeof(path), "%s/%s%s", sim_dir, name, suffix) >= (int)sizeof(path) ||
	    access(path, R_OK) != 0)
		return sy_complain(list->err, list->err_bytes, "the simulated device is not complete: no %s%s in %s",
		                   name, suffix, sim_dir);
	return append(path, list);
}

static int append_device(struct list *list, const char *sim_dir, int major)
{
	static const char *const versioned[] = { "libcudart.so", "libcublas.so", "libcublasLt.so" };
	size_t i;

	if (append_own(list, sim_dir, "libcuda.so.1", 0) < 0 || append_own(list, sim_dir, "libnvidia-ml.so.1", 0) < 0)
		return -1;
	for (i = 0; i < sizeof(versioned) / sizeof(versioned[0]); i++) {
		if (append_own(list, sim_dir, versioned[i], major) < 0)
			return -1;
	}
	return 0;
}

/* What else we simulate; for the rest there are stubs. */
static int append_simulated(struct list *list, const char *sim_dir, int major)
{
	const char *name;
	size_t i;

	for (i = 0; (name = sy_vendor_simulated(major, i)); i++) {
		if (sy_vendor_has_simulated(sim_dir, major, name) && append_own(list, sim_dir, name, 0) < 0)
			return -1;
	}
	return 0;
}

/* The command's PyTorch, if it has one. 1 found, 0 none, -1 unreadable. */
static int find_torch(char *const argv[], struct sy_torch *torch, int *program_major, struct list *list)
{
	static char *const nothing[] = { NULL };
	struct sy_program program;
	char package[PATH_MAX];

	*program_major = 0;
	if (!sy_find_program(argv, &program))
		return 0;
	if (!program.is_python) {
		*program_major = sy_cuda_major_of(program.path);
		if (*program_major)
			return 0;
		/* A shell script or the like: most probably it runs the Python of this environment. */
		if (!sy_find_executable("python3", program.path) && !sy_find_executable("python", program.path))
			return 0;
		program.arguments = nothing;
	}
	if (!sy_find_torch(&program, package) || !package[0])
		return 0;
	return sy_torch_read(package, torch, list->err, list->err_bytes);
}

int sy_simlibs_preload(const char *sim_dir, char *const argv[], char *out, size_t out_bytes, char *err,
                       size_t err_bytes)
{
	struct list list = { out, out_bytes, 0, err, err_bytes };
	struct sy_torch torch;
	int major, has_torch;

	if (out_bytes)
		out[0] = '\0';
	if (sim_dir[0] != '/' || strpbrk(sim_dir, ": \t\n"))
		return sy_complain(err, err_bytes,
		                   "cannot preload from \"%s\": not absolute, or has a blank or a colon", sim_dir);
	has_torch = find_torch(argv, &torch, &major, &list);
	if (has_torch < 0)
		return -1;
	if (has_torch)
		major = torch.cuda_major;
	else if (major == 0)
		major = DEFAULT_CUDA_MAJOR;
	if (append_device(&list, sim_dir, major) < 0 || (has_torch && append_simulated(&list, sim_dir, major) < 0))
		return -1;
	return has_torch ? sy_stub_cache(&torch, sim_dir, append, &list, err, err_bytes) : 0;
}
