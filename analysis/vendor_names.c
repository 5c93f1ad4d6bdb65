/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_names.c - which libraries are NVIDIA's, and what a stub of each answers
 */
#include "analysis/vendor_names.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum sy_answer {
	SY_ANSWER_NOTHING,     /* 0, or no value at all */
	SY_ANSWER_CUDA,        /* 13000 */
	SY_ANSWER_CUDA_PARTS,  /* 13, 0 */
	SY_ANSWER_CUDNN,       /* 92000 */
	SY_ANSWER_CUDNN_PARTS, /* 9, 20, 0 */
	SY_ANSWER_NCCL,        /* 22907 */
	SY_ANSWER_CUPTI,       /* 130000 */
	SY_ANSWER_SONAME,      /* 1000 times the number in the library's name */
	SY_ANSWER_NO_BYTES,    /* the status, negative */
};

static const struct {
	const char *stem;
	int32_t status;
} vendors[] = {
#define VENDOR(stem, status, source) { stem, status },
#include "analysis/vendor.def"
#undef VENDOR
};

static const struct {
	const char *name;
	enum sy_stub_kind kind;
	int arg;
	enum sy_answer what;
} answers[] = {
#define ANSWER(name, kind, arg, what) { name, SY_STUB_##kind, arg, SY_ANSWER_##what },
#include "analysis/vendor.def"
#undef ANSWER
};

/* Begin like NVIDIA's names and are not. */
static const char *const foreign[] = { "curl", "cups", "cunit", "cue", "cuckoo", "nvme" };

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* The row of `vendors` for a library, or N_ELEMENTS(vendors). */
static size_t find_vendor(const char *soname)
{
	size_t i;

	if (strncmp(soname, "lib", 3) != 0)
		return N_ELEMENTS(vendors);
	soname += 3;
	for (i = 0; i < N_ELEMENTS(foreign); i++) {
		if (strncmp(soname, foreign[i], strlen(foreign[i])) == 0)
			return N_ELEMENTS(vendors);
	}
	for (i = 0; i < N_ELEMENTS(vendors); i++) {
		if (strncmp(soname, vendors[i].stem, strlen(vendors[i].stem)) == 0)
			break;
	}
	return i;
}

bool sy_vendor_is_nvidia(const char *soname)
{
	return find_vendor(soname) < N_ELEMENTS(vendors);
}

bool sy_vendor_is_own(const char *soname)
{
	static const char *const own[] = { "libcuda", "libcudart", "libcublas", "libcublasLt" };
	size_t i, length = strcspn(soname, ".-");

	for (i = 0; i < N_ELEMENTS(own); i++) {
		if (strlen(own[i]) == length && strncmp(soname, own[i], length) == 0)
			return true;
	}
	return false;
}

const char *sy_vendor_simulated(int cuda_major, size_t i)
{
	/* Their numbers are their own: CUDA 12 and 13 have the same cuDNN, cuSPARSE and NCCL. */
	static const char *const cuda12[] = { "libcudnn.so.9",     "libcufft.so.11", "libcusolver.so.11",
		                              "libcusparse.so.12", "libnccl.so.2",   "libnvrtc.so.12" };
	static const char *const cuda13[] = { "libcudnn.so.9",     "libcufft.so.12", "libcusolver.so.12",
		                              "libcusparse.so.12", "libnccl.so.2",   "libnvrtc.so.13" };

	_Static_assert(N_ELEMENTS(cuda12) == N_ELEMENTS(cuda13), "one length for both");
	if (i >= N_ELEMENTS(cuda13) || cuda_major < 12)
		return NULL;
	return cuda_major == 12 ? cuda12[i] : cuda13[i];
}

bool sy_vendor_has_simulated(const char *sim_dir, int cuda_major, const char *soname)
{
	char path[PATH_MAX];
	const char *name;
	size_t i;

	for (i = 0; (name = sy_vendor_simulated(cuda_major, i)); i++) {
		if (strcmp(name, soname) == 0)
			return snprintf(path, sizeof(path), "%s/%s", sim_dir, name) < (int)sizeof(path) &&
			       access(path, R_OK) == 0;
	}
	return false;
}

size_t sy_vendor_fit(const char *soname, const char *function)
{
	size_t length;

	if (strncmp(soname, "lib", 3) != 0)
		return 0;
	soname += 3;
	length = strcspn(soname, ".-_"); /* libnvshmem_host.so.3 exports nvshmem_... */
	if (strncmp(soname, "cuda.", 5) == 0)
		return strncmp(function, "cu", 2) == 0 && isupper((unsigned char)function[2]) ? 2 : 0;
	/* The runtime's names begin with cuda, not with cudart. */
	if (length == strlen("cudart") && strncmp(soname, "cudart", length) == 0)
		return strncmp(function, "cuda", 4) == 0 || strncmp(function, "__cuda", 6) == 0 ? 4 : 0;
	if (*function == 'p' && strncmp(soname, "nccl", 4) == 0) /* the profiling names: pncclSend */
		function++;
	return strncasecmp(soname, function, length) == 0 ? length : 0;
}

/* Without metadata: the major number of the library's name and a minor that satisfies any build against it. */
static void library_version(const char *soname, const char *stem, const struct sy_torch *torch, int version[3])
{
	const char *suffix = strstr(soname, ".so.");

	if (sy_torch_wants(torch, stem, version))
		return;
	version[0] = suffix ? atoi(suffix + strlen(".so.")) : 1;
	version[1] = 99;
	version[2] = 0;
}

static void set_values(struct sy_stub *stub, int32_t first, int32_t second, int32_t third)
{
	stub->value = first;
	stub->value2 = second;
	stub->value3 = third;
}

/* How each library writes its version as one number is told in its API reference. */
static void fill_values(const char *soname, const struct sy_torch *torch, enum sy_answer what, int32_t status,
                        struct sy_stub *stub)
{
	int v[3];

	switch (what) {
	case SY_ANSWER_NOTHING:
		set_values(stub, 0, 0, 0);
		break;
	case SY_ANSWER_CUDA:
		set_values(stub, torch->cuda_major * 1000 + torch->cuda_minor * 10, 0, 0);
		break;
	case SY_ANSWER_CUDA_PARTS:
		set_values(stub, torch->cuda_major, torch->cuda_minor, 0);
		break;
	case SY_ANSWER_CUDNN:
		library_version(soname, "cudnn", torch, v);
		set_values(stub, v[0] * (v[0] < 9 ? 1000 : 10000) + v[1] * 100 + v[2], 0, 0);
		break;
	case SY_ANSWER_CUDNN_PARTS:
		library_version(soname, "cudnn", torch, v);
		set_values(stub, v[0], v[1], v[2]);
		break;
	case SY_ANSWER_NCCL:
		library_version(soname, "nccl", torch, v);
		set_values(stub, v[0] * 10000 + v[1] * 100 + v[2], 0, 0);
		break;
	case SY_ANSWER_CUPTI:
		set_values(stub, torch->cuda_major < 13 ? 26 : torch->cuda_major * 10000 + torch->cuda_minor * 100, 0,
		           0);
		break;
	case SY_ANSWER_SONAME:
		set_values(stub, atoi(soname + strcspn(soname, "0123456789")) * 1000, 0, 0);
		break;
	case SY_ANSWER_NO_BYTES:
		set_values(stub, -status, 0, 0);
		break;
	}
}

void sy_vendor_answer(const char *soname, const struct sy_torch *torch, struct sy_stub *stub)
{
	const char *name = stub->name;
	size_t i, row = find_vendor(soname);
	int32_t status = row < N_ELEMENTS(vendors) ? vendors[row].status : 1;

	if (stub->kind == SY_STUB_OBJECT)
		return;
	if (strncmp(name, "pnccl", 5) == 0)
		name++;
	stub->kind = status ? SY_STUB_REFUSE : SY_STUB_VALUE;
	stub->value = status;
	for (i = 0; i < N_ELEMENTS(answers); i++) {
		if (strcmp(name, answers[i].name) != 0)
			continue;
		stub->kind = answers[i].kind;
		stub->arg = answers[i].arg;
		fill_values(soname, torch, answers[i].what, status, stub);
		return;
	}
}
