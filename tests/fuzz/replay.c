/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target without a fuzzing engine
 *
 *	fuzz_X DIRECTORY
 *
 * Every file of the directory, and damaged copies of each that is not empty,
 * the same in every run. Prints TAP, one line per file. When the target dies,
 * the last words are the file and the number of the copy.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { N_COPIES = 1500, MAX_CHANGES = 8, BLOCK_BYTES = 65536, HEAD_BYTES = 512 };

static char current[512];

static void last_words(int number)
{
	ssize_t ignored = write(STDOUT_FILENO, current, strlen(current));

	(void)ignored;
	signal(number, SIG_DFL);
	raise(number);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Heads of the file and of its blocks hold the lengths, so half of the changes go there. */
static size_t somewhere(size_t bytes, uint64_t *random)
{
	size_t at = next_random(random) % bytes;

	if (next_random(random) % 2)
		at = at / BLOCK_BYTES * BLOCK_BYTES + next_random(random) % HEAD_BYTES;
	return at < bytes ? at : bytes - 1;
}

/* Damages `data` and returns how many bytes of it are left. */
static size_t damage(uint8_t *data, size_t bytes, uint64_t *random)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t n_changes = 1 + next_random(random) % MAX_CHANGES;

	for (uint64_t i = 0; i < n_changes; i++) {
		size_t at = somewhere(bytes, random);
		size_t n = 1 + next_random(random) % 8;
		uint64_t kind = next_random(random) % 8;

		for (; n > 0 && at < bytes; n--, at++)
			data[at] = kind < sizeof(values) ? values[kind] : (uint8_t)next_random(random);
	}
	return next_random(random) % 4 ? bytes : next_random(random) % (bytes + 1);
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long end;

	if (!file || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0) {
		perror(path);
		exit(2);
	}
	rewind(file);
	*bytes = (size_t)end;
	data = malloc(*bytes + 1);
	if (!data || fread(data, 1, *bytes, file) != *bytes) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return data;
}

/* Returns false if the target could not run its input. */
static int replay(const char *path)
{
	size_t bytes;
	uint8_t *data = read_file(path, &bytes), *copy = malloc(bytes + 1);
	uint64_t random = 88172645463325252u;
	int failed = LLVMFuzzerTestOneInput(data, bytes);

	for (unsigned i = 0; i < N_COPIES && bytes > 0 && copy && !failed; i++) {
		size_t left;

		snprintf(current, sizeof(current), "# died of damaged copy %u of %s\n", i, path);
		memcpy(copy, data, bytes);
		left = damage(copy, bytes, &random);
		failed = LLVMFuzzerTestOneInput(copy, left);
	}
	free(copy);
	free(data);
	return !failed;
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n = argc == 2 ? scandir(argv[1], &entries, is_shown, alphasort) : -1;
	int n_failed = 0;

	if (n <= 0) {
		fprintf(stderr, "usage: %s DIRECTORY with inputs\n", argv[0]);
		return 2;
	}
	signal(SIGSEGV, last_words);
	signal(SIGBUS, last_words);
	signal(SIGABRT, last_words);
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		char path[400];
		int is_fine;

		snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
		fflush(stdout);
		is_fine = replay(path);
		printf("%sok %d - %s and %d damaged copies\n", is_fine ? "" : "not ", i + 1, entries[i]->d_name,
		       N_COPIES);
		n_failed += !is_fine;
		free(entries[i]);
	}
	free(entries);
	return n_failed > 0;
}
