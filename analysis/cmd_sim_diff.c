/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sim_diff.c - synctally sim-diff: a trace against the simulated device's own account
 *
 * Thread by thread and call by call. Two people wrote the two accounts, so
 * where they agree both are probably right. The ledger notes a call just before
 * it returns, the trace just after; so at most one call per thread, the last,
 * may stand in one and not in the other.
 */
#include "analysis/cli.h"
#include "analysis/ledger.h"
#include "analysis/mem.h"
#include "trace/event.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 20

struct comparison {
	const struct sy_trace *trace;
	uint64_t n_equal, n_differ, n_in_flight;
};

/* The calls of all threads that had one thread id, one after the other. */
struct events {
	const struct sy_event **at;
	size_t n, capacity;
};

static void begin_difference(struct comparison *comparison, uint32_t tid, size_t position, const char *api)
{
	comparison->n_differ++;
	if (comparison->n_differ <= MAX_SHOWN)
		printf("tid %" PRIu32 ", call %zu, %s:", tid, position + 1, api);
}

static void end_difference(const struct comparison *comparison)
{
	if (comparison->n_differ <= MAX_SHOWN)
		putchar('\n');
}

/* One entry against one event, every field that both have; the first difference opens the line. */
struct pair {
	struct comparison *comparison;
	const struct sy_ledger_entry *entry;
	size_t position;
	bool differs;
};

static bool open_field(struct pair *pair)
{
	if (!pair->differs)
		begin_difference(pair->comparison, pair->entry->tid, pair->position, pair->entry->api);
	pair->differs = true;
	return pair->comparison->n_differ <= MAX_SHOWN;
}

static void compare_text(struct pair *pair, const char *what, const char *expected, const char *seen)
{
	if (strcmp(expected, seen) != 0 && open_field(pair))
		printf(" %s ledger=%s trace=%s", what, expected, seen);
}

static void compare_number(struct pair *pair, const char *what, int64_t expected, int64_t seen)
{
	if (expected != seen && open_field(pair))
		printf(" %s ledger=%" PRId64 " trace=%" PRId64, what, expected, seen);
}

static bool is_transfer(const struct sy_ledger_entry *entry)
{
	return strncmp(entry->class_name, "COPY", 4) == 0 || strncmp(entry->class_name, "SET", 3) == 0;
}

static void compare(struct comparison *comparison, const struct sy_ledger_entry *entry, const struct sy_event *event,
                    size_t position)
{
	const struct sy_trace_api *api = sy_trace_api(comparison->trace, event->api);
	struct pair pair = { comparison, entry, position, false };

	compare_text(&pair, "api", entry->api, api->name);
	compare_text(&pair, "class", entry->class_name, api->class_name);
	compare_number(&pair, "status", entry->status, event->status);
	/* Of a refused call the device knows only that it refused; the ledger notes the memory of transfers. */
	if (entry->status == 0)
		compare_number(&pair, "pending", entry->is_pending, (event->flags & SY_EVENT_PENDING) != 0);
	if (entry->status == 0 && is_transfer(entry)) {
		compare_number(&pair, "bytes", (int64_t)entry->bytes, (int64_t)event->bytes);
		compare_text(&pair, "source", entry->source, sy_memory_name(sy_event_source(event)));
		compare_text(&pair, "destination", entry->destination, sy_memory_name(sy_event_destination(event)));
	}
	if (comparison->trace->header.clock_kind == SY_CLOCK_VIRTUAL)
		compare_number(&pair, "duration_ns", (int64_t)(entry->leave_ns - entry->enter_ns),
		               (int64_t)event->duration_ticks);
	if (pair.differs)
		end_difference(comparison);
	else
		comparison->n_equal++;
}

/* Of a launch there is an event only if it was held, and an entry if it was held for however short. */
static bool is_held(const struct sy_trace *trace, const struct sy_event *event)
{
	const char *label = sy_trace_api(trace, event->api)->class_label;

	return strcmp(label, "launch") == 0 || strcmp(label, "submit") == 0;
}

static uint64_t count_held(const struct sy_trace *trace)
{
	uint64_t n = 0;

	for (uint32_t t = 0; t < trace->n_threads; t++)
		for (uint32_t c = 0; c < trace->threads[t].n_chunks; c++)
			for (uint32_t i = 0; i < trace->threads[t].chunks[c].n_events; i++)
				n += trace->threads[t].chunks[c].events[i].kind == SY_EVENT_CALL &&
				     is_held(trace, &trace->threads[t].chunks[c].events[i]);
	return n;
}

static void gather(const struct sy_trace *trace, uint32_t tid, struct events *events)
{
	events->n = 0;
	for (uint32_t t = 0; t < trace->n_threads; t++) {
		const struct sy_trace_thread *thread = &trace->threads[t];

		for (uint32_t c = 0; thread->tid == tid && c < thread->n_chunks; c++) {
			for (uint32_t i = 0; i < thread->chunks[c].n_events; i++) {
				if (thread->chunks[c].events[i].kind != SY_EVENT_CALL ||
				    is_held(trace, &thread->chunks[c].events[i]))
					continue;
				events->at = sy_mem_grow(events->at, &events->capacity, events->n, sizeof(*events->at));
				events->at[events->n++] = &thread->chunks[c].events[i];
			}
		}
	}
}

/* What remains of the longer account. */
static void compare_rest(struct comparison *comparison, uint32_t tid, const struct events *events, size_t position)
{
	for (; position < events->n; position++) {
		const struct sy_event *event = events->at[position];
		bool is_last = position + 1 == events->n;

		if (is_last && !sy_event_is_complete(event)) {
			comparison->n_in_flight++;
			continue;
		}
		begin_difference(comparison, tid, position, sy_trace_api(comparison->trace, event->api)->name);
		if (comparison->n_differ <= MAX_SHOWN)
			printf(" not in the ledger");
		end_difference(comparison);
	}
}

/* Entries of one thread: a run of the sorted ledger. */
static void compare_thread(struct comparison *comparison, uint32_t tid, const struct sy_ledger_entry *entries, size_t n,
                           struct events *events)
{
	gather(comparison->trace, tid, events);
	for (size_t i = 0; i < n; i++) {
		bool is_last = i + 1 == n;

		if (i < events->n && i + 1 == events->n && is_last && !sy_event_is_complete(events->at[i])) {
			comparison->n_in_flight++;
		} else if (i < events->n) {
			compare(comparison, &entries[i], events->at[i], i);
		} else {
			begin_difference(comparison, tid, i, entries[i].api);
			if (comparison->n_differ <= MAX_SHOWN)
				printf(" not in the trace");
			end_difference(comparison);
		}
	}
	compare_rest(comparison, tid, events, n);
}

static int by_tid_and_number(const void *a, const void *b)
{
	const struct sy_ledger_entry *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* Threads of the trace of which the ledger knows nothing. */
static void compare_unknown_threads(struct comparison *comparison, const struct sy_ledger *ledger,
                                    struct events *events)
{
	const struct sy_trace *trace = comparison->trace;

	for (uint32_t t = 0; t < trace->n_threads; t++) {
		uint32_t tid = trace->threads[t].tid;
		bool is_known = false;

		for (uint32_t before = 0; before < t; before++)
			is_known |= trace->threads[before].tid == tid;
		for (size_t i = 0; i < ledger->n && !is_known; i++)
			is_known = ledger->entries[i].tid == tid;
		if (is_known)
			continue;
		gather(trace, tid, events);
		compare_rest(comparison, tid, events, 0);
	}
}

static int compare_all(const struct sy_trace *trace, struct sy_ledger *ledger)
{
	struct comparison comparison = { .trace = trace };
	struct events events = { .n = 0 };
	uint64_t n_held;
	size_t end;

	if (ledger->n)
		qsort(ledger->entries, ledger->n, sizeof(*ledger->entries), by_tid_and_number);
	for (size_t i = 0; i < ledger->n; i = end) {
		uint32_t tid = ledger->entries[i].tid;

		for (end = i + 1; end < ledger->n && ledger->entries[end].tid == tid;)
			end++;
		compare_thread(&comparison, tid, &ledger->entries[i], end - i, &events);
	}
	compare_unknown_threads(&comparison, ledger, &events);
	free(events.at);
	if (comparison.n_differ > MAX_SHOWN)
		printf("... and %" PRIu64 " more\n", comparison.n_differ - MAX_SHOWN);
	n_held = count_held(trace);
	if (ledger->n_held || n_held)
		printf("launches held by a full queue: %" PRIu64 " in the ledger, %" PRIu64 " in the trace\n",
		       ledger->n_held, n_held);
	printf("%" PRIu64 " entries equal, %" PRIu64 " differ", comparison.n_equal, comparison.n_differ);
	if (comparison.n_in_flight)
		printf(" (%" PRIu64 " in flight at the end)", comparison.n_in_flight);
	putchar('\n');
	return comparison.n_differ ? SY_EXIT_DIFFERS : SY_EXIT_FINE;
}

int sy_cmd_sim_diff(int argc, char **argv)
{
	struct sy_ledger ledger;
	struct sy_trace *trace;
	struct sy_err err;
	int status;

	if (argc != 3)
		return sy_usage("sim-diff", "a ledger and a trace are wanted");
	if (sy_ledger_read(argv[1], &ledger, &err) != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	if (sy_trace_open(argv[2], &trace, &err) != 0) {
		sy_say("%s", err.text);
		sy_ledger_free(&ledger);
		return SY_EXIT_USAGE;
	}
	status = compare_all(trace, &ledger);
	sy_trace_close(trace);
	sy_ledger_free(&ledger);
	return status;
}
