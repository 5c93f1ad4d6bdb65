/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - did an act wait? Judged by acts of the same shape that certainly did not
 *
 * An act with nothing pending at entry is certified empty: its time is what
 * the calls cost. Whatever takes no longer did not wait either. The rule:
 *
 *   virtual clock   waited = blocked - the least of the empty ones of its shape and size
 *   other clocks    it waited if blocked > their 95th percentile + 1 us
 *
 * First add all acts of a process, then ask.
 */
#ifndef SY_ANALYSIS_BASELINE_H
#define SY_ANALYSIS_BASELINE_H

#include "analysis/index.h"
#include "analysis/logical.h"

enum sy_outcome { SY_OUTCOME_DRAIN, SY_OUTCOME_DONE_ALREADY, SY_OUTCOME_EMPTY, SY_N_OUTCOMES };

/* What became of an act. */
struct sy_verdict {
	enum sy_act_class class;
	enum sy_outcome outcome; /* of a sync */
	uint64_t waited_ns;      /* for the device; 0 unless it drained */
};

struct sy_baseline_shape;
struct sy_baseline_memo;

struct sy_baseline {
	bool is_virtual;
	struct sy_index keys;
	struct sy_baseline_shape *shapes; /* by number of the key */
	size_t capacity;
	struct sy_baseline_memo *memos;
	uint64_t least_call_ns; /* of all complete calls of the process */
};

void sy_baseline_init(struct sy_baseline *baseline, bool is_virtual);
void sy_baseline_add(struct sy_baseline *baseline, const struct sy_act *act);
struct sy_verdict sy_baseline_judge(const struct sy_baseline *baseline, const struct sy_act *act);
void sy_baseline_free(struct sy_baseline *baseline);

const char *sy_outcome_name(enum sy_outcome outcome);

#endif
