/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - read the simulated device's own account of a run
 *
 * A text file, one line per call, columns by name. Only for comparing it with
 * a trace; nothing else reads it.
 */
#ifndef SY_ANALYSIS_LEDGER_H
#define SY_ANALYSIS_LEDGER_H

#include "trace/arena.h"
#include "trace/err.h"

#include <stddef.h>
#include <stdint.h>

struct sy_ledger_entry {
	uint64_t n; /* number in the ledger */
	uint32_t tid;
	const char *api;
	const char *class_name;
	uint64_t enter_ns, leave_ns;
	uint64_t bytes;
	const char *source, *destination; /* as sy_memory_name */
	int64_t status;
	int is_pending;
};

struct sy_ledger {
	struct sy_arena arena;
	struct sy_ledger_entry *entries; /* in the order of the file; without backpressure lines */
	size_t n, capacity;
	uint64_t n_held; /* lines of launches that a full queue held */
};

int sy_ledger_read(const char *path, struct sy_ledger *ledger, struct sy_err *err);
void sy_ledger_free(struct sy_ledger *ledger);

#endif
