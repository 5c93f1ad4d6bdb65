/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/acts.h"

#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

static void learn(void *context, const struct sy_trace_thread *thread, const struct sy_act *act)
{
	(void)thread;
	sy_baseline_add(context, act);
}

void sy_acts_init(struct sy_acts *acts, const struct sy_trace *trace, struct sy_step_range range,
                  struct sy_arena *arena)
{
	*acts = (struct sy_acts){ .trace = trace, .arena = arena };
	acts->roles = sy_roles_make(trace, &acts->scratch);
	acts->steps = sy_steps_find(trace, range, arena);
	sy_baseline_init(&acts->baseline, trace->header.clock_kind == SY_CLOCK_VIRTUAL);
	for (uint32_t i = 0; i < trace->n_threads; i++)
		sy_logical_walk(trace, &acts->roles, &trace->threads[i], learn, &acts->baseline);
}

void sy_acts_free(struct sy_acts *acts)
{
	sy_baseline_free(&acts->baseline);
	sy_index_free(&acts->places);
	free(acts->sites);
	sy_arena_free(&acts->scratch);
}

/* ---- sites ------------------------------------------------------------------- */

/* Its slot in the table of the thread's places; file NULL: new. */
static struct sy_site *place_of(struct sy_acts *acts, const struct sy_event *event)
{
	const uint32_t key[2] = { event->stack, event->native };
	uint32_t known = acts->places.n;
	uint32_t number = sy_index_add(&acts->places, key, sizeof(key));

	acts->sites = sy_mem_grow(acts->sites, &acts->sites_capacity, number, sizeof(*acts->sites));
	if (number == known)
		acts->sites[number] = (struct sy_site){ .file = NULL };
	return &acts->sites[number];
}

struct sy_site sy_acts_site(struct sy_acts *acts, const struct sy_trace_thread *thread, const struct sy_event *event)
{
	struct sy_site *site = place_of(acts, event);

	if (!site->file) {
		*site = sy_site_of(thread, event->stack, event->native, acts->arena);
		site->file = sy_mem_copy(acts->arena, site->file);
		site->function = sy_mem_copy(acts->arena, site->function);
	}
	return *site;
}

/* ---- the walk ------------------------------------------------------------------ */

struct walk {
	struct sy_acts *acts;
	sy_told_fn *on_act;
	void *context;
};

static void tell(void *context, const struct sy_trace_thread *thread, const struct sy_act *act)
{
	const struct walk *walk = context;
	struct sy_acts *acts = walk->acts;
	uint32_t step = sy_steps_of(&acts->steps, act->first);
	struct sy_told told = { .thread = thread,
		                .act = act,
		                .verdict = sy_baseline_judge(&acts->baseline, act),
		                .step = step,
		                .launches_before = act->first->launches - acts->launches_then,
		                .is_counted = sy_steps_is_counted(&acts->steps, step) };

	walk->on_act(walk->context, acts, &told);
	if (told.verdict.class < SY_N_SYNC_CLASSES)
		acts->launches_then = (act->second ? act->second : act->first)->launches;
}

const char *sy_acts_thread_name(const struct sy_acts *acts, const struct sy_trace_thread *thread)
{
	if (thread->tid == acts->trace->header.pid)
		return "main";
	if (thread->name[0])
		return sy_mem_copy(acts->arena, thread->name);
	return sy_mem_printf(acts->arena, "thread %u", thread->index);
}

void sy_acts_walk(struct sy_acts *acts, const struct sy_trace_thread *thread, sy_told_fn *on_act, void *context)
{
	struct walk walk = { acts, on_act, context };

	acts->thread_name = sy_acts_thread_name(acts, thread);
	acts->launches_then = 0;
	sy_index_free(&acts->places);
	sy_logical_walk(acts->trace, &acts->roles, thread, tell, &walk);
}
