/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_reader.c - any bytes at all, read as a trace
 *
 * Opens the input and looks at everything the reader offers, so that a length
 * or a number believed too soon shows as an access outside the file.
 */
#include "trace/err.h"
#include "trace/reader.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Keeps the compiler from leaving out what is only looked at. */
static volatile uint64_t seen;

static void look_at_event(const struct sy_trace *trace, const struct sy_trace_thread *thread,
                          const struct sy_event *event)
{
	struct sy_trace_stream stream = { 0, 0, 0 };
	uint32_t depth = sy_thread_stack_depth(thread, event->stack);

	for (uint32_t i = 0; i < depth; i++) {
		struct sy_trace_frame frame = sy_thread_frame(thread, event->stack, i);

		seen += strlen(frame.file) + strlen(frame.function) + frame.line;
	}
	depth = sy_thread_native_depth(thread, event->native);
	for (uint32_t i = 0; i < depth; i++)
		seen += strlen(sy_thread_native(thread, event->native, i).module);
	if (sy_trace_stream(trace, event->stream, &stream))
		seen += stream.handle;
	seen += strlen(sy_trace_api(trace, event->api)->name);
}

static void look_at(const struct sy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_meta; i++)
		seen += strlen(trace->meta[i].key) + strlen(trace->meta[i].value);
	for (uint32_t i = 0; i < trace->n_threads; i++) {
		const struct sy_trace_thread *thread = &trace->threads[i];

		for (uint32_t j = 0; j < thread->n_chunks; j++) {
			for (uint32_t k = 0; k < thread->chunks[j].n_events; k++)
				look_at_event(trace, thread, &thread->chunks[j].events[k]);
		}
	}
	seen += sy_trace_census(trace).events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sy_err err = { 0 };
	struct sy_trace *trace;
	char path[64];
	int fd = memfd_create("input", 0);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sy_trace_open(path, &trace, &err) == 0) {
		look_at(trace);
		sy_trace_close(trace);
	}
	close(fd);
	return 0;
}
