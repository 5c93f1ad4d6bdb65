/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - synctally: find the verb and run it
 */
#include "analysis/cli.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#ifndef SY_VERSION
#define SY_VERSION "unknown"
#endif

static const struct {
	const char *name;
	sy_command_fn *run;
	const char *arguments;
	const char *help;
} commands[] = {
#define COMMAND(name, function, arguments, help) { name, function, arguments, help },
#include "analysis/commands.def"
#undef COMMAND
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help(void)
{
	puts("synctally tells how often, where and how long a program waits for the GPU.\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  synctally %s %s\n      %s\n", commands[i].name, commands[i].arguments, commands[i].help);
	puts("\nBegin with: synctally run -- python train.py");
	puts("Exit status: 0 fine, 1 different or over budget, 2 usage or environment, 3 inconclusive or events\n"
	     "discarded; of run: that of the program.");
	return SY_EXIT_FINE;
}

static int help_of(size_t i)
{
	printf("usage: synctally %s %s\n%s\n", commands[i].name, commands[i].arguments, commands[i].help);
	return SY_EXIT_FINE;
}

/* Before "--", where the words of another program begin. */
static int asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return 1;
	return 0;
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2)
		return sy_usage("", "a verb is missing");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return help();
	if (strcmp(argv[1], "--version") == 0) {
		puts("synctally " SY_VERSION);
		return SY_EXIT_FINE;
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		return asks_for_help(argc - 1, argv + 1) ? help_of(i) : commands[i].run(argc - 1, argv + 1);
	}
	return sy_usage("", "unknown verb: name=%s", argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	/* Only the characters: numbers are written the same everywhere. */
	(void)setlocale(LC_CTYPE, "");
	status = dispatch(argc, argv);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	/* A reader that has seen enough, as `head`, is no failure worth a word. */
	if (errno != EPIPE)
		sy_say("cannot write the result: %s", strerror(errno));
	return SY_EXIT_USAGE;
}
