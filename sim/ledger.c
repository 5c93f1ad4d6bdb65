/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/ledger.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/clock.h"
#include "sim/say.h"

static struct {
	pthread_mutex_t lock;
	bool is_tried;
	int fd;
	uint64_t n;
} ledger = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static const struct {
	const char *name;
	bool is_recorded;
} classes[SY_N_CLASSES] = {
#define SYNC_CLASS(id, label, recorded, rule) { #id, recorded },
#include "api/sync_class.def"
#undef SYNC_CLASS
};

bool sim_class_is_recorded(enum sy_class class)
{
	return classes[class].is_recorded;
}

const char *sim_class_name(enum sy_class class)
{
	return classes[class].name;
}

static const char *kind_name(enum sim_memory_kind kind)
{
	static const char *const name[] = { "-", "pageable", "pinned", "managed", "device" };

	return name[kind];
}

static void expand(char *path, size_t size, const char *pattern)
{
	size_t used = 0;

	for (; *pattern && used + 1 < size; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			used += (size_t)snprintf(path + used, size - used, "%ld", (long)getpid());
			pattern++;
		} else {
			path[used++] = *pattern;
		}
	}
	path[used < size ? used : size - 1] = '\0';
}

/* A short write of a line would garble the next one; there is nothing better to do than to say so. */
static void write_all(const char *text, size_t length)
{
	ssize_t written = write(ledger.fd, text, length);

	if (written < 0 || (size_t)written != length)
		sim_say("ledger: a line could not be written whole");
}

static void open_ledger(void)
{
	static const char header[] =
		"# synctally-ledger/1\n"
		"n\ttid\tapi\tclass\tstream\thandle\tenter_ns\tleave_ns\twaited_ns\tpending\tbytes\t"
		"source\tdestination\tstatus\n";
	const char *pattern = getenv("SYNCTALLY_SIM_LEDGER");
	char path[PATH_MAX];
	struct stat st;

	ledger.is_tried = true;
	if (!pattern || !*pattern)
		return;
	expand(path, sizeof path, pattern);
	ledger.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (ledger.fd < 0)
		sim_say("ledger cannot be opened: path=%s", path);
	else if (fstat(ledger.fd, &st) == 0 && st.st_size == 0)
		write_all(header, sizeof header - 1);
}

/* Default streams exist once for each device; created ones have numbers of their own. */
static void stream_name(char *name, size_t size, const struct sim_scope *scope)
{
	char device[16] = "";

	if (scope->ordinal && scope->stream < 2)
		snprintf(device, sizeof device, "d%d.", scope->ordinal);
	if (scope->stream < 0)
		snprintf(name, size, "-");
	else if (scope->stream == 1)
		snprintf(name, size, "%spt", device);
	else
		snprintf(name, size, "%ss%d", device, scope->stream);
}

void sim_ledger_write(const struct sim_scope *scope, const char *class_name, int status)
{
	char line[512], stream[32];

	pthread_mutex_lock(&ledger.lock);
	if (!ledger.is_tried)
		open_ledger();
	if (ledger.fd >= 0) {
		stream_name(stream, sizeof stream, scope);
		int n = snprintf(line, sizeof line,
		                 "%" PRIu64 "\t%ld\t%s\t%s\t%s\t0x%" PRIxPTR "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
		                 "\t%d\t%" PRIu64 "\t%s\t%s\t%d\n",
		                 ++ledger.n, syscall(SYS_gettid), scope->api, class_name, stream, scope->handle,
		                 scope->enter_ns, sim_clock_now(), scope->waited_ns, scope->is_pending, scope->bytes,
		                 kind_name(scope->source), kind_name(scope->destination), status);
		if (n > 0 && (size_t)n < sizeof line)
			write_all(line, (size_t)n);
	}
	pthread_mutex_unlock(&ledger.lock);
}

void sim_ledger_forget(void)
{
	if (ledger.fd >= 0)
		close(ledger.fd);
	ledger.fd = -1;
	ledger.is_tried = false;
	ledger.n = 0;
	pthread_mutex_init(&ledger.lock, NULL);
}
