/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_info.c - facts about a PyTorch installation, read from its files
 */
#include "analysis/torch_info.h"

#include "analysis/complain.h"
#include "analysis/elf_read.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* libcudart.so.13, and libcudart-0123abcd.so.12 as some wheels carry it. */
static int note_cudart(const char *name, void *context)
{
	const char *suffix = strstr(name, ".so.");
	int *major = context;

	if (strncmp(name, "libcudart", strlen("libcudart")) != 0 || !suffix)
		return 0;
	*major = atoi(suffix + strlen(".so."));
	return 1;
}

int sy_cuda_major_of(const char *path)
{
	char err[1];
	struct sy_elf *elf = sy_elf_open(path, err, sizeof(err));
	int major = 0;

	if (elf)
		sy_elf_each_needed(elf, note_cudart, &major);
	sy_elf_close(elf);
	return major;
}

/* version.py has a line such as: cuda: Optional[str] = '13.0' */
static void read_minor(struct sy_torch *torch)
{
	char path[PATH_MAX + 16], line[256];
	int major, minor;
	FILE *file;

	snprintf(path, sizeof(path), "%s/version.py", torch->package);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *quote = strchr(line, '\'');

		if (strncmp(line, "cuda", 4) == 0 && quote && sscanf(quote, "'%d.%d'", &major, &minor) == 2 &&
		    major == torch->cuda_major)
			torch->cuda_minor = minor;
	}
	fclose(file);
}

int sy_torch_read(const char *package, struct sy_torch *torch, char *err, size_t err_bytes)
{
	memset(torch, 0, sizeof(*torch));
	if (strlen(package) >= sizeof(torch->package) - sizeof("/lib/libtorch_cuda.so"))
		return sy_complain(err, err_bytes, "cannot read the PyTorch at %.64s...: the path is too long",
		                   package);
	snprintf(torch->package, sizeof(torch->package), "%s", package);
	snprintf(torch->library, sizeof(torch->library), "%.*s/lib/libtorch_cuda.so", PATH_MAX - 32, package);
	if (access(torch->library, F_OK) != 0)
		return 0;
	torch->cuda_major = sy_cuda_major_of(torch->library);
	if (torch->cuda_major == 0)
		return sy_complain(err, err_bytes, "cannot tell the CUDA version of %s: it needs no libcudart",
		                   torch->library);
	read_minor(torch);
	return 1;
}

/* Requires-Dist: nvidia-cudnn-cu13==9.20.0.48; ...  The stem alone or with a CUDA version: not nvidia-cudnn-frontend. */
static bool read_requirement(const char *line, const char *stem, int version[3])
{
	static const char start[] = "Requires-Dist: nvidia-";
	const char *pin = strstr(line, "==");

	if (strncmp(line, start, strlen(start)) != 0 || !pin)
		return false;
	line += strlen(start);
	if (strncasecmp(line, stem, strlen(stem)) != 0)
		return false;
	line += strlen(stem);
	if (line != pin && strncmp(line, "-cu", 3) != 0)
		return false;
	return sscanf(pin, "==%d.%d.%d", &version[0], &version[1], &version[2]) == 3;
}

static bool read_metadata(const char *path, const char *stem, int version[3])
{
	FILE *file = fopen(path, "re");
	bool is_found = false;
	char line[1024];

	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = read_requirement(line, stem, version);
	fclose(file);
	return is_found;
}

bool sy_torch_wants(const struct sy_torch *torch, const char *stem, int version[3])
{
	char site[PATH_MAX + 8], path[2 * PATH_MAX];
	const struct dirent *entry;
	bool is_found = false;
	DIR *dir;

	snprintf(site, sizeof(site), "%s/..", torch->package);
	dir = opendir(site);
	if (!dir)
		return false;
	while (!is_found && (entry = readdir(dir))) {
		const char *end = strstr(entry->d_name, ".dist-info");

		if (strncmp(entry->d_name, "torch-", strlen("torch-")) != 0 || !end)
			continue;
		snprintf(path, sizeof(path), "%s/%s/METADATA", site, entry->d_name);
		is_found = read_metadata(path, stem, version);
	}
	closedir(dir);
	return is_found;
}
