/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/aggregate.h"

#include "analysis/acts.h"
#include "analysis/decisions.h"
#include "analysis/mem.h"
#include "trace/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sy_metric_desc sy_metric_desc[SY_N_METRICS] = {
#define ALWAYS true
#define IF_ANY false
#define METRIC(id, key, heading, unit, when) [SY_METRIC_##id] = { key, heading, SY_UNIT_##unit, when },
#include "analysis/metrics.def"
#undef METRIC
};

/*
 * Where the acts of one shape at one place are added up: found once, and then
 * again at the cost of a compare. A slot holds one of the many keys that share it.
 */
struct way {
	uint32_t stack, native;
	uint16_t first, second; /* functions */
	uint8_t class, direction, memory;
	bool is_set;
	uint32_t row;
	uint32_t by_api, by_class; /* groups; of syncs only */
};
#define N_WAYS 4096u

/* Everything one trace needs while it is added. */
struct adding {
	struct sy_profile *profile;
	const struct sy_trace *trace;
	struct sy_process *process;
	uint32_t rank_group;
	uint32_t thread_group;  /* of the thread being walked */
	uint64_t last_ticks;    /* of the latest event in the process */
	uint32_t last_launches; /* by the process at that event */
	struct sy_decisions decisions;
	struct way *ways; /* of the thread being walked: N_WAYS */
};

/* ---- groups ------------------------------------------------------------------ */

static uint32_t group_number(struct sy_profile *profile, enum sy_grouping by, const char *name)
{
	struct sy_groups *groups = &profile->groups[by];
	uint32_t number = sy_index_add(&groups->keys, name, strlen(name));

	groups->at = sy_mem_grow(groups->at, &groups->capacity, number, sizeof(*groups->at));
	if (!groups->at[number].name)
		groups->at[number].name = sy_mem_copy(&profile->arena, name);
	return number;
}

/* ---- rows ---------------------------------------------------------------------- */

static void note_stack(struct adding *adding, struct sy_row *row, const struct sy_trace_thread *thread,
                       const struct sy_event *event)
{
	struct sy_arena *arena = &adding->profile->arena;
	uint32_t depth = sy_thread_stack_depth(thread, event->stack);
	uint32_t native = depth ? 0 : sy_thread_native_depth(thread, event->native);

	row->n_stack = depth ? depth : native;
	row->stack = sy_mem_alloc(arena, (size_t)row->n_stack * sizeof(*row->stack));
	for (uint32_t i = 0; i < depth; i++) {
		struct sy_trace_frame frame = sy_thread_frame(thread, event->stack, i);

		row->stack[i] = sy_mem_printf(arena, "%s:%u %s", frame.file, frame.line, frame.function);
	}
	for (uint32_t i = 0; i < native; i++) {
		struct sy_trace_native place = sy_thread_native(thread, event->native, i);

		row->stack[i] = sy_mem_printf(arena, "%s+0x%llx", place.module, (unsigned long long)place.offset);
	}
}

static void note_api(struct adding *adding, struct sy_row *row, const struct sy_event *event)
{
	const char *name = sy_trace_api(adding->trace, event->api)->name;
	struct sy_arena *arena = &adding->profile->arena;
	const char **grown;

	for (uint32_t i = 0; i < row->n_api; i++)
		if (strcmp(row->api[i], name) == 0)
			return;
	grown = sy_mem_alloc(arena, (row->n_api + 1u) * sizeof(*grown));
	if (row->n_api)
		memcpy(grown, row->api, row->n_api * sizeof(*grown));
	grown[row->n_api++] = sy_mem_copy(arena, name);
	row->api = grown;
}

static void note_thread(struct sy_row *row, const char *name)
{
	if (!row->thread)
		row->thread = name;
	else if (row->thread != name && strcmp(row->thread, name) != 0)
		row->thread = "several";
}

/* The row of a line and of what is done there, made if it is new. */
static struct sy_row *row_of(struct adding *adding, struct sy_acts *acts, const struct sy_told *told)
{
	struct sy_profile *profile = adding->profile;
	const struct sy_act *act = told->act;
	enum sy_act_class class = told->verdict.class;
	struct sy_site site = sy_acts_site(acts, told->thread, act->at);
	size_t file_bytes = strlen(site.file) + 1, function_bytes = strlen(site.function) + 1;
	unsigned char key[8192];
	uint32_t number;
	struct sy_row *row;

	/* A path too long for the key is told apart by its end. */
	if (file_bytes > 4096)
		file_bytes = 4096;
	if (function_bytes > 2048)
		function_bytes = 2048;
	memcpy(key, &site.line, 4);
	key[4] = (unsigned char)class;
	key[5] = act->direction;
	key[6] = act->memory;
	memcpy(key + 7, site.file + strlen(site.file) + 1 - file_bytes, file_bytes);
	memcpy(key + 7 + file_bytes, site.function + strlen(site.function) + 1 - function_bytes, function_bytes);
	number = sy_index_add(&profile->row_keys, key, 7 + file_bytes + function_bytes);
	profile->rows = sy_mem_grow(profile->rows, &profile->rows_capacity, number, sizeof(*profile->rows));
	row = &profile->rows[number];
	if (!row->site.file) {
		row->site = site;
		row->class = class;
		row->direction = act->direction;
		row->memory = act->memory;
		note_stack(adding, row, told->thread, act->at);
	}
	note_api(adding, row, act->first);
	if (act->second)
		note_api(adding, row, act->second);
	note_thread(row, acts->thread_name);
	return row;
}

/* ---- counting -------------------------------------------------------------------- */

static void tally_add(struct sy_tally *tally, const struct sy_told *told)
{
	const struct sy_act *act = told->act;
	const struct sy_verdict *verdict = &told->verdict;

	tally->count++;
	tally->outcome[verdict->outcome]++;
	tally->bytes += act->first->bytes;
	tally->blocked_ns += act->blocked_ns;
	tally->waited_ns += verdict->waited_ns;
	tally->launches_before += told->launches_before;
	tally->made_up += (act->first->flags & SY_EVENT_MADE_UP) != 0;
}

static void count_sync(uint64_t *value, const struct sy_act *act, const struct sy_verdict *verdict)
{
	static const uint8_t of_outcome[SY_N_OUTCOMES] = { SY_METRIC_DRAINS, SY_METRIC_DONE_ALREADY, SY_METRIC_EMPTY };
	static const uint8_t of_class[SY_N_SYNC_CLASSES] = { SY_METRIC_READBACKS, SY_METRIC_UPLOADS, SY_METRIC_EXPLICIT,
		                                             SY_METRIC_IMPLICIT };

	value[SY_METRIC_SYNCS]++;
	value[of_outcome[verdict->outcome]]++;
	value[of_class[verdict->class]]++;
	value[SY_METRIC_PAGEABLE_UPLOADS] += verdict->class == SY_ACT_UPLOAD && act->memory == SY_MEMORY_PAGEABLE;
	value[SY_METRIC_BLOCKED_NS] += act->blocked_ns;
	value[SY_METRIC_WAITED_NS] += verdict->waited_ns;
}

/* Where the numbers of an act go: its step, or what is outside all steps. */
static uint64_t *values_of(struct adding *adding, uint32_t step)
{
	struct sy_process *process = adding->process;

	return step < process->steps.n ? process->step[step].value : process->outside;
}

static void find_groups(struct sy_profile *profile, const struct sy_trace *trace, const struct sy_told *told,
                        struct way *way)
{
	const struct sy_act *act = told->act;
	const char *first = sy_trace_api(trace, act->first->api)->name;
	const char *second = act->second ? sy_trace_api(trace, act->second->api)->name : NULL;
	char name[1024];

	snprintf(name, sizeof(name), "%s%s%s", first, second ? " + " : "", second ? second : "");
	way->by_api = group_number(profile, SY_BY_API, name);
	way->by_class = group_number(profile, SY_BY_CLASS, sy_act_class_name(told->verdict.class));
}

static size_t way_hash(const struct way *key)
{
	uint64_t hash = (key->stack ^ (uint64_t)key->native << 32) * 0x9e3779b97f4a7c15u;

	hash ^= ((uint64_t)key->first << 40 | (uint64_t)key->second << 24 | (uint64_t)key->class << 16 |
	         (uint64_t)key->direction << 8 | key->memory) *
	        0xc2b2ae3d27d4eb4fu;
	return (size_t)(hash >> 40) % N_WAYS;
}

static bool is_same_way(const struct way *a, const struct way *b)
{
	return a->stack == b->stack && a->native == b->native && a->first == b->first && a->second == b->second &&
	       a->class == b->class && a->direction == b->direction && a->memory == b->memory;
}

static const struct way *way_of(struct adding *adding, struct sy_acts *acts, const struct sy_told *told)
{
	const struct sy_act *act = told->act;
	struct way key = { .stack = act->at->stack,
		           .native = act->at->native,
		           .first = act->first->api,
		           .second = act->second ? act->second->api : 0,
		           .class = (uint8_t)told->verdict.class,
		           .direction = act->direction,
		           .memory = act->memory,
		           .is_set = true };
	struct way *way = &adding->ways[way_hash(&key)];

	if (way->is_set && is_same_way(way, &key))
		return way;
	key.row = (uint32_t)(row_of(adding, acts, told) - adding->profile->rows);
	if (told->verdict.class < SY_N_SYNC_CLASSES)
		find_groups(adding->profile, adding->trace, told, &key);
	*way = key;
	return way;
}

static void group_sync(struct adding *adding, const struct sy_told *told, const struct way *way, enum sy_part part)
{
	struct sy_groups *groups = adding->profile->groups;

	tally_add(&groups[SY_BY_API].at[way->by_api].tally[part], told);
	tally_add(&groups[SY_BY_CLASS].at[way->by_class].tally[part], told);
	tally_add(&groups[SY_BY_THREAD].at[adding->thread_group].tally[part], told);
	tally_add(&groups[SY_BY_RANK].at[adding->rank_group].tally[part], told);
}

static void tell_counted(struct adding *adding, const struct sy_acts *acts, const struct sy_row *row,
                         const struct sy_told *told)
{
	struct sy_profile *profile = adding->profile;
	struct sy_counted counted = { .process = profile->n_processes - 1,
		                      .step = told->step,
		                      .row = (uint32_t)(row - profile->rows),
		                      .thread = acts->thread_name,
		                      .outcome = told->verdict.outcome,
		                      .blocked_ns = told->act->blocked_ns,
		                      .waited_ns = told->verdict.waited_ns };

	profile->on_counted(profile->on_counted_context, &counted);
}

/* What the process did and through which layers, whatever the act is. */
static void note_act(struct adding *adding, const struct sy_told *told)
{
	const struct sy_act *act = told->act;
	const struct sy_event *last = act->second ? act->second : act->first;
	bool is_driver = sy_trace_api(adding->trace, act->first->api)->is_driver;

	adding->process->acts[told->verdict.class]++;
	adding->profile->n_calls += act->second ? 2 : 1;
	adding->process->has_driver |= is_driver;
	adding->process->has_runtime |= !is_driver;
	if (last->enter_ticks >= adding->last_ticks) {
		adding->last_ticks = last->enter_ticks;
		adding->last_launches = last->launches;
	}
}

/* Frees come when memory is needed, not where the program's way leads. */
static void note_decision(struct adding *adding, const struct sy_told *told, uint32_t row)
{
	enum sy_act_class class = told->act->class;
	uint32_t decided;

	if (!told->is_counted || told->step >= adding->process->steps.n || class == SY_ACT_FREE ||
	    class == SY_ACT_IMPLICIT)
		return;
	if (!(told->act->first->flags & SY_EVENT_MADE_UP))
		row = SY_DECISIONS_NOBODY;
	decided = sy_decisions_note(&adding->decisions, told->step, told->act, row);
	if (decided != SY_DECISIONS_NOBODY)
		adding->profile->rows[decided].other_ways++;
}

/* As take_everything() has it: without any step, everything is inside. */
static bool is_inside(const struct adding *adding, const struct sy_told *told)
{
	return told->is_counted || adding->process->steps.n == 0;
}

static void count_act(void *context, struct sy_acts *acts, const struct sy_told *told)
{
	struct adding *adding = context;
	enum sy_act_class class = told->verdict.class;
	enum sy_part part = told->is_counted ? SY_PART_STEPS : SY_PART_OUTSIDE;
	uint64_t *value = values_of(adding, told->step);
	const struct way *way;
	struct sy_row *row;

	note_act(adding, told);
	if (class > SY_ACT_STAGING) {
		value[SY_METRIC_COPIES] += class == SY_ACT_COPY;
		if (class == SY_ACT_BACKPRESSURE) {
			value[SY_METRIC_BACKPRESSURE]++;
			value[SY_METRIC_BACKPRESSURE_NS] += told->act->blocked_ns;
		}
		note_decision(adding, told, SY_DECISIONS_NOBODY);
		return;
	}
	way = way_of(adding, acts, told);
	row = &adding->profile->rows[way->row];
	if (class < SY_N_SYNC_CLASSES) {
		count_sync(value, told->act, &told->verdict);
		group_sync(adding, told, way, part);
	} else {
		value[SY_METRIC_STAGING]++;
	}
	tally_add(&row->tally[part], told);
	if (class < SY_N_SYNC_CLASSES)
		sy_payers_add(&adding->profile->payers, (uint32_t)(row - adding->profile->rows), told->verdict,
		              told->act->blocked_ns, is_inside(adding, told));
	note_decision(adding, told, (uint32_t)(row - adding->profile->rows));
	if (told->is_counted && adding->profile->on_counted)
		tell_counted(adding, acts, row, told);
}

/* ---- one trace --------------------------------------------------------------------- */

/* Launches up to the last step and, from the 32 bits of the last event, those after it. */
static uint64_t launches_after_steps(const struct adding *adding)
{
	const struct sy_steps *steps = &adding->process->steps;
	uint64_t at_end = steps->n && steps->ends[steps->n - 1].is_known ? steps->ends[steps->n - 1].launches : 0;
	uint32_t more = adding->last_launches - (uint32_t)at_end;

	return more < UINT32_MAX / 2 || at_end == 0 ? more : 0;
}

static void measure_steps(struct adding *adding)
{
	struct sy_process *process = adding->process;

	for (uint32_t i = 0; i < process->steps.n; i++) {
		struct sy_process_step *step = &process->step[i];

		for (int m = 0; m < SY_N_METRICS; m++)
			step->is_known[m] = true;
		step->is_known[SY_METRIC_STEP_NS] =
			sy_steps_duration(&process->steps, i, &step->value[SY_METRIC_STEP_NS]);
		step->is_known[SY_METRIC_LAUNCHES] =
			sy_steps_launches(&process->steps, i, &step->value[SY_METRIC_LAUNCHES]);
	}
	process->outside[SY_METRIC_LAUNCHES] = launches_after_steps(adding);
}

/* The values of KEY.0, KEY.1, ... */
static const char **meta_list(struct sy_profile *profile, const struct sy_trace *trace, const char *name, uint32_t *n)
{
	const char **values;
	char key[32];

	for (*n = 0; snprintf(key, sizeof(key), "%s.%u", name, *n), sy_trace_meta(trace, key); ++*n)
		;
	values = sy_mem_alloc(&profile->arena, *n * sizeof(*values));
	for (uint32_t i = 0; i < *n; i++) {
		snprintf(key, sizeof(key), "%s.%u", name, i);
		values[i] = sy_mem_copy(&profile->arena, sy_trace_meta(trace, key));
	}
	return values;
}

static void note_command(struct sy_profile *profile, const struct sy_trace *trace)
{
	if (!profile->n_command)
		profile->command = meta_list(profile, trace, "argv", &profile->n_command);
	if (!profile->cwd && sy_trace_meta(trace, "cwd"))
		profile->cwd = sy_mem_copy(&profile->arena, sy_trace_meta(trace, "cwd"));
}

static struct sy_process *add_process(struct sy_profile *profile, const struct sy_trace *trace,
                                      const struct sy_steps *steps)
{
	struct sy_process *process;

	profile->processes = sy_mem_grow(profile->processes, &profile->processes_capacity, profile->n_processes,
	                                 sizeof(*profile->processes));
	process = &profile->processes[profile->n_processes++];
	process->path = sy_mem_copy(&profile->arena, trace->path);
	process->pid = trace->header.pid;
	process->rank = trace->header.rank;
	process->host = sy_mem_copy(&profile->arena, trace->header.host);
	process->n_threads = trace->n_threads;
	process->clock_kind = trace->header.clock_kind;
	process->is_running = trace->header.state != SY_STATE_ENDED;
	process->discarded_events = trace->header.discarded_events;
	process->discarded_defs = trace->header.discarded_defs;
	process->census = steps->census;
	process->is_rough = trace->clock.is_rough && process->census.events > 0;
	process->damage = trace->damage;
	process->blind = meta_list(profile, trace, "blind", &process->n_blind);
	process->blind_unchecked = sy_trace_meta(trace, "blind_unchecked");
	if (process->blind_unchecked)
		process->blind_unchecked = sy_mem_copy(&profile->arena, process->blind_unchecked);
	process->steps = *steps;
	process->step = sy_mem_alloc(&profile->arena, process->steps.n * sizeof(*process->step));
	return process;
}

void sy_profile_init(struct sy_profile *profile, struct sy_step_range range)
{
	memset(profile, 0, sizeof(*profile));
	profile->range = range;
}

static uint32_t group_of_rank(struct sy_profile *profile, const struct sy_trace *trace, const struct sy_steps *steps)
{
	char rank[32] = "unknown";
	uint32_t number;

	if (trace->header.rank >= 0)
		snprintf(rank, sizeof(rank), "%d", trace->header.rank);
	number = group_number(profile, SY_BY_RANK, rank);
	profile->groups[SY_BY_RANK].at[number].n_steps += steps->end - steps->first;
	return number;
}

void sy_profile_add(struct sy_profile *profile, const struct sy_trace *trace)
{
	struct adding adding = { .profile = profile, .trace = trace };
	size_t n_ways = 0;
	struct sy_acts acts;

	adding.ways = sy_mem_grow(NULL, &n_ways, N_WAYS - 1, sizeof(*adding.ways));
	sy_acts_init(&acts, trace, profile->range, &profile->arena);
	adding.process = add_process(profile, trace, &acts.steps);
	adding.rank_group = group_of_rank(profile, trace, &acts.steps);
	note_command(profile, trace);
	for (uint32_t i = 0; i < trace->n_threads; i++) {
		const struct sy_trace_thread *thread = &trace->threads[i];

		adding.thread_group = group_number(profile, SY_BY_THREAD, sy_acts_thread_name(&acts, thread));
		sy_payers_begin_thread(&profile->payers);
		sy_decisions_begin(&adding.decisions);
		memset(adding.ways, 0, N_WAYS * sizeof(*adding.ways));
		sy_acts_walk(&acts, thread, count_act, &adding);
	}
	measure_steps(&adding);
	sy_decisions_free(&adding.decisions);
	sy_acts_free(&acts);
	free(adding.ways);
}

void sy_profile_free(struct sy_profile *profile)
{
	for (int by = 0; by < SY_N_GROUPINGS; by++) {
		sy_index_free(&profile->groups[by].keys);
		free(profile->groups[by].at);
	}
	sy_payers_free(&profile->payers);
	sy_index_free(&profile->row_keys);
	free(profile->rows);
	free(profile->processes);
	sy_arena_free(&profile->arena);
	memset(profile, 0, sizeof(*profile));
}
