/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/clock.h"

#include "interposer/dl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum sy_clock_kind sy_clock_kind = SY_CLOCK_MONOTONIC;
sy_virtual_clock_fn sy_clock_virtual;
sy_made_up_fn sy_clock_made_up;

/* The kernel keeps the counter as its clock source only while it is constant and equal on all processors. */
static bool is_tsc_trusted(void)
{
#if defined(__x86_64__)
	char name[8] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof(name));

	if (fd >= 0)
		close(fd);
	return n >= 4 && memcmp(name, "tsc\n", 4) == 0;
#else
	return false;
#endif
}

static void *find(const char *symbol)
{
	return sy_dl_is_defined(symbol) ? sy_libc_dlsym(RTLD_DEFAULT, symbol) : NULL;
}

void sy_clock_find(void)
{
	/* Between object and function pointers, as POSIX asks of dlsym's callers. */
	union {
		void *object;
		sy_virtual_clock_fn clock;
		sy_made_up_fn made_up;
	} clock = { find(SY_VIRTUAL_CLOCK_SYMBOL) }, made_up = { find(SY_MADE_UP_SYMBOL) };

	sy_clock_virtual = clock.clock;
	sy_clock_made_up = made_up.made_up;
}

void sy_clock_choose(void)
{
	if (sy_clock_virtual && sy_clock_virtual() != 0)
		sy_clock_kind = SY_CLOCK_VIRTUAL;
	else
		sy_clock_kind = is_tsc_trusted() ? SY_CLOCK_TSC : SY_CLOCK_MONOTONIC;
}

void sy_clock_read(struct sy_clock_pair *pair)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	pair->realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	pair->monotonic_ns = sy_clock_monotonic_ns();
	pair->ticks = sy_clock_ticks();
}
