/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/order.h"

#include "analysis/acts.h"
#include "analysis/mem.h"
#include "trace/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- which step -------------------------------------------------------------------- */

/* Of those with as many syncs as the median, the one nearest to the middle. */
static uint32_t typical(const struct sy_profile *profile, const struct sy_process *process)
{
	const struct sy_steps *steps = &process->steps;
	double median = profile->stat[SY_METRIC_SYNCS].median;
	uint32_t middle = steps->first + (steps->end - steps->first) / 2, best = middle;
	double best_off = -1;

	for (uint32_t s = steps->first; s < steps->end; s++) {
		double syncs = (double)process->step[s].value[SY_METRIC_SYNCS];
		double off = syncs > median ? syncs - median : median - syncs;
		uint32_t away = s > middle ? s - middle : middle - s;
		uint32_t best_away = best > middle ? best - middle : middle - best;

		if (best_off >= 0 && (off > best_off || (off == best_off && away >= best_away)))
			continue;
		best = s;
		best_off = off;
	}
	return best;
}

bool sy_order_choose(const struct sy_profile *profile, uint32_t wanted, size_t *process, uint32_t *step)
{
	for (size_t p = 0; p < profile->n_processes; p++) {
		const struct sy_steps *steps = &profile->processes[p].steps;

		if (wanted == SY_ORDER_TYPICAL ? steps->first >= steps->end : wanted >= steps->n)
			continue;
		*process = p;
		*step = wanted == SY_ORDER_TYPICAL ? typical(profile, &profile->processes[p]) : wanted;
		return true;
	}
	return false;
}

/* ---- its syncs ----------------------------------------------------------------------- */

static const char *copy_words(struct sy_order *order, const struct sy_act *act)
{
	if (act->direction < SY_COPY_UNKNOWN)
		return sy_mem_printf(&order->arena, "%s %s", sy_direction_name(act->direction),
		                     sy_memory_name(act->memory));
	return act->memory ? sy_memory_name(act->memory) : "";
}

static void take(void *context, struct sy_acts *acts, const struct sy_told *told)
{
	struct sy_order *order = context;
	const struct sy_clock *clock = &acts->trace->clock;
	const struct sy_act *act = told->act;
	const struct sy_event *last = act->second ? act->second : act->first;

	if (told->step != order->step || told->verdict.class >= SY_N_SYNC_CLASSES)
		return;
	order->entries = sy_mem_grow(order->entries, &order->capacity, order->n, sizeof(*order->entries));
	order->entries[order->n] = (struct sy_order_entry){ .site = sy_acts_site(acts, told->thread, act->at),
		                                            .thread = acts->thread_name,
		                                            .copy = copy_words(order, act),
		                                            .class = told->verdict.class,
		                                            .outcome = told->verdict.outcome,
		                                            .launches_before = told->launches_before,
		                                            .times = 1,
		                                            .bytes = act->first->bytes,
		                                            .blocked_ns = act->blocked_ns,
		                                            .waited_ns = told->verdict.waited_ns,
		                                            .at_ns = sy_clock_at_ns(clock, act->first->enter_ticks),
		                                            .end_ns = sy_clock_at_ns(clock, last->enter_ticks) +
		                                                      sy_clock_span_ns(clock, last->duration_ticks),
		                                            .number = order->n };
	order->n++;
}

static int by_time(const void *a, const void *b)
{
	const struct sy_order_entry *const x = a, *const y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_same(const struct sy_order_entry *a, const struct sy_order_entry *b)
{
	return a->class == b->class && a->outcome == b->outcome && a->launches_before == b->launches_before &&
	       a->site.line == b->site.line && strcmp(a->site.file, b->site.file) == 0 &&
	       strcmp(a->site.function, b->site.function) == 0 && strcmp(a->thread, b->thread) == 0 &&
	       strcmp(a->copy, b->copy) == 0;
}

static void join_equal(struct sy_order *order)
{
	size_t n = 0;

	for (size_t i = 0; i < order->n; i++) {
		const struct sy_order_entry *entry = &order->entries[i];
		struct sy_order_entry *last = n ? &order->entries[n - 1] : NULL;

		if (last && is_same(last, entry)) {
			last->times++;
			last->bytes += entry->bytes;
			last->blocked_ns += entry->blocked_ns;
			last->waited_ns += entry->waited_ns;
			last->end_ns = entry->end_ns;
		} else {
			order->entries[n++] = *entry;
		}
	}
	order->n = n;
}

void sy_order_read(struct sy_order *order, const struct sy_trace *trace, struct sy_step_range range, uint32_t step)
{
	struct sy_acts acts;

	order->step = step;
	order->pid = trace->header.pid;
	order->rank = trace->header.rank;
	sy_acts_init(&acts, trace, range, &order->arena);
	for (uint32_t i = 0; i < trace->n_threads; i++)
		sy_acts_walk(&acts, &trace->threads[i], take, order);
	sy_acts_free(&acts);
	if (order->n)
		qsort(order->entries, order->n, sizeof(*order->entries), by_time);
	join_equal(order);
}

void sy_order_free(struct sy_order *order)
{
	free(order->entries);
	sy_arena_free(&order->arena);
}
