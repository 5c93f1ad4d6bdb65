/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/say.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sim_say(const char *format, ...)
{
	int saved = errno;
	char line[512];
	static const char prefix[] = "synctally sim: ";
	size_t used = sizeof prefix - 1;
	va_list args;

	memcpy(line, prefix, used);
	va_start(args, format);
	int n = vsnprintf(line + used, sizeof line - used - 1, format, args);
	va_end(args);
	if (n > 0)
		used += strlen(line + used);
	line[used++] = '\n';
	/* Nothing can be done about a closed stderr. */
	ssize_t written = write(STDERR_FILENO, line, used);
	(void)written;
	errno = saved;
}

/* Names already refused. A few dozen at most in any program, so a list does. */
struct refused {
	const char *api;
	struct refused *next;
};

static bool is_first(const char *api)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct refused *refused;
	bool first = true;

	pthread_mutex_lock(&lock);
	for (struct refused *r = refused; r && first; r = r->next)
		first = strcmp(r->api, api) != 0;
	struct refused *entry = first ? malloc(sizeof *entry) : NULL;
	if (entry) {
		entry->api = api;
		entry->next = refused;
		refused = entry;
	}
	pthread_mutex_unlock(&lock);
	return first;
}

void sim_refuse(const char *api)
{
	if (is_first(api))
		sim_say("%s: the simulated device does not have this function; the call fails with \"not supported\"",
		        api);
}
