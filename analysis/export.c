/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/export.h"

#include "analysis/cli.h"
#include "analysis/load.h"
#include "analysis/mem.h"

#include <stdio.h>
#include <string.h>

static const struct sy_sink *const sinks[] = {
#define EXPORTER(name) &sy_sink_##name,
#include "analysis/exporters.def"
#undef EXPORTER
};

#define EXPORTER(name) ", " #name
static const char names[] =
#include "analysis/exporters.def"
	;
#undef EXPORTER

const struct sy_sink *sy_export_find(const char *name)
{
	for (size_t i = 0; i < sizeof(sinks) / sizeof(*sinks); i++)
		if (strcmp(sinks[i]->name, name) == 0)
			return sinks[i];
	return NULL;
}

const char *sy_export_names(void)
{
	return names + 2;
}

/* ---- weights, words, stacks --------------------------------------------------- */

int sy_export_weight_find(const char *name)
{
	static const char *const words[SY_N_WEIGHTS] = { "blocked", "waited", "count" };

	for (int i = 0; i < SY_N_WEIGHTS; i++)
		if (strcmp(words[i], name) == 0)
			return i;
	return -1;
}

uint64_t sy_export_weigh(enum sy_export_weight weight, const struct sy_told *told)
{
	switch (weight) {
	case SY_WEIGHT_BLOCKED:
		return told->act->blocked_ns;
	case SY_WEIGHT_WAITED:
		return told->verdict.waited_ns;
	default:
		return 1;
	}
}

const char *sy_export_outcome(const struct sy_told *told)
{
	return told->verdict.class < SY_N_SYNC_CLASSES ? sy_outcome_name(told->verdict.outcome) : "-";
}

static void put_frame(struct sy_bytes *to, const char *text)
{
	/* Both stand for something in folded stacks. */
	for (const char *at = text; *at; at++) {
		char c = *at == ';' ? ',' : *at;

		sy_bytes_put(to, (unsigned char)c < ' ' ? " " : &c, 1);
	}
}

void sy_export_stack(const struct sy_export_act *act, struct sy_bytes *to)
{
	const struct sy_event *at = act->act->at;
	uint32_t depth = sy_thread_stack_depth(act->thread, at->stack);
	uint32_t native = depth ? 0 : sy_thread_native_depth(act->thread, at->native);
	char line[24];

	to->used = 0;
	for (uint32_t i = depth; i-- > 0;) {
		struct sy_trace_frame frame = sy_thread_frame(act->thread, at->stack, i);

		put_frame(to, frame.function);
		sy_bytes_put(to, " (", 2);
		put_frame(to, frame.file);
		sy_bytes_put(to, line, (size_t)snprintf(line, sizeof(line), ":%u);", frame.line));
	}
	for (uint32_t i = native; i-- > 0;) {
		struct sy_trace_native place = sy_thread_native(act->thread, at->native, i);

		put_frame(to, place.module);
		sy_bytes_put(to, line,
		             (size_t)snprintf(line, sizeof(line), "+0x%llx;", (unsigned long long)place.offset));
	}
	if (to->used)
		to->used--; /* the last separator */
	else
		put_frame(to, "?");
	sy_bytes_put(to, "", 1);
}

/* ---- the walk -------------------------------------------------------------------- */

struct walk {
	const struct sy_sink *sink;
	void *self;
	struct sy_export_process process;
	struct sy_err *err;
	bool has_failed;
	char api[1024];
};

static const char *api_of(struct walk *walk, const struct sy_act *act)
{
	const struct sy_trace *trace = walk->process.trace;
	const char *first = sy_trace_api(trace, act->first->api)->name;

	if (!act->second)
		return first;
	snprintf(walk->api, sizeof(walk->api), "%s + %s", first, sy_trace_api(trace, act->second->api)->name);
	return walk->api;
}

static void on_act(void *context, struct sy_acts *acts, const struct sy_told *told)
{
	struct walk *walk = context;
	const struct sy_clock *clock = &acts->trace->clock;
	const struct sy_act *act = told->act;
	const struct sy_event *last = act->second ? act->second : act->first;
	struct sy_export_act out = { .process = &walk->process,
		                     .thread = told->thread,
		                     .thread_name = acts->thread_name,
		                     .told = told,
		                     .act = act,
		                     .is_sync = told->verdict.class < SY_N_SYNC_CLASSES,
		                     .has_step = told->step < acts->steps.n,
		                     .is_counted = told->is_counted || acts->steps.n == 0 };
	uint64_t end_ns;

	if (walk->has_failed)
		return;
	out.api = api_of(walk, act);
	out.site = sy_acts_site(acts, told->thread, act->at);
	out.at_ns = sy_clock_at_ns(clock, act->first->enter_ticks);
	end_ns = sy_clock_at_ns(clock, last->enter_ticks) + sy_clock_span_ns(clock, last->duration_ticks);
	out.span_ns = end_ns > out.at_ns ? end_ns - out.at_ns : 0;
	walk->has_failed = walk->sink->act(walk->self, &out, walk->err) != 0;
}

/* Whether a trace is known not to hold everything. */
static bool is_incomplete(const struct sy_trace *trace, const struct sy_census *census)
{
	struct sy_damage damage = trace->damage;

	damage.unknown_defs = 0;
	return trace->header.discarded_events || trace->header.discarded_defs || census->gaps || census->disordered ||
	       census->unknown || damage.missing_bytes || damage.unreadable_bytes || damage.missing_events ||
	       damage.unreadable_defs || damage.lost_segments;
}

static int walk_trace(struct walk *walk, const struct sy_trace *trace, const struct sy_export *job, uint32_t number,
                      bool *is_whole)
{
	const struct sy_sink *sink = walk->sink;
	struct sy_arena arena = { NULL };
	struct sy_acts acts;

	sy_acts_init(&acts, trace, job->range, &arena);
	walk->process = (struct sy_export_process){ trace, &acts.steps, number, trace->header.start.realtime_ns };
	walk->has_failed = sink->process && sink->process(walk->self, &walk->process, walk->err) != 0;
	for (uint32_t i = 0; i < trace->n_threads && !walk->has_failed; i++) {
		const struct sy_trace_thread *thread = &trace->threads[i];

		if (sink->thread)
			walk->has_failed = sink->thread(walk->self, &walk->process, thread,
			                                sy_acts_thread_name(&acts, thread), walk->err) != 0;
		if (!walk->has_failed)
			sy_acts_walk(&acts, thread, on_act, walk);
	}
	*is_whole &= !is_incomplete(trace, &acts.steps.census);
	sy_acts_free(&acts);
	sy_arena_free(&arena);
	return walk->has_failed ? -1 : 0;
}

/* ---- the job ----------------------------------------------------------------------- */

static void find_zero(struct sy_export *job)
{
	struct sy_trace *trace;
	struct sy_err err;

	job->zero_ns = 0;
	for (size_t i = 0; i < job->n_paths; i++) {
		if (sy_trace_open(job->paths[i], &trace, &err) != 0)
			continue;
		if (!job->zero_ns || trace->header.start.realtime_ns < job->zero_ns)
			job->zero_ns = trace->header.start.realtime_ns;
		sy_trace_close(trace);
	}
}

static int run_acts(struct sy_export *job, const struct sy_sink *sink, size_t *n_bad, bool *is_whole,
                    struct sy_err *err)
{
	struct walk walk = { .sink = sink, .err = err };
	struct sy_err ignored;
	int result;

	find_zero(job);
	result = sink->begin(&walk.self, job, err);
	for (size_t i = 0; i < job->n_paths && result == 0; i++) {
		struct sy_trace *trace;
		struct sy_err why;

		if (sy_trace_open(job->paths[i], &trace, &why) != 0) {
			sy_say("%s", why.text);
			++*n_bad;
			continue;
		}
		result = walk_trace(&walk, trace, job, (uint32_t)(i + 1), is_whole);
		sy_trace_close(trace);
	}
	if (sink->end(walk.self, result == 0, result == 0 ? err : &ignored) != 0)
		result = -1;
	return result;
}

static int run_totals(struct sy_export *job, const struct sy_sink *sink, size_t *n_bad, bool *is_whole,
                      struct sy_err *err)
{
	struct sy_profile profile;
	int result;

	sy_profile_init(&profile, job->range);
	*n_bad = sy_load_traces(&profile, job->paths, job->n_paths);
	sy_profile_finish(&profile);
	result = sink->totals(job, &profile, err);
	*is_whole = !sy_load_is_inconclusive(&profile);
	sy_profile_free(&profile);
	return result;
}

int sy_export_run(struct sy_export *job, const struct sy_sink *sink)
{
	struct sy_err err;
	size_t n_bad = 0;
	bool is_whole = true;
	int result = sink->totals ? run_totals(job, sink, &n_bad, &is_whole, &err)
	                          : run_acts(job, sink, &n_bad, &is_whole, &err);

	if (result != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	if (n_bad == job->n_paths)
		return SY_EXIT_USAGE;
	return n_bad || !is_whole ? SY_EXIT_INCONCLUSIVE : SY_EXIT_FINE;
}
