/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_abi.h - the part of NVTX 3 that a tool sees, as far as we use it
 *
 * Written anew from nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h of
 * https://github.com/NVIDIA/NVTX, so that building needs no header of it. A
 * program that calls NVTX loads the library that NVTX_INJECTION64_PATH names
 * and hands its InitializeInjectionNvtx2 a way to tables of function pointers,
 * which the tool fills. tests/e2e/nvtx.c is compiled with both and compares them.
 */
#ifndef SY_INTERPOSER_NVTX_ABI_H
#define SY_INTERPOSER_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef void (*nvtx_abi_function)(void);
typedef const void *(*nvtx_abi_get_table_fn)(uint32_t table);

enum { NVTX_ABI_CALLBACKS = 1 }; /* the table that nvtx_abi_get_table_fn is asked for */

struct nvtx_abi_callbacks {
	size_t bytes;
	/* 1 if there is such a module: its slots, each the place of a function pointer, or NULL where there is none. */
	int (*module_functions)(int module, nvtx_abi_function ***slots, unsigned *n_slots);
};

enum nvtx_abi_module { NVTX_ABI_CORE = 1, NVTX_ABI_CORE2 = 5 };

enum nvtx_abi_core {
	NVTX_ABI_MARK_EX = 1,
	NVTX_ABI_MARK_A = 2,
	NVTX_ABI_MARK_W = 3,
	NVTX_ABI_START_EX = 4,
	NVTX_ABI_START_A = 5,
	NVTX_ABI_START_W = 6,
	NVTX_ABI_END = 7,
	NVTX_ABI_PUSH_EX = 8,
	NVTX_ABI_PUSH_A = 9,
	NVTX_ABI_PUSH_W = 10,
	NVTX_ABI_POP = 11
};

enum nvtx_abi_core2 {
	NVTX_ABI_DOMAIN_MARK_EX = 1,
	NVTX_ABI_DOMAIN_START_EX = 2,
	NVTX_ABI_DOMAIN_END = 3,
	NVTX_ABI_DOMAIN_PUSH_EX = 4,
	NVTX_ABI_DOMAIN_POP = 5,
	NVTX_ABI_REGISTER_A = 10,
	NVTX_ABI_REGISTER_W = 11,
	NVTX_ABI_CREATE_A = 12,
	NVTX_ABI_CREATE_W = 13,
	NVTX_ABI_DESTROY = 14
};

enum nvtx_abi_text { NVTX_ABI_TEXT_CHAR = 1, NVTX_ABI_TEXT_WIDE = 2, NVTX_ABI_TEXT_REGISTERED = 3 };

struct nvtx_abi_attributes {
	uint16_t version;
	uint16_t bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t text_type; /* enum nvtx_abi_text, others: none */
	const void *text;
};

/* What push and pop return where nobody keeps levels, as without a tool. */
#define NVTX_ABI_NO_LEVELS (-2)

#endif
