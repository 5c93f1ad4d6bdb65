/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/knobs.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/say.h"

static struct sim_knobs knobs;
const struct sim_knobs *sim_knobs_known;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct knob_desc {
	const char *name;
	uint64_t *value;
	uint64_t initial;
	const char *words[4]; /* none for numbers */
};

static const struct knob_desc knob_desc[] = {
#define KNOB(name, value, doc) { #name, &knobs.name, value, { NULL } },
#define WORDS(...)                                                                                                     \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#define KNOB_WORD(name, words, doc) { #name, &knobs.name, 0, words },
#include "sim/knobs.def"
#undef KNOB
#undef KNOB_WORD
#undef WORDS
};

/* A device known by name: settings applied where the name stands. */
static const struct {
	const char *name;
	const char *settings;
} profiles[] = {
#define PROFILE(name, settings) { name, settings },
#include "sim/profiles.def"
#undef PROFILE
};

enum { N_KNOBS = sizeof knob_desc / sizeof knob_desc[0], N_PROFILES = sizeof profiles / sizeof profiles[0] };
enum { MAX_SETTING = 4096 + 8, MAX_FILE = 16384 };

static const struct knob_desc *find(const char *name)
{
	for (size_t i = 0; i < N_KNOBS; i++)
		if (strcmp(knob_desc[i].name, name) == 0)
			return &knob_desc[i];
	return NULL;
}

static bool parse_value(const struct knob_desc *knob, const char *text)
{
	if (knob->words[0]) {
		for (unsigned i = 0; i < sizeof knob->words / sizeof knob->words[0] && knob->words[i]; i++) {
			if (strcmp(text, knob->words[i]) == 0) {
				*knob->value = i;
				return true;
			}
		}
		return false;
	}
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 0);
	/* strtoull accepts a sign; a negative time or size has no meaning here. */
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno == ERANGE)
		return false;
	*knob->value = value;
	return true;
}

static void apply_list(const char *text, const char *separators);

/* Where a setting stands, for complaints: the variable, or the file and its line. */
static struct {
	const char *path; /* NULL: the variable */
	unsigned line;
} at;

#define COMPLAIN(format, ...)                                                                                          \
	(at.path ? sim_say("%s:%u: " format, at.path, at.line, __VA_ARGS__)                                            \
	         : sim_say("SYNCTALLY_SIM: " format, __VA_ARGS__))

/* Letters to change, add or leave out to make one word of the other. */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 40 };
	size_t row[MAX + 1], n = strlen(b);

	if (n > MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i] != b[j - 1]);

			diagonal = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[n];
}

static const char *nearest(const char *name)
{
	const char *found = "";
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < N_KNOBS + N_PROFILES; i++) {
		const char *known = i < N_KNOBS ? knob_desc[i].name : profiles[i - N_KNOBS].name;
		size_t n = distance(name, known);

		if (n < least) {
			least = n;
			found = known;
		}
	}
	return found;
}

static bool apply_profile(const char *name)
{
	for (size_t i = 0; i < N_PROFILES; i++) {
		if (strcmp(profiles[i].name, name) == 0) {
			apply_list(profiles[i].settings, ",");
			return true;
		}
	}
	return false;
}

/* One NAME=VALUE a line; "#" begins a comment line. */
static void apply_file(const char *path)
{
	static char text[MAX_FILE];
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

	if (!file) {
		sim_say("SYNCTALLY_SIM: cannot read the settings: path=%s", path);
		return;
	}
	fclose(file);
	text[n] = '\0';
	at.path = path;
	at.line = 0;
	apply_list(text, "\n");
	at.path = NULL;
}

static void apply(const char *setting, size_t length)
{
	char text[MAX_SETTING];

	while (length && isspace((unsigned char)setting[length - 1]))
		length--;
	if (length == 0 || setting[0] == '#')
		return;
	if (length >= sizeof text) {
		sim_say("SYNCTALLY_SIM: a setting is longer than %d characters and is ignored", MAX_SETTING - 1);
		return;
	}
	memcpy(text, setting, length);
	text[length] = '\0';
	char *equals = strchr(text, '=');
	if (!equals && apply_profile(text))
		return;
	if (equals)
		*equals = '\0';
	if (equals && strcmp(text, "file") == 0) {
		if (at.path)
			COMPLAIN("a file of settings cannot name another one, ignored: path=%s", equals + 1);
		else
			apply_file(equals + 1);
		return;
	}
	const struct knob_desc *knob = find(text);
	if (!knob)
		COMPLAIN("no such setting or profile, ignored: name=%s (the nearest is %s)", text, nearest(text));
	else if (!equals || !parse_value(knob, equals + 1))
		COMPLAIN("value not understood, default kept: name=%s value=%s", text, equals ? equals + 1 : "");
}

static void apply_list(const char *text, const char *separators)
{
	while (*text) {
		size_t length = strcspn(text, separators);
		/* Only files are read by lines; a profile's settings stand at the line of its name. */
		at.line += *separators == '\n';
		apply(text, length);
		text += length + (text[length] != '\0');
	}
}

/* Divisors and the queue cannot be zero; the device must hold something. */
static void repair(void)
{
	uint64_t *positive[] = { &knobs.h2d_rate,    &knobs.d2h_rate,  &knobs.d2d_rate, &knobs.h2h_rate,
		                 &knobs.queue_depth, &knobs.nccl_rate, &knobs.sm_count, &knobs.gflops };

	for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++)
		if (*positive[i] == 0)
			*positive[i] = 1;
	if (knobs.queue_depth > 1 << 20)
		knobs.queue_depth = 1 << 20;
	if (knobs.jitter > 999)
		knobs.jitter = 999;
	if (knobs.memory < 1 << 24)
		knobs.memory = 1 << 24;
}

static void read_environment(void)
{
	for (size_t i = 0; i < N_KNOBS; i++)
		*knob_desc[i].value = knob_desc[i].initial;
	const char *text = getenv("SYNCTALLY_SIM");
	if (text)
		apply_list(text, ",");
	repair();
}

const struct sim_knobs *sim_knobs_read(void)
{
	pthread_once(&once, read_environment);
	__atomic_store_n(&sim_knobs_known, &knobs, __ATOMIC_RELEASE);
	return &knobs;
}
