/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ledger.h"

#include "analysis/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "# synctally-ledger/1"
#define MAX_COLUMNS 32

enum column { N, TID, API, CLASS, ENTER, LEAVE, PENDING, BYTES, SOURCE, DESTINATION, STATUS, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = { "n",        "tid",         "api",     "class",
	                                             "enter_ns", "leave_ns",    "pending", "bytes",
	                                             "source",   "destination", "status" };

struct reading {
	struct sy_ledger *ledger;
	int column[N_COLUMNS]; /* position of each in a line */
	struct sy_err *err;
};

static int split(char *line, char *fields[MAX_COLUMNS])
{
	int n = 0;

	while (line && n < MAX_COLUMNS)
		fields[n++] = strsep(&line, "\t");
	return n;
}

static int read_columns(struct reading *reading, char *line)
{
	char *fields[MAX_COLUMNS];
	int n = split(line, fields);

	for (int c = 0; c < N_COLUMNS; c++) {
		reading->column[c] = -1;
		for (int i = 0; i < n; i++)
			if (strcmp(fields[i], column_names[c]) == 0)
				reading->column[c] = i;
		if (reading->column[c] < 0)
			return sy_err_set(reading->err, "a column is missing: name=%s", column_names[c]);
	}
	return 0;
}

static bool parse(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && end != text && *end == '\0';
}

static int read_entry(struct reading *reading, char *line, uint64_t number)
{
	struct sy_ledger *ledger = reading->ledger;
	struct sy_ledger_entry entry = { 0 };
	char *fields[MAX_COLUMNS], *at[N_COLUMNS];
	uint64_t tid, pending;
	int n = split(line, fields);

	for (int c = 0; c < N_COLUMNS; c++) {
		if (reading->column[c] >= n)
			return sy_err_set(reading->err, "line %" PRIu64 " is cut", number);
		at[c] = fields[reading->column[c]];
	}
	if (strcmp(at[CLASS], "BACKPRESSURE") == 0) {
		ledger->n_held++;
		return 0;
	}
	if (!parse(at[N], &entry.n) || !parse(at[TID], &tid) || !parse(at[ENTER], &entry.enter_ns) ||
	    !parse(at[LEAVE], &entry.leave_ns) || !parse(at[PENDING], &pending) || !parse(at[BYTES], &entry.bytes))
		return sy_err_set(reading->err, "line %" PRIu64 ": not a number", number);
	entry.tid = (uint32_t)tid;
	entry.is_pending = pending != 0;
	entry.status = strtoll(at[STATUS], NULL, 10);
	entry.api = sy_mem_copy(&ledger->arena, at[API]);
	entry.class_name = sy_mem_copy(&ledger->arena, at[CLASS]);
	entry.source = sy_mem_copy(&ledger->arena, at[SOURCE]);
	entry.destination = sy_mem_copy(&ledger->arena, at[DESTINATION]);
	ledger->entries = sy_mem_grow(ledger->entries, &ledger->capacity, ledger->n, sizeof(*ledger->entries));
	ledger->entries[ledger->n++] = entry;
	return 0;
}

static int read_lines(struct reading *reading, FILE *file)
{
	uint64_t number = 0;
	size_t room = 0;
	char *line = NULL;
	ssize_t n;
	int result = 0;

	while (result == 0 && (n = getline(&line, &room, file)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		number++;
		if (number == 1 && strcmp(line, FIRST_LINE) != 0)
			result = sy_err_set(reading->err, "it does not begin with \"%s\"", FIRST_LINE);
		else if (number == 2)
			result = read_columns(reading, line);
		else if (number > 2)
			result = read_entry(reading, line, number);
	}
	free(line);
	if (result == 0 && number < 2)
		result = sy_err_set(reading->err, "it is empty");
	return result;
}

int sy_ledger_read(const char *path, struct sy_ledger *ledger, struct sy_err *err)
{
	struct reading reading = { .ledger = ledger, .err = err };
	FILE *file = fopen(path, "re");
	int result;

	memset(ledger, 0, sizeof(*ledger));
	if (!file)
		return sy_err_set(err, "cannot read the ledger: path=%s: %s", path, strerror(errno));
	result = read_lines(&reading, file);
	fclose(file);
	if (result == 0)
		return 0;
	sy_ledger_free(ledger);
	return sy_err_wrap(err, "cannot read the ledger: path=%s", path);
}

void sy_ledger_free(struct sy_ledger *ledger)
{
	free(ledger->entries);
	sy_arena_free(&ledger->arena);
	memset(ledger, 0, sizeof(*ledger));
}
