/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/torch_pin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Of the one library that the copy of this file is for. */
static struct {
	pthread_mutex_t lock;
	bool is_found;
	int version[3];
} pin = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Cuts the last component off a path. */
static bool cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* "Requires-Dist: nvidia-cudnn-cu13==9.20.0.48; ..."; older metadata: "nvidia-cudnn-cu12 (==9.1.0.70) ;". */
static bool read_pin(const char *metadata, const char *library, int version[3])
{
	char line[1024], start[64];
	FILE *file = fopen(metadata, "re");
	bool is_found = false;

	if (!file)
		return false;
	snprintf(start, sizeof start, "Requires-Dist: nvidia-%s-cu", library);
	while (!is_found && fgets(line, sizeof line, file)) {
		const char *equal = strstr(line, "==");
		int parts[3];

		if (strncmp(line, start, strlen(start)) != 0 || !equal ||
		    sscanf(equal, "==%d.%d.%d", &parts[0], &parts[1], &parts[2]) != 3)
			continue;
		memcpy(version, parts, sizeof parts);
		is_found = true;
	}
	fclose(file);
	return is_found;
}

/* Looks through site-packages for PyTorch's metadata. */
static bool search(const char *site, const char *library, int version[3])
{
	char path[2 * PATH_MAX];
	const struct dirent *entry;
	DIR *dir = opendir(site);
	bool is_found = false;

	if (!dir)
		return false;
	while (!is_found && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "torch-", strlen("torch-")) != 0 || !strstr(entry->d_name, ".dist-info"))
			continue;
		snprintf(path, sizeof path, "%s/%s/METADATA", site, entry->d_name);
		is_found = read_pin(path, library, version);
	}
	closedir(dir);
	return is_found;
}

bool sim_torch_package(const void *caller, char *path)
{
	Dl_info info;

	/* site-packages/torch/lib/libtorch_cuda.so; a longer path does not end that way either */
	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	snprintf(path, PATH_MAX, "%s", info.dli_fname);
	return strstr(path, "/torch/lib/libtorch") && cut(path) && cut(path);
}

static bool find_pin(const void *caller, const char *library, int version[3])
{
	char path[PATH_MAX];

	return sim_torch_package(caller, path) && cut(path) && search(path, library, version);
}

bool sim_torch_pin(const void *caller, const char *library, int version[3])
{
	pthread_mutex_lock(&pin.lock);
	if (!pin.is_found)
		pin.is_found = find_pin(caller, library, pin.version);
	bool is_found = pin.is_found;
	if (is_found)
		memcpy(version, pin.version, sizeof pin.version);
	pthread_mutex_unlock(&pin.lock);
	return is_found;
}
