/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dump.c - synctally dump: every event of a trace, one per line
 *
 * Tab-separated, for people who look for one call and for tests that compare
 * readers. The columns are described in docs/FORMAT.md.
 */
#include "analysis/cli.h"
#include "trace/event.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>

static void print_stack(const struct sy_trace_thread *thread, const struct sy_event *event)
{
	uint32_t depth = sy_thread_stack_depth(thread, event->stack);

	for (uint32_t i = 0; i < depth; i++) {
		struct sy_trace_frame frame = sy_thread_frame(thread, event->stack, i);

		printf("%s%s:%" PRIu32 " %s", i ? " < " : "", frame.file, frame.line, frame.function);
	}
	if (depth == 0)
		putchar('-');
}

static void print_native(const struct sy_trace_thread *thread, const struct sy_event *event)
{
	uint32_t depth = sy_thread_native_depth(thread, event->native);

	for (uint32_t i = 0; i < depth; i++) {
		struct sy_trace_native place = sy_thread_native(thread, event->native, i);

		printf("%s%s+0x%" PRIx64, i ? " < " : "", place.module, place.offset);
	}
	if (depth == 0)
		putchar('-');
}

/* What function was called, on which stream. */
static void print_call(const struct sy_trace *trace, const struct sy_event *event)
{
	const struct sy_trace_api *api = sy_trace_api(trace, event->api);
	struct sy_trace_stream stream;

	if (event->kind != SY_EVENT_CALL) {
		printf("-\t-\t-\t-\t");
		return;
	}
	if (api->is_defined)
		printf("%s\t%s\t", api->name, api->class_name);
	else
		printf("api#%u\t?\t", event->api);
	if (sy_trace_stream(trace, event->stream, &stream))
		printf("%" PRIu32 "\t0x%" PRIx64 "\t", event->stream, stream.handle);
	else
		printf("%" PRIu32 "\t-\t", event->stream);
}

static void print_event(const struct sy_trace *trace, const struct sy_trace_thread *thread,
                        const struct sy_event *event)
{
	printf("%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%s\t", thread->index, thread->tid, event->sequence,
	       sy_event_kind_name(event->kind));
	print_call(trace, event);
	printf("%" PRIu64 "\t", sy_clock_at_ns(&trace->clock, event->enter_ticks));
	if (sy_event_is_complete(event))
		printf("%" PRIu64 "\t%" PRId32 "\t", sy_clock_span_ns(&trace->clock, event->duration_ticks),
		       event->status);
	else
		printf("-\t-\t");
	printf("%d\t%" PRIu64 "\t%s\t%s\t%s\t", (event->flags & SY_EVENT_PENDING) != 0, event->bytes,
	       sy_memory_name(sy_event_source(event)), sy_memory_name(sy_event_destination(event)),
	       sy_direction_name(event->direction));
	printf("%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%u\t0x%x\t", event->launches, event->polls, event->step,
	       event->device, event->flags);
	print_stack(thread, event);
	putchar('\t');
	if (event->kind == SY_EVENT_CALL)
		print_native(thread, event);
	else
		printf("%" PRIu32, event->native);
	putchar('\n');
}

int sy_cmd_dump(int argc, char **argv)
{
	struct sy_trace *trace;
	struct sy_err err;

	if (argc != 2 || argv[1][0] == '-')
		return sy_usage("dump", "one trace is wanted");
	if (sy_trace_open(argv[1], &trace, &err) != 0) {
		sy_say("%s", err.text);
		return SY_EXIT_USAGE;
	}
	puts("# synctally-dump/1");
	puts("thread\ttid\tsequence\tkind\tapi\tclass\tstream\thandle\tenter_ns\tduration_ns\tstatus\tpending\tbytes\t"
	     "source\tdestination\tdirection\tlaunches\tpolls\tstep\tdevice\tflags\tstack\tnative");
	for (uint32_t t = 0; t < trace->n_threads; t++) {
		const struct sy_trace_thread *thread = &trace->threads[t];

		for (uint32_t c = 0; c < thread->n_chunks; c++)
			for (uint32_t i = 0; i < thread->chunks[c].n_events && !ferror(stdout); i++)
				print_event(trace, thread, &thread->chunks[c].events[i]);
	}
	sy_trace_close(trace);
	return SY_EXIT_FINE;
}
