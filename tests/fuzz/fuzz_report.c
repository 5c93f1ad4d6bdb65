/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_report.c - any bytes as a trace, reported in every format
 *
 * A trace is mostly zeros, so the input is a list of what is not: u32 size of
 * the file, then runs of u32 offset, u16 length, bytes. tests/fuzz/sparse.py
 * makes such an input of a trace. The reader alone has a target of its own, fuzz_reader.c.
 */
#include "analysis/render.h"
#include "trace/reader.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_BYTES (6u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t take(const uint8_t **data, size_t *size, unsigned n)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < n && *size; i++, (*data)++, (*size)--)
		value |= (uint32_t) * *data << 8 * i;
	return value;
}

static size_t expand(uint8_t *file, const uint8_t *data, size_t size)
{
	size_t n_file = take(&data, &size, 4) % MAX_BYTES;

	while (size) {
		size_t at = take(&data, &size, 4) % MAX_BYTES;
		size_t n = take(&data, &size, 2);

		if (n > size)
			n = size;
		if (n > MAX_BYTES - at)
			n = MAX_BYTES - at;
		memcpy(file + at, data, n);
		data += n;
		size -= n;
	}
	return n_file;
}

static void report(const struct sy_trace *trace, enum sy_by by)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct sy_profile profile;
	struct sy_report document;

	if (!out)
		abort();
	sy_profile_init(&profile, (struct sy_step_range){ 1, 0 });
	sy_profile_add(&profile, trace);
	sy_profile_finish(&profile);
	sy_report_build(&document, &profile, by);
	if (sy_render_text(&profile, &document, out, false) != 0 ||
	    sy_render_json(&profile, &document, out, false) != 0)
		abort();
	sy_report_free(&document);
	sy_profile_free(&profile);
	fclose(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t file[MAX_BYTES];
	struct sy_trace *trace;
	struct sy_err err;
	char path[64];
	size_t n;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	memset(file, 0, sizeof(file));
	n = expand(file, data, size);
	if (fd < 0 || write(fd, file, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sy_trace_open(path, &trace, &err) == 0) {
		report(trace, (enum sy_by)(size % SY_N_BY));
		sy_trace_close(trace);
	}
	close(fd);
	return 0;
}
