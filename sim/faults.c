/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/clock.h"
#include "sim/say.h"

enum { MAX_FAULTS = 64, MAX_NAME = 64 };
enum kind { FAULT_CODE, FAULT_HANG, FAULT_SLOW };

struct fault {
	char api[MAX_NAME];
	unsigned long long nth; /* 0: every call */
	enum kind kind;
	unsigned long long value; /* code, or nanoseconds */
	_Atomic unsigned long long n_calls;
};

static struct fault faults[MAX_FAULTS];
static unsigned n_faults;
static _Atomic int sticky;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* After these the CUDA documentation wants the process to end: the context cannot be used again. */
static bool is_sticky(unsigned long long code)
{
	static const CUresult codes[] = {
		CUDA_ERROR_ECC_UNCORRECTABLE,
		CUDA_ERROR_NVLINK_UNCORRECTABLE,
		CUDA_ERROR_ILLEGAL_ADDRESS,
		CUDA_ERROR_LAUNCH_TIMEOUT,
		CUDA_ERROR_ASSERT,
		CUDA_ERROR_HARDWARE_STACK_ERROR,
		CUDA_ERROR_ILLEGAL_INSTRUCTION,
		CUDA_ERROR_MISALIGNED_ADDRESS,
		CUDA_ERROR_INVALID_ADDRESS_SPACE,
		CUDA_ERROR_INVALID_PC,
		CUDA_ERROR_LAUNCH_FAILED,
	};

	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		if (code == (unsigned long long)codes[i])
			return true;
	return false;
}

static bool parse_effect(struct fault *fault, const char *text)
{
	char *end;

	if (strcmp(text, "hang") == 0) {
		fault->kind = FAULT_HANG;
		return true;
	}
	if (strcmp(text, "ecc") == 0) {
		fault->kind = FAULT_CODE;
		fault->value = CUDA_ERROR_ECC_UNCORRECTABLE;
		return true;
	}
	fault->kind = strncmp(text, "slow:", 5) == 0 ? FAULT_SLOW : FAULT_CODE;
	if (fault->kind == FAULT_SLOW)
		text += 5;
	fault->value = strtoull(text, &end, 10);
	return end != text && *end == '\0' && fault->value != 0;
}

/* NAME:NTH=EFFECT, or NAME:*=EFFECT */
static bool parse(const char *text, size_t length)
{
	struct fault *fault = &faults[n_faults];
	char copy[2 * MAX_NAME];
	char *colon, *end;

	if (length >= sizeof copy || n_faults == MAX_FAULTS)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	colon = strchr(copy, ':');
	if (!colon || colon - copy >= MAX_NAME)
		return false;
	*colon = '\0';
	memcpy(fault->api, copy, strlen(copy) + 1);
	bool is_every = colon[1] == '*';
	fault->nth = is_every ? 0 : strtoull(colon + 1, &end, 10);
	if (is_every)
		end = colon + 2;
	if (end == colon + 1 || *end != '=' || (!is_every && fault->nth == 0) || !parse_effect(fault, end + 1))
		return false;
	n_faults++;
	return true;
}

static void read_faults(void)
{
	const char *text = getenv("SYNCTALLY_SIM_FAULTS");

	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (length && !parse(text, length))
			sim_say("SYNCTALLY_SIM_FAULTS: not NAME:NTH=CODE|ecc|hang|slow:NS, ignored: %.*s", (int)length,
			        text);
		text += length + (text[length] != '\0');
	}
}

static CUresult strike(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_HANG:
		for (;;)
			pause();
	case FAULT_SLOW:
		sim_clock_wait_until(sim_clock_now() + fault->value);
		return CUDA_SUCCESS;
	default:
		if (is_sticky(fault->value))
			atomic_store(&sticky, (int)fault->value);
		return (CUresult)fault->value;
	}
}

CUresult sim_faults_lasting(void)
{
	return (CUresult)atomic_load_explicit(&sticky, memory_order_relaxed);
}

CUresult sim_faults_check(const char *api)
{
	pthread_once(&once, read_faults);
	if (n_faults == 0)
		return CUDA_SUCCESS;
	for (unsigned i = 0; i < n_faults; i++) {
		struct fault *fault = &faults[i];
		if (strcmp(fault->api, api) != 0)
			continue;
		if (atomic_fetch_add(&fault->n_calls, 1) + 1 == fault->nth || fault->nth == 0)
			return strike(fault);
	}
	return CUDA_SUCCESS;
}
