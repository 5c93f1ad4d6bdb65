/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the simulator's own account of every call that may wait
 *
 * Ground truth for tests: what the interposer reports is compared with it,
 * line by line. Written to SYNCTALLY_SIM_LEDGER (%p is the process id), one
 * write(2) per line, just before the call returns. No file without the
 * variable or without a recorded call.
 */
#ifndef SIM_LEDGER_H
#define SIM_LEDGER_H

#include <stdbool.h>

#include "sim/scope.h"

bool sim_class_is_recorded(enum sy_class class);
const char *sim_class_name(enum sy_class class);

/* Any thread; takes its own lock. scope->waited_ns is final, the leave time is taken here. */
void sim_ledger_write(const struct sim_scope *scope, const char *class_name, int status);

/* In a forked child: the next line opens a file of its own. */
void sim_ledger_forget(void);

#endif
