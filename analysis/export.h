/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - the recorded acts for other programs: one walk, many formats
 *
 * A format is a sink, told of every process, thread, step and act in order.
 * Nothing is held per act unless a format has to. A sink's functions return 0,
 * or -1 with `err` set; then nothing more is told but `end`.
 */
#ifndef SY_ANALYSIS_EXPORT_H
#define SY_ANALYSIS_EXPORT_H

#include "analysis/acts.h"
#include "analysis/aggregate.h"
#include "analysis/bytes.h"

#include <stdio.h>

/* What a stack of the folded formats weighs. */
enum sy_export_weight { SY_WEIGHT_BLOCKED, SY_WEIGHT_WAITED, SY_WEIGHT_COUNT, SY_N_WEIGHTS };

/* The whole job. */
struct sy_export {
	const char *const *paths;
	size_t n_paths;
	struct sy_step_range range;
	enum sy_export_weight weight;
	uint32_t slice_s;   /* avro: seconds a file reaches over; 0: one file */
	const char *output; /* the name, for formats that open it themselves: an empty file, or the folder */
	FILE *out;          /* for the others */
	uint64_t zero_ns;   /* the earliest start of all traces, as Unix time */
};

struct sy_export_process {
	const struct sy_trace *trace;
	const struct sy_steps *steps;
	uint32_t number;     /* 1, 2, ... in this export */
	uint64_t started_ns; /* Unix time */
};

struct sy_export_act {
	const struct sy_export_process *process;
	const struct sy_trace_thread *thread;
	const char *thread_name;
	const struct sy_told *told;
	const struct sy_act *act; /* of told */
	struct sy_site site;
	const char *api;  /* "cudaMemcpyAsync", "cudaMemcpyAsync + cudaStreamSynchronize" */
	uint64_t at_ns;   /* from the start of the process's trace */
	uint64_t span_ns; /* from the first call's beginning to the last one's end */
	bool is_sync;
	bool has_step;   /* told->step is a step */
	bool is_counted; /* in a counted step, or there are no steps */
};

struct sy_sink {
	const char *name;
	const char *help;
	bool opens_itself; /* wants a name, not a stream */
	bool is_folder;    /* of a folder, which may exist; files in it are new */
	int (*begin)(void **self, const struct sy_export *job, struct sy_err *err);
	int (*process)(void *self, const struct sy_export_process *process, struct sy_err *err);
	int (*thread)(void *self, const struct sy_export_process *process, const struct sy_trace_thread *thread,
	              const char *name, struct sy_err *err);
	int (*act)(void *self, const struct sy_export_act *act, struct sy_err *err);
	/* Frees `self`, which may be NULL; writes what is left if `is_good`. */
	int (*end)(void *self, bool is_good, struct sy_err *err);
	/* For a format of totals: called instead of all others. */
	int (*totals)(const struct sy_export *job, const struct sy_profile *profile, struct sy_err *err);
};

#define EXPORTER(name) extern const struct sy_sink sy_sink_##name;
#include "analysis/exporters.def"
#undef EXPORTER

const struct sy_sink *sy_export_find(const char *name);
/* "perfetto, sqlite, ..." */
const char *sy_export_names(void);

/* "blocked", "waited", "count"; -1 if there is no such. */
int sy_export_weight_find(const char *name);
uint64_t sy_export_weigh(enum sy_export_weight weight, const struct sy_told *told);

/*
 * Runs the job. Traces that cannot be read are told on stderr and left out.
 * Returns enum sy_exit; on SY_EXIT_USAGE it has said why.
 */
int sy_export_run(struct sy_export *job, const struct sy_sink *sink);

/* "drain", "empty", ...: of a sync; "-" of other acts. */
const char *sy_export_outcome(const struct sy_told *told);

/* Replaces the contents of `to` by the frames, outermost first: "train (train.py:88);..."; with a final zero. */
void sy_export_stack(const struct sy_export_act *act, struct sy_bytes *to);

#endif
