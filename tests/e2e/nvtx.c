/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - six iterations, told to NVTX in every way that NVTX has
 *
 *	nvtx WAY     push wide nested domain other registered start mark
 *
 * Each iteration waits once, and once more behind the range. Prints what NVTX
 * returned. Compiled with NVTX's own header, which our declarations are held against.
 */
#include "interposer/nvtx_abi.h"

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_PLACE(ours, theirs)                                                                                       \
	SAME(offsetof(struct nvtx_abi_attributes, ours), offsetof(nvtxEventAttributes_t, theirs))
SAME(sizeof(struct nvtx_abi_attributes), sizeof(nvtxEventAttributes_t));
SAME_PLACE(bytes, size);
SAME_PLACE(text_type, messageType);
SAME_PLACE(text, message);
SAME(sizeof(struct nvtx_abi_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(offsetof(struct nvtx_abi_callbacks, module_functions), offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
SAME(NVTX_ABI_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_ABI_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_ABI_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_ABI_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_ABI_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(NVTX_ABI_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(NVTX_ABI_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_ABI_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_ABI_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_ABI_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_ABI_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_ABI_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_ABI_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_ABI_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_ABI_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_ABI_DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_ABI_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_ABI_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_ABI_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_ABI_REGISTER_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_ABI_REGISTER_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_ABI_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_ABI_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_ABI_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
SAME(NVTX_ABI_TEXT_CHAR, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_ABI_TEXT_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_ABI_TEXT_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_ABI_NO_LEVELS, NVTX_NO_PUSH_POP_TRACKING);

static nvtxDomainHandle_t domain, other;
static nvtxStringHandle_t registered;

static void wait_once(void)
{
	(void)cudaStreamSynchronize(NULL);
}

static nvtxEventAttributes_t named(nvtxStringHandle_t string, const char *text)
{
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };

	attributes.messageType = string ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
	if (string)
		attributes.message.registered = string;
	else
		attributes.message.ascii = text;
	return attributes;
}

/* A range in one domain that is crossed by one of another. */
static int crossed(const char *name, nvtxDomainHandle_t at, nvtxStringHandle_t string)
{
	nvtxEventAttributes_t attributes = named(string, name), plain = named(NULL, "something");
	int sum = nvtxDomainRangePushEx(at, &attributes);

	sum += nvtxRangePushA("across");
	wait_once();
	sum += nvtxDomainRangePushEx(at, &plain);
	sum += nvtxDomainRangePop(at);
	sum += nvtxDomainRangePop(at);
	sum += nvtxRangePop();
	return sum;
}

static int iteration(const char *way, const char *name)
{
	int sum = 0;

	if (strcmp(way, "push") == 0) {
		sum += nvtxRangePushA(name);
		wait_once();
		sum += nvtxRangePop();
	} else if (strcmp(way, "wide") == 0) {
		sum += nvtxRangePushW(L"iteration \u00e9 1");
		wait_once();
		sum += nvtxRangePop();
	} else if (strcmp(way, "nested") == 0) {
		sum += nvtxRangePushA(name) + nvtxRangePushA("iteration inside");
		wait_once();
		sum += nvtxRangePop() + nvtxRangePop() + nvtxRangePop();
	} else if (strcmp(way, "domain") == 0) {
		sum += crossed(name, domain, NULL);
	} else if (strcmp(way, "other") == 0) {
		sum += crossed(name, other, NULL);
	} else if (strcmp(way, "registered") == 0) {
		sum += crossed(NULL, domain, registered);
	} else if (strcmp(way, "start") == 0) {
		nvtxRangeId_t outer = nvtxRangeStartA("epoch"), inner = nvtxRangeStartA(name);

		wait_once();
		nvtxRangeEnd(inner);
		nvtxRangeEnd(outer);
	} else if (strcmp(way, "mark") == 0) {
		wait_once();
		nvtxMarkA(name);
		nvtxMarkA("something");
	}
	return sum;
}

int main(int argc, char **argv)
{
	int sum = 0;

	domain = nvtxDomainCreateA("training");
	other = nvtxDomainCreateW(L"elsewhere");
	registered = nvtxDomainRegisterStringA(domain, "iteration registered");
	for (int i = 0; argc == 2 && i < 6; i++) {
		char name[32];

		snprintf(name, sizeof(name), "iteration %d", i);
		sum += iteration(argv[1], name);
		wait_once();
	}
	printf("%d\n", sum);
	nvtxDomainDestroy(domain);
	return 0;
}
