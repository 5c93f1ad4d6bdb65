/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/out.h"

#include "interposer/config.h"
#include "interposer/log.h"
#include "interposer/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_NAME "synctally.%h.%p.trace"
#define SUFFIX ".trace"
#define MAX_SAME_NAME 100 /* process ids come again */
#define MAX_ARGUMENTS_BYTES 8192

static char start_dir[SY_WRITER_PATH_BYTES];
static char tried_path[SY_WRITER_PATH_BYTES];

void sy_out_init(void)
{
	if (!getcwd(start_dir, sizeof(start_dir)))
		start_dir[0] = '\0';
}

struct text {
	char *at;
	size_t used, capacity;
	bool is_cut;
};

static void append(struct text *text, const char *what)
{
	size_t n = strlen(what);

	if (n >= text->capacity - text->used) {
		text->is_cut = true;
		return;
	}
	memcpy(text->at + text->used, what, n + 1);
	text->used += n;
}

static void append_pattern(struct text *text, const char *pattern, const struct sy_file_header *header)
{
	char number[SY_LOG_NUMBER_BYTES];

	for (; *pattern; pattern++) {
		char one[2] = { *pattern, '\0' };

		if (*pattern != '%' || !pattern[1]) {
			append(text, one);
			continue;
		}
		pattern++;
		if (*pattern == 'h')
			append(text, header->host);
		else if (*pattern == 'p')
			append(text, sy_log_number(number, (long)header->pid));
		else if (*pattern == 'r')
			append(text, header->rank < 0 ? "0" : sy_log_number(number, header->rank));
		else if (*pattern == '%')
			append(text, "%");
	}
}

/* A value that ends in a slash, or names a directory, asks for our default name in it. */
static bool is_directory(const char *path)
{
	struct stat status;
	size_t n = strlen(path);

	return (n && path[n - 1] == '/') || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* A device, a pipe, a socket: a number behind its name would put a file beside it that nobody asked for. */
static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool build_path(const struct sy_file_header *header)
{
	struct text text = { tried_path, 0, sizeof(tried_path), false };
	const char *out = sy_config.out ? sy_config.out : DEFAULT_NAME;

	if (out[0] != '/') {
		append(&text, start_dir);
		append(&text, "/");
	}
	append_pattern(&text, out, header);
	if (is_directory(tried_path)) {
		append(&text, "/");
		append_pattern(&text, DEFAULT_NAME, header);
	}
	return !text.is_cut;
}

/* NAME.trace becomes NAME.N.trace. */
static bool number_path(char *path, size_t capacity, int n)
{
	size_t base = strlen(tried_path), suffix = sizeof(SUFFIX) - 1;
	char number[SY_LOG_NUMBER_BYTES];
	struct text text = { path, 0, capacity, false };

	append(&text, tried_path);
	if (base > suffix && strcmp(tried_path + base - suffix, SUFFIX) == 0)
		text.used = base - suffix;
	append(&text, ".");
	append(&text, sy_log_number(number, n));
	append(&text, SUFFIX);
	return !text.is_cut;
}

int sy_out_open(struct sy_writer *writer, const struct sy_file_header *header)
{
	static char path[SY_WRITER_PATH_BYTES];
	int error;

	if (!build_path(header))
		return ENAMETOOLONG;
	if (is_special(tried_path))
		return ESPIPE;
	error = sy_writer_open(writer, tried_path, header);
	for (int n = 1; error == EEXIST && n < MAX_SAME_NAME && number_path(path, sizeof(path), n); n++)
		error = sy_writer_open(writer, path, header);
	return error;
}

const char *sy_out_path(const struct sy_state *state)
{
	return state->writer.header ? state->writer.path : tried_path;
}

static void note_command(struct sy_state *state)
{
	static char arguments[MAX_ARGUMENTS_BYTES]; /* the stack may be small; under the mutex of the state */
	char key[SY_LOG_NUMBER_BYTES + 8] = "argv.";
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, arguments, sizeof(arguments) - 1);
	long index = 0;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	arguments[n] = '\0';
	for (char *at = arguments; at < arguments + n; at += strlen(at) + 1) {
		char number[SY_LOG_NUMBER_BYTES];

		strncpy(key + 5, sy_log_number(number, index++), SY_LOG_NUMBER_BYTES);
		sy_state_note(state, key, at);
	}
}

void sy_out_note_process(struct sy_state *state)
{
	static const char *const variables[] = { "SYNCTALLY",
		                                 "SYNCTALLY_STEP",
		                                 "SYNCTALLY_STACKS",
		                                 "SYNCTALLY_SIM",
		                                 "RANK",
		                                 "LOCAL_RANK",
		                                 "WORLD_SIZE",
		                                 "CUDA_VISIBLE_DEVICES",
		                                 "CUDA_LAUNCH_BLOCKING",
		                                 "PYTORCH_CUDA_ALLOC_CONF",
		                                 "PYTORCH_ALLOC_CONF",
		                                 NULL };
	char key[64] = "env.";

	note_command(state);
	sy_state_note(state, "cwd", start_dir);
	for (const char *const *name = variables; *name; name++) {
		const char *value = getenv(*name);

		if (!value)
			continue;
		strncpy(key + 4, *name, sizeof(key) - 5);
		sy_state_note(state, key, value);
	}
}
