/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/identity.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int sim_n_physical(void)
{
	uint64_t n = sim_knobs()->devices;

	return n < 1 ? 1 : n > SIM_MAX_DEVICES ? SIM_MAX_DEVICES : (int)n;
}

void sim_physical_uuid(int physical, unsigned char uuid[SIM_UUID_BYTES])
{
	static const char name[SIM_UUID_BYTES] = "synctally-sim";

	memcpy(uuid, name, SIM_UUID_BYTES);
	uuid[SIM_UUID_BYTES - 1] = (unsigned char)physical;
}

void sim_physical_uuid_text(int physical, char text[SIM_UUID_TEXT_BYTES])
{
	unsigned char uuid[SIM_UUID_BYTES];
	int used = snprintf(text, SIM_UUID_TEXT_BYTES, "GPU-");

	sim_physical_uuid(physical, uuid);
	for (int i = 0; i < SIM_UUID_BYTES; i++)
		used += snprintf(text + used, (size_t)(SIM_UUID_TEXT_BYTES - used), "%s%02x",
		                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* The device that one word of the list means, or -1. */
static int find(const char *word, size_t length)
{
	char uuid[SIM_UUID_TEXT_BYTES];
	int found = -1;

	if (length && isdigit((unsigned char)word[0])) {
		char *end;
		unsigned long number = strtoul(word, &end, 10);
		return end == word + length && number < (unsigned long)sim_n_physical() ? (int)number : -1;
	}
	for (int i = 0; i < sim_n_physical(); i++) {
		sim_physical_uuid_text(i, uuid);
		if (length < 4 || strncasecmp(uuid, word, length) != 0)
			continue;
		if (found >= 0)
			return -1; /* could be either */
		found = i;
	}
	return found;
}

/* As documented: the list ends before the first word that names no device, and is empty if it names one twice. */
int sim_visible_devices(int physical[SIM_MAX_DEVICES])
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	bool is_taken[SIM_MAX_DEVICES] = { false };
	int n = 0;

	if (!list) {
		for (; n < sim_n_physical(); n++)
			physical[n] = n;
		return n;
	}
	for (;;) {
		list += strspn(list, " ");
		size_t length = strcspn(list, ",");
		size_t trimmed = length;
		while (trimmed && list[trimmed - 1] == ' ')
			trimmed--;
		int device = find(list, trimmed);
		if (device < 0)
			return n;
		if (is_taken[device])
			return 0;
		is_taken[device] = true;
		physical[n++] = device;
		if (!list[length])
			return n;
		list += length + 1;
	}
}
