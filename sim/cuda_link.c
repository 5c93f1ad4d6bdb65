/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_link.c - libcuda: the linker of programs for the device
 *
 * Code is not read, so what comes out is what went in last. Programs copy it,
 * or load it: any name is a function of it.
 */
#include "sim/cuda_face.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
	void *image;
	size_t bytes;
};

/* A text need not count its own end. */
static CUresult keep(struct link *link, const void *data, size_t bytes)
{
	char *image = malloc(bytes + 1);

	if (!image)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(image, data, bytes);
	image[bytes] = '\0';
	free(link->image);
	link->image = image;
	link->bytes = bytes;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state)
{
	SIM_TOUCH();
	(void)n;
	(void)options;
	(void)values;
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	struct link *link = calloc(1, sizeof *link);
	*state = (CUlinkState)link;
	return link ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_EXPORT CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                                     unsigned n, CUjit_option *options, void **values)
{
	SIM_TOUCH();
	(void)type;
	(void)name;
	(void)n;
	(void)options;
	(void)values;
	if (!state)
		return CUDA_ERROR_INVALID_HANDLE;
	return data ? keep((struct link *)state, data, bytes) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult keep_file(struct link *link, FILE *file)
{
	char block[4096], *all = NULL;
	size_t bytes = 0, n;
	FILE *memory = open_memstream(&all, &bytes);

	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	while ((n = fread(block, 1, sizeof block, file)) > 0)
		fwrite(block, 1, n, memory);
	CUresult result = fclose(memory) == 0 ? keep(link, all, bytes) : CUDA_ERROR_OUT_OF_MEMORY;
	free(all);
	return result;
}

SIM_EXPORT CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                                     CUjit_option *options, void **values)
{
	SIM_TOUCH();
	(void)type;
	(void)n;
	(void)options;
	(void)values;
	if (!state || !path)
		return state ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	FILE *file = fopen(path, "re");
	if (!file)
		return CUDA_ERROR_FILE_NOT_FOUND;
	CUresult result = keep_file((struct link *)state, file);
	fclose(file);
	return result;
}

SIM_EXPORT CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
	SIM_TOUCH();
	const struct link *link = (const struct link *)state;
	if (!link || !image)
		return link ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	if (!link->image)
		return CUDA_ERROR_INVALID_IMAGE;
	*image = link->image;
	if (bytes)
		*bytes = link->bytes;
	return CUDA_SUCCESS;
}

SIM_EXPORT CUresult cuLinkDestroy(CUlinkState state)
{
	SIM_TOUCH();
	struct link *link = (struct link *)state;
	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	free(link->image);
	free(link);
	return CUDA_SUCCESS;
}
