/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_info.h - facts about a PyTorch installation, read from its files
 *
 * Nothing is imported or executed.
 */
#ifndef SY_ANALYSIS_TORCH_INFO_H
#define SY_ANALYSIS_TORCH_INFO_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct sy_torch {
	char package[PATH_MAX];     /* .../site-packages/torch */
	char library[PATH_MAX];     /* its libtorch_cuda.so */
	int cuda_major, cuda_minor; /* the CUDA it was built for; minor 0 if not stated */
};

/*
 * Reads the installation at `package`. 1: a CUDA build, `torch` is filled.
 * 0: built without CUDA. -1: unreadable, one line in `err`.
 */
int sy_torch_read(const char *package, struct sy_torch *torch, char *err, size_t err_bytes);

/*
 * The version of an NVIDIA library (say "cudnn") that the installation's
 * metadata asks for: major, minor, patch. False if it does not say.
 */
bool sy_torch_wants(const struct sy_torch *torch, const char *stem, int version[3]);

/* The N of the first needed libcudart.so.N of an object file; 0 if it needs none or cannot be read. */
int sy_cuda_major_of(const char *path);

#endif
