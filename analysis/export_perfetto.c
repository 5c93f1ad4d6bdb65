/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_perfetto.c - the trace event format, for ui.perfetto.dev and chrome://tracing
 *
 * Times are microseconds since the earliest start of all traces, by the real
 * time clock of each host. A host thread has two tracks: its recorded calls,
 * and what it launched between two waits, with an arrow from the launches to
 * the wait that waited for them. Slices of a track never overlap: a trace
 * viewer drops those that do.
 */
#include "analysis/export.h"

#include "trace/event.h"

#include <jansson.h>
#include <stdlib.h>

/* Tracks of a process: 1 its steps, then two for every thread. */
enum { TRACK_STEPS = 1, TRACK_FIRST_THREAD = 2 };

struct perfetto {
	FILE *out;
	uint64_t zero_ns;
	bool is_first;
	uint64_t flow; /* number of the last arrow */
	/* of the thread being told */
	uint64_t free_ns; /* its track is drawn on up to here */
	uint64_t wait_end_ns;
};

static uint32_t track_of(const struct sy_trace_thread *thread, bool launches)
{
	return TRACK_FIRST_THREAD + thread->index * 2 + launches;
}

/* Takes the event. */
static int put(struct perfetto *perfetto, json_t *event, struct sy_err *err)
{
	int result = event ? 0 : -1;

	if (fputs(perfetto->is_first ? "\n" : ",\n", perfetto->out) < 0 ||
	    (event && json_dumpf(event, perfetto->out, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0))
		result = -1;
	perfetto->is_first = false;
	json_decref(event);
	return result == 0 ? 0 : sy_err_set(err, "cannot write the export");
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

/* On the common clock. */
static uint64_t at(const struct perfetto *perfetto, const struct sy_export_process *process, uint64_t ns)
{
	return process->started_ns - perfetto->zero_ns + ns;
}

static int begin(void **self, const struct sy_export *job, struct sy_err *err)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	*self = perfetto;
	if (!perfetto)
		return sy_err_set(err, "out of memory");
	perfetto->out = job->out;
	perfetto->zero_ns = job->zero_ns;
	perfetto->is_first = true;
	fprintf(job->out,
	        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"us since the first trace began, each host by "
	        "its own real time clock\",\"began_unix_ns\":\"%llu\"},\"traceEvents\":[",
	        (unsigned long long)job->zero_ns);
	return 0;
}

static int name_track(struct perfetto *perfetto, const struct sy_export_process *process, uint32_t track,
                      const char *what, json_t *name, struct sy_err *err)
{
	return put(perfetto,
	           json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "ph", "M", "name", what, "pid", (int)process->number,
	                     "tid", (int)track, "args", "name", name),
	           err);
}

static int sort_track(struct perfetto *perfetto, const struct sy_export_process *process, uint32_t track,
                      struct sy_err *err)
{
	return put(perfetto,
	           json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "ph", "M", "name", "thread_sort_index", "pid",
	                     (int)process->number, "tid", (int)track, "args", "sort_index", (int)track),
	           err);
}

static int put_step(struct perfetto *perfetto, const struct sy_export_process *process, uint32_t step,
                    struct sy_err *err)
{
	uint64_t span_ns;
	bool is_counted = sy_steps_is_counted(process->steps, step);

	if (!sy_steps_duration(process->steps, step, &span_ns))
		return 0;
	return put(perfetto,
	           json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:f}", "ph", "X", "name", json_sprintf("step %u", step),
	                     "cat", is_counted ? "step" : "step,not counted", "pid", (int)process->number, "tid",
	                     (int)TRACK_STEPS, "ts",
	                     us(at(perfetto, process, process->steps->ends[step].at_ns - span_ns)), "dur", us(span_ns)),
	           err);
}

static int process(void *self, const struct sy_export_process *process, struct sy_err *err)
{
	struct perfetto *perfetto = self;
	const struct sy_file_header *header = &process->trace->header;
	json_t *name = header->rank >= 0
	                       ? json_sprintf("rank %d, %s, process %u", header->rank, header->host, header->pid)
	                       : json_sprintf("%s, process %u", header->host, header->pid);
	int result = name_track(perfetto, process, 0, "process_name", name, err);

	if (result == 0)
		result = name_track(perfetto, process, TRACK_STEPS, "thread_name", json_string("steps"), err);
	if (result == 0)
		result = sort_track(perfetto, process, TRACK_STEPS, err);
	for (uint32_t i = 0; i < process->steps->n && result == 0; i++)
		result = put_step(perfetto, process, i, err);
	return result;
}

static int thread(void *self, const struct sy_export_process *process, const struct sy_trace_thread *thread,
                  const char *name, struct sy_err *err)
{
	struct perfetto *perfetto = self;
	int result = 0;

	perfetto->free_ns = perfetto->wait_end_ns = 0;
	for (int launches = 0; launches < 2 && result == 0; launches++) {
		uint32_t track = track_of(thread, launches != 0);

		result = name_track(perfetto, process, track, "thread_name",
		                    json_sprintf(launches ? "%s: launches" : "%s: calls", name), err);
		if (result == 0)
			result = sort_track(perfetto, process, track, err);
	}
	return result;
}

static json_t *details(const struct sy_export_act *act)
{
	const struct sy_told *told = act->told;

	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:i, s:I, s:I, s:i}", "file", act->site.file,
	                 "function", act->site.function, "line", (int)act->site.line, "api", act->api, "outcome",
	                 sy_export_outcome(told), "direction", sy_direction_name(act->act->direction), "memory",
	                 sy_memory_name(act->act->memory), "bytes", (json_int_t)act->act->first->bytes,
	                 "launches_before", (int)told->launches_before, "blocked_ns", (json_int_t)act->act->blocked_ns,
	                 "waited_ns", (json_int_t)told->verdict.waited_ns, "step",
	                 act->has_step ? (int)told->step : -1);
}

/* One end of an arrow. */
static int put_arrow(struct perfetto *perfetto, const struct sy_export_act *act, bool is_start, uint64_t at_ns,
                     struct sy_err *err)
{
	json_t *event =
		json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:f}", "ph", is_start ? "s" : "f", "name", "waited for",
	                  "cat", "wait", "id", (json_int_t)perfetto->flow, "pid", (int)act->process->number, "tid",
	                  (int)track_of(act->thread, is_start), "ts", us(at_ns));

	if (!is_start)
		json_object_set_new(event, "bp", json_string("e"));
	return put(perfetto, event, err);
}

/* What was launched since the wait before, up to this one; if it waited, with an arrow to it. */
static int put_launches(struct perfetto *perfetto, const struct sy_export_act *act, uint64_t start_ns,
                        struct sy_err *err)
{
	uint64_t from_ns = perfetto->wait_end_ns;
	uint32_t n = act->told->launches_before;
	int result;

	if (!n || start_ns <= from_ns)
		return 0;
	result = put(perfetto,
	             json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:f}", "ph", "X", "name",
	                       json_sprintf(n == 1 ? "%u launch" : "%u launches", n), "cat", "launch", "pid",
	                       (int)act->process->number, "tid", (int)track_of(act->thread, true), "ts", us(from_ns),
	                       "dur", us(start_ns - from_ns)),
	             err);
	if (result != 0 || act->told->verdict.outcome != SY_OUTCOME_DRAIN)
		return result;
	perfetto->flow++;
	result = put_arrow(perfetto, act, true, from_ns, err);
	return result == 0 ? put_arrow(perfetto, act, false, start_ns, err) : -1;
}

static int act(void *self, const struct sy_export_act *act, struct sy_err *err)
{
	struct perfetto *perfetto = self;
	uint64_t start_ns = at(perfetto, act->process, act->at_ns), end_ns = start_ns + act->span_ns;
	const char *class = sy_act_class_name(act->told->verdict.class);
	json_t *name;
	int result;

	/* Rounding may let a call begin a nanosecond before the one before it ends. */
	if (start_ns < perfetto->free_ns)
		start_ns = perfetto->free_ns;
	if (end_ns < start_ns)
		end_ns = start_ns;
	perfetto->free_ns = end_ns;
	name = act->is_sync ? json_sprintf("%s: %s", class, sy_export_outcome(act->told)) : json_string(class);
	result = put(perfetto,
	             json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:f, s:o}", "ph", "X", "name", name, "cat",
	                       act->is_sync ? "sync" : "call", "pid", (int)act->process->number, "tid",
	                       (int)track_of(act->thread, false), "ts", us(start_ns), "dur", us(end_ns - start_ns),
	                       "args", details(act)),
	             err);
	if (result != 0 || !act->is_sync)
		return result;
	result = put_launches(perfetto, act, start_ns, err);
	perfetto->wait_end_ns = end_ns;
	return result;
}

static int end(void *self, bool is_good, struct sy_err *err)
{
	struct perfetto *perfetto = self;
	int result = 0;

	if (is_good && (fputs("\n]}\n", perfetto->out) < 0 || fflush(perfetto->out) != 0))
		result = sy_err_set(err, "cannot write the export");
	free(perfetto);
	return result;
}

const struct sy_sink sy_sink_perfetto = {
	.name = "perfetto",
	.begin = begin,
	.process = process,
	.thread = thread,
	.act = act,
	.end = end,
};
