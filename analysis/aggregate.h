/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - the profile: totals by line, function, class, thread, rank and step
 *
 * Takes any number of traces one after the other and keeps only totals. Every
 * sync is counted exactly once in each grouping, inside or outside the counted
 * steps, so all groupings have the same sum.
 */
#ifndef SY_ANALYSIS_AGGREGATE_H
#define SY_ANALYSIS_AGGREGATE_H

#include "analysis/baseline.h"
#include "analysis/index.h"
#include "analysis/payers.h"
#include "analysis/site.h"
#include "analysis/steps.h"

#include <stdbool.h>
#include <stdint.h>

enum sy_metric {
#define METRIC(id, key, heading, unit, when) SY_METRIC_##id,
#include "analysis/metrics.def"
#undef METRIC
	SY_N_METRICS
};

enum sy_unit { SY_UNIT_COUNT, SY_UNIT_NS };

struct sy_metric_desc {
	const char *key;
	const char *heading;
	enum sy_unit unit;
	bool is_always_shown; /* in tables; the others if there is any */
};
extern const struct sy_metric_desc sy_metric_desc[SY_N_METRICS];

/* Over the counted steps of all processes. */
struct sy_stat {
	uint64_t n; /* steps in which it is known; 0: the others mean nothing */
	double median, mean;
	uint64_t min, max;
};

/* Where a sync was counted. Without any step, everything is inside. */
enum sy_part { SY_PART_STEPS, SY_PART_OUTSIDE, SY_N_PARTS };

struct sy_tally {
	uint64_t count;
	uint64_t outcome[SY_N_OUTCOMES];
	uint64_t bytes;
	uint64_t blocked_ns, waited_ns;
	uint64_t launches_before; /* sum over its acts: launches since the thread's sync before */
	uint64_t made_up;         /* its acts that showed the program what a simulated device made up */
};

/* One line of the program, as far as it does one kind of thing. */
struct sy_row {
	struct sy_site site;
	enum sy_act_class class; /* a sync class, or SY_ACT_STAGING */
	uint8_t direction, memory;
	const char **api; /* functions, in the order first seen */
	uint32_t n_api;
	const char *thread; /* "main", a name, or "several" */
	const char **stack; /* of the first act, innermost first: "file:line function" */
	uint32_t n_stack;
	const char *accepted; /* reason of a comment "# sync-ok: REASON" at the line; NULL: none */
	uint64_t
		other_ways; /* counted steps in which other calls came right behind it, made up, than in the step before */
	struct sy_tally tally[SY_N_PARTS];
};

enum sy_grouping { SY_BY_API, SY_BY_CLASS, SY_BY_THREAD, SY_BY_RANK, SY_N_GROUPINGS };

struct sy_group {
	const char *name;
	uint64_t n_steps; /* counted steps its numbers are spread over: for a rank its own, else all */
	struct sy_tally tally[SY_N_PARTS];
};

struct sy_groups {
	struct sy_index keys;
	struct sy_group *at; /* by number of the key */
	size_t capacity;
};

struct sy_process_step {
	uint64_t value[SY_N_METRICS];
	bool is_known[SY_N_METRICS];
};

struct sy_process {
	const char *path;
	uint32_t pid;
	int32_t rank;
	const char *host;
	uint32_t n_threads;
	uint32_t clock_kind;
	bool is_running;              /* or was killed */
	bool is_rough;                /* times are a guess */
	bool has_runtime, has_driver; /* layers seen */
	struct sy_steps steps;
	struct sy_process_step *step; /* steps.n of them */
	uint64_t outside[SY_N_METRICS];
	uint64_t acts[SY_N_ACT_CLASSES];
	uint64_t discarded_events, discarded_defs;
	struct sy_census census;
	struct sy_damage damage;
	const char **blind;          /* modules whose calls were not seen */
	const char *blind_unchecked; /* why that is not known of all; NULL: it is */
	uint32_t n_blind;
};

/* One sync or staged upload in a counted step, at the moment it is counted. */
struct sy_counted {
	size_t process; /* position in processes */
	uint32_t step;
	uint32_t row;       /* position in rows */
	const char *thread; /* as in sy_row */
	enum sy_outcome outcome;
	uint64_t blocked_ns, waited_ns;
};
typedef void sy_counted_fn(void *context, const struct sy_counted *counted);

struct sy_order;
struct sy_series;

struct sy_profile {
	struct sy_arena arena;
	sy_counted_fn *on_counted; /* NULL: nobody wants more than totals; set between init and the first add */
	void *on_counted_context;
	const char **command;
	uint32_t n_command;
	const char *cwd; /* of the first process when it started; NULL not known */
	struct sy_step_range range;
	struct sy_process *processes;
	size_t n_processes, processes_capacity;
	struct sy_row *rows;
	size_t rows_capacity;
	struct sy_index row_keys;
	struct sy_groups groups[SY_N_GROUPINGS];
	struct sy_payers payers;
	const struct sy_series *series; /* time waited over the steps (series.h), if somebody wanted it; the caller's */
	const struct sy_order *order;   /* one step in order (order.h), if it was asked for; the caller's */

	/* filled by sy_profile_finish */
	struct sy_row **sorted; /* all rows, most blocked time in steps first */
	uint32_t n_rows;
	struct sy_stat stat[SY_N_METRICS];
	uint64_t total[SY_N_PARTS][SY_N_METRICS];
	uint64_t n_samples;          /* counted steps, all processes together */
	uint32_t n_steps, n_skipped; /* of the process that has most */
	int32_t step_source;
	bool has_steps;
	uint64_t n_calls; /* recorded calls */
};

void sy_profile_init(struct sy_profile *profile, struct sy_step_range range);
/* Nothing of the trace is needed afterwards. */
void sy_profile_add(struct sy_profile *profile, const struct sy_trace *trace);
/* After the last trace. */
void sy_profile_finish(struct sy_profile *profile);
void sy_profile_free(struct sy_profile *profile);

/* Events that are known to be missing, of all processes; and whether anything else of the files is. */
uint64_t sy_profile_discarded(const struct sy_profile *profile);
bool sy_profile_is_incomplete(const struct sy_profile *profile);

#endif
