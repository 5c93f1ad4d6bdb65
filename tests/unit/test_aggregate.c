/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_aggregate.c - nothing is counted twice and nothing is left out
 */
#include "trace_fixture.h"

#include "analysis/aggregate.h"
#include "trace/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void add(struct sy_profile *profile, const struct fix *fix)
{
	struct sy_trace *trace = NULL;
	struct sy_err err;
	char *path = fix_write_temporary(fix);

	assert_int_equal(sy_trace_open(path, &trace, &err), 0);
	unlink(path);
	free(path);
	sy_profile_add(profile, trace);
	sy_trace_close(trace);
}

static uint32_t draw(uint32_t *random, uint32_t n)
{
	*random = *random * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(*random >> 8) * n >> 24);
}

static struct fix_call random_call(uint32_t *random, unsigned thread, uint32_t n_stacks)
{
	static const uint8_t directions[5][5] = {
		[SY_MEMORY_PAGEABLE] = { [SY_MEMORY_DEVICE] = SY_COPY_H2D },
		[SY_MEMORY_PINNED] = { [SY_MEMORY_DEVICE] = SY_COPY_H2D },
		[SY_MEMORY_DEVICE] = { [SY_MEMORY_PAGEABLE] = SY_COPY_D2H,
		                       [SY_MEMORY_PINNED] = SY_COPY_D2H,
		                       [SY_MEMORY_DEVICE] = SY_COPY_D2D },
	};
	struct fix_call call = { .api = (enum fix_api)(1 + draw(random, FIX_N_API - 1)), .thread = thread };

	call.duration = draw(random, 3000);
	call.gap = draw(random, 500);
	call.stream = 1 + draw(random, 2);
	call.stack = draw(random, n_stacks + 1);
	call.is_pending = draw(random, 2);
	call.status = draw(random, 20) ? 0 : 700;
	call.is_capturing = draw(random, 30) == 0;
	if (call.api == FIX_MEMCPY || call.api == FIX_MEMCPY_ASYNC) {
		call.bytes = 1u << draw(random, 20);
		call.source = draw(random, 2) ? SY_MEMORY_DEVICE : 1 + draw(random, 2);
		call.destination = draw(random, 2) ? SY_MEMORY_DEVICE : 1 + draw(random, 2);
		call.direction = directions[call.source][call.destination];
	}
	return call;
}

static void random_trace(struct fix *fix, uint32_t seed, enum sy_clock_kind clock)
{
	static const char *const lines[] = { "a.py:1 f", "a.py:2 f", "b.py:7 g" };
	uint32_t random = seed;
	uint32_t n_steps = draw(&random, 6);

	fix_begin(fix, clock);
	fix_header(fix)->rank = (int32_t)(seed % 3) - 1;
	for (unsigned t = 0; t < 3; t++)
		for (unsigned i = 0; i < 3; i++)
			fix_stack(fix, t, lines + i, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		fix_call(fix, random_call(&random, draw(&random, 3), 3));
		fix_launch(fix, draw(&random, 4));
		if (n_steps && draw(&random, 2000 / n_steps) == 0)
			fix_step(fix, draw(&random, 3), SY_STEP_TORCH, 1);
	}
	fix_call(fix, (struct fix_call){ .api = FIX_STREAM_SYNC, .is_in_flight = true });
}

static struct sy_tally sum(const struct sy_tally *at, size_t n, size_t stride)
{
	struct sy_tally total = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct sy_tally *tally = (const void *)((const char *)at + i * stride);

		total.count += tally->count;
		total.bytes += tally->bytes;
		total.blocked_ns += tally->blocked_ns;
		total.waited_ns += tally->waited_ns;
		total.launches_before += tally->launches_before;
		for (int o = 0; o < SY_N_OUTCOMES; o++)
			total.outcome[o] += tally->outcome[o];
	}
	return total;
}

static struct sy_tally sum_of_rows(const struct sy_profile *profile, enum sy_part part)
{
	struct sy_tally total = { 0 };

	for (uint32_t i = 0; i < profile->n_rows; i++) {
		struct sy_tally both[2] = { total, profile->sorted[i]->tally[part] };

		if (profile->sorted[i]->class < SY_N_SYNC_CLASSES)
			total = sum(both, 2, sizeof(both[0]));
	}
	return total;
}

static void check_conservation(const struct sy_profile *profile)
{
	uint64_t syncs = 0, calls = 0;

	for (int part = 0; part < SY_N_PARTS; part++) {
		const uint64_t *total = profile->total[part];
		struct sy_tally rows = sum_of_rows(profile, (enum sy_part)part);

		for (int by = 0; by < SY_N_GROUPINGS; by++) {
			const struct sy_groups *groups = &profile->groups[by];
			struct sy_tally group =
				groups->keys.n ? sum(&groups->at[0].tally[part], groups->keys.n, sizeof(groups->at[0]))
					       : (struct sy_tally){ 0 };

			assert_memory_equal(&rows, &group, sizeof(rows));
		}
		assert_int_equal(rows.count, total[SY_METRIC_SYNCS]);
		assert_int_equal(rows.blocked_ns, total[SY_METRIC_BLOCKED_NS]);
		assert_int_equal(rows.waited_ns, total[SY_METRIC_WAITED_NS]);
		assert_int_equal(rows.outcome[SY_OUTCOME_DRAIN], total[SY_METRIC_DRAINS]);
		assert_int_equal(total[SY_METRIC_SYNCS],
		                 total[SY_METRIC_DRAINS] + total[SY_METRIC_EMPTY] + total[SY_METRIC_DONE_ALREADY]);
		assert_int_equal(total[SY_METRIC_SYNCS], total[SY_METRIC_READBACKS] + total[SY_METRIC_UPLOADS] +
		                                                 total[SY_METRIC_EXPLICIT] + total[SY_METRIC_IMPLICIT]);
		syncs += total[SY_METRIC_SYNCS];
	}
	for (size_t p = 0; p < profile->n_processes; p++)
		for (int class = 0; class < SY_N_ACT_CLASSES; class ++) {
			calls += profile->processes[p].acts[class];
			if (class < SY_N_SYNC_CLASSES)
				syncs -= profile->processes[p].acts[class];
		}
	assert_int_equal(syncs, 0);
	/* A pair is one act of two calls. */
	assert_true(calls <= profile->n_calls);
}

static void test_conservation(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 30; seed++) {
		struct sy_step_range range = { seed % 4, seed % 5 };
		struct sy_profile profile;

		sy_profile_init(&profile, range);
		for (uint32_t process = 0; process <= seed % 3; process++) {
			struct fix fix;

			random_trace(&fix, seed * 100 + process, seed % 2 ? SY_CLOCK_VIRTUAL : SY_CLOCK_MONOTONIC);
			add(&profile, &fix);
			fix_end(&fix);
		}
		sy_profile_finish(&profile);
		assert_int_equal(profile.n_processes, seed % 3 + 1);
		assert_int_equal(profile.n_calls, 2001 * (seed % 3 + 1));
		check_conservation(&profile);
		sy_profile_free(&profile);
	}
}

/* 5 steps: in step k k+1 readbacks of one line, and one explicit wait after the last step. */
static void five_steps(struct fix *fix)
{
	static const char *const frames[] = { "/x/lib/python3.11/site-packages/torch/_tensor.py:9 item",
		                              "t.py:42 train" };
	uint32_t stack;

	fix_begin(fix, SY_CLOCK_VIRTUAL);
	stack = fix_stack(fix, 0, frames, 2);
	for (unsigned k = 0; k < 5; k++) {
		fix_launch(fix, 10);
		for (unsigned i = 0; i <= k; i++)
			fix_call(fix, (struct fix_call){ .api = FIX_MEMCPY,
			                                 .source = SY_MEMORY_DEVICE,
			                                 .destination = SY_MEMORY_PAGEABLE,
			                                 .direction = SY_COPY_D2H,
			                                 .bytes = 8,
			                                 .duration = i ? 100 : 1100,
			                                 .is_pending = i == 0,
			                                 .stack = stack });
		fix_step(fix, 0, SY_STEP_TORCH, 1);
	}
	fix_launch(fix, 3);
	fix_call(fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = 50, .stack = stack });
}

static void test_statistics(void **state)
{
	struct sy_profile profile;
	const struct sy_row *row;
	struct fix fix;

	(void)state;
	five_steps(&fix);
	sy_profile_init(&profile, (struct sy_step_range){ 1, 0 });
	add(&profile, &fix);
	sy_profile_finish(&profile);
	assert_int_equal(profile.n_samples, 4);
	assert_int_equal(profile.n_steps, 4);
	assert_int_equal(profile.n_skipped, 1);
	assert_int_equal(profile.stat[SY_METRIC_SYNCS].min, 2);
	assert_int_equal(profile.stat[SY_METRIC_SYNCS].max, 5);
	assert_true(profile.stat[SY_METRIC_SYNCS].median == 3.5);
	assert_true(profile.stat[SY_METRIC_SYNCS].mean == 3.5);
	assert_true(profile.stat[SY_METRIC_DRAINS].median == 1);
	assert_true(profile.stat[SY_METRIC_WAITED_NS].median == 1000);
	assert_true(profile.stat[SY_METRIC_LAUNCHES].median == 10);
	assert_true(profile.stat[SY_METRIC_STEP_NS].min == 1200);
	assert_int_equal(profile.total[SY_PART_STEPS][SY_METRIC_SYNCS], 14);
	assert_int_equal(profile.total[SY_PART_OUTSIDE][SY_METRIC_SYNCS], 2);
	assert_int_equal(profile.total[SY_PART_OUTSIDE][SY_METRIC_LAUNCHES], 13);
	assert_int_equal(profile.n_rows, 2);
	row = profile.sorted[0];
	assert_string_equal(row->site.file, "t.py");
	assert_int_equal(row->site.line, 42);
	assert_string_equal(row->thread, "main");
	assert_int_equal(row->n_stack, 2);
	assert_int_equal(row->tally[SY_PART_STEPS].count, 14);
	assert_int_equal(row->tally[SY_PART_STEPS].bytes, 112);
	assert_int_equal(row->tally[SY_PART_STEPS].launches_before, 40);
	assert_int_equal(row->tally[SY_PART_OUTSIDE].count, 1);
	sy_profile_free(&profile);
	fix_end(&fix);
}

static void test_without_steps_everything_counts(void **state)
{
	struct sy_profile profile;
	struct fix fix;

	(void)state;
	fix_begin(&fix, SY_CLOCK_VIRTUAL);
	fix_launch(&fix, 7);
	fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC, .duration = 50 });
	sy_profile_init(&profile, (struct sy_step_range){ 10, 0 });
	add(&profile, &fix);
	sy_profile_finish(&profile);
	assert_false(profile.has_steps);
	assert_int_equal(profile.total[SY_PART_STEPS][SY_METRIC_SYNCS], 1);
	assert_int_equal(profile.total[SY_PART_STEPS][SY_METRIC_LAUNCHES], 7);
	assert_int_equal(profile.sorted[0]->tally[SY_PART_STEPS].count, 1);
	assert_int_equal(profile.sorted[0]->tally[SY_PART_OUTSIDE].count, 0);
	sy_profile_free(&profile);
	fix_end(&fix);
}

static void test_losses_are_told(void **state)
{
	struct sy_profile profile;
	struct fix fix;

	(void)state;
	five_steps(&fix);
	fix_skip(&fix, 0, 4);
	fix_call(&fix, (struct fix_call){ .api = FIX_DEVICE_SYNC });
	fix_header(&fix)->discarded_events = 6;
	sy_profile_init(&profile, (struct sy_step_range){ 0, 0 });
	add(&profile, &fix);
	sy_profile_finish(&profile);
	assert_int_equal(sy_profile_discarded(&profile), 6);
	assert_false(sy_profile_is_incomplete(&profile));
	sy_profile_free(&profile);
	fix_header(&fix)->discarded_events = 0;
	fix_header(&fix)->end_bytes += 1;
	sy_profile_init(&profile, (struct sy_step_range){ 0, 0 });
	add(&profile, &fix);
	sy_profile_finish(&profile);
	assert_int_equal(sy_profile_discarded(&profile), 4);
	assert_true(sy_profile_is_incomplete(&profile));
	sy_profile_free(&profile);
	fix_end(&fix);
}

static void test_user_files(void **state)
{
	static const struct {
		const char *file;
		bool is_user;
	} files[] = {
		{ "train.py", true },
		{ "/home/me/project/train.py", true },
		{ "<stdin>", true },
		{ "<string>", true },
		{ "<idiom 3>", true },
		{ "<frozen importlib._bootstrap>", false },
		{ "/usr/lib/python3.11/threading.py", false },
		{ "/usr/lib64/python3.9/threading.py", false },
		{ "/opt/py/lib/python3.13t/runpy.py", false },
		{ "/venv/lib/python3.12/site-packages/torch/_tensor.py", false },
		{ "/usr/lib/python3/dist-packages/numpy/core.py", false },
		{ "/home/me/python3.11/train.py", true },
		{ "/home/me/lib/python3.x/train.py", true },
		{ "?", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (sy_site_is_user_file(files[i].file) != files[i].is_user)
			fail_msg("%s", files[i].file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conservation),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_without_steps_everything_counts),
		cmocka_unit_test(test_losses_are_told),
		cmocka_unit_test(test_user_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
