/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudnn_version.c - the cuDNN version that the caller was built against
 *
 * PyTorch refuses a cuDNN older than the one of its build and chooses kernels
 * by the version it finds. The build's version is nowhere in its libraries as
 * data, but its package metadata pins the cuDNN wheel. It is read here, not by
 * the launcher, so that a preload without the launcher answers the same.
 */
#include "sim/cudnn.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Newer than every cuDNN 9 there is: minor versions are backward compatible. */
#define ANY_VERSION 99900

/* Cuts the last component off a path. */
static bool cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* "Requires-Dist: nvidia-cudnn-cu13==9.20.0.48; ..." gives 92000; older: "-cu12 (==9.1.0.70) ;". 0: none. */
static int read_pin(const char *metadata)
{
	static const char start[] = "Requires-Dist: nvidia-cudnn-cu";
	FILE *file = fopen(metadata, "re");
	int major, minor, patch, version = 0;
	char line[1024];

	if (!file)
		return 0;
	while (version == 0 && fgets(line, sizeof(line), file)) {
		const char *pin = strstr(line, "==");

		if (strncmp(line, start, strlen(start)) == 0 && pin &&
		    sscanf(pin, "==%d.%d.%d", &major, &minor, &patch) == 3)
			version = major * 10000 + minor * 100 + patch;
	}
	fclose(file);
	return version;
}

/* Looks through site-packages for PyTorch's metadata. 0: none. */
static int find_pin(const char *site)
{
	char path[2 * PATH_MAX];
	const struct dirent *entry;
	DIR *dir = opendir(site);
	int version = 0;

	if (!dir)
		return 0;
	while (version == 0 && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "torch-", strlen("torch-")) != 0 || !strstr(entry->d_name, ".dist-info"))
			continue;
		snprintf(path, sizeof(path), "%s/%s/METADATA", site, entry->d_name);
		version = read_pin(path);
	}
	closedir(dir);
	return version;
}

int sim_dnn_version(const void *caller)
{
	static atomic_int found;
	char path[PATH_MAX];
	int version = atomic_load_explicit(&found, memory_order_relaxed);
	Dl_info info;

	if (version)
		return version;
	/* site-packages/torch/lib/libtorch_cuda.so; a longer path does not end that way either */
	if (!dladdr(caller, &info) || !info.dli_fname)
		return ANY_VERSION;
	snprintf(path, sizeof(path), "%s", info.dli_fname);
	if (!strstr(path, "/torch/lib/libtorch") || !cut(path) || !cut(path) || !cut(path))
		return ANY_VERSION;
	version = find_pin(path);
	if (version == 0)
		version = ANY_VERSION;
	atomic_store_explicit(&found, version, memory_order_relaxed);
	return version;
}
