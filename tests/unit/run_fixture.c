/* SPDX-License-Identifier: Apache-2.0 */
#include "run_fixture.h"

#include "trace/event.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void do_line(struct fix *fix, const struct run_line *line, uint32_t stack)
{
	for (unsigned i = 0; i < line->count; i++) {
		struct fix_call call = { .api = line->is_readback ? FIX_MEMCPY : FIX_DEVICE_SYNC,
			                 .thread = line->thread,
			                 .stack = stack,
			                 .duration = RUN_CALL_NS };

		if (line->is_readback) {
			call.bytes = 4;
			call.stream = 1;
			call.source = SY_MEMORY_DEVICE;
			call.destination = SY_MEMORY_PAGEABLE;
			call.direction = SY_COPY_D2H;
		}
		call.is_pending = i < line->n_drains;
		if (call.is_pending)
			call.duration += line->waited_ns;
		fix_call(fix, call);
	}
}

void run_begin(struct fix *fix, const struct run_line *lines, unsigned n_steps)
{
	uint32_t stacks[32], n = 0;

	fix_begin(fix, SY_CLOCK_VIRTUAL);
	fix_meta(fix, "cwd", "/home/me");
	for (; lines[n].frame; n++)
		stacks[n] = fix_stack(fix, lines[n].thread, &lines[n].frame, 1);
	/* One of each kind that certainly has nothing to wait for tells what a call costs. */
	fix_call(fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = RUN_CALL_NS });
	do_line(fix, &(struct run_line){ .frame = "", .count = 1, .is_readback = true }, 0);
	fix_step(fix, 0, SY_STEP_CALL, 0);
	for (unsigned step = 1; step <= n_steps; step++) {
		fix_launch(fix, 10);
		for (uint32_t i = 0; i < n; i++)
			if (!lines[i].only_step || lines[i].only_step == step)
				do_line(fix, &lines[i], stacks[i]);
		fix_step(fix, 0, SY_STEP_CALL, 0);
	}
	fix_header(fix)->state = SY_STATE_ENDED;
}

void run_add(struct sy_profile *profile, struct fix *fix)
{
	struct sy_trace *trace = NULL;
	struct sy_err err;
	char *path = fix_write_temporary(fix);

	if (sy_trace_open(path, &trace, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	unlink(path);
	free(path);
	trace->path = "run.trace";
	sy_profile_add(profile, trace);
	sy_trace_close(trace);
	fix_end(fix);
}

void run_profile(struct sy_profile *profile, const struct run_line *lines, unsigned n_steps)
{
	struct fix fix;

	run_begin(&fix, lines, n_steps);
	sy_profile_init(profile, (struct sy_step_range){ 1, 0 });
	run_add(profile, &fix);
	sy_profile_finish(profile);
}
