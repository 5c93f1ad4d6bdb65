/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/decisions.h"

#include "analysis/mem.h"

#include <stdlib.h>
#include <string.h>

void sy_decisions_begin(struct sy_decisions *d)
{
	d->n_now = d->n_before = 0;
	d->has_step = d->has_before = d->has_differed = d->is_suspect = false;
}

/* The step that ended becomes the one to compare with. Returns whether it ended where the one before went on. */
static bool turn(struct sy_decisions *d, uint32_t step)
{
	bool is_shorter = d->has_before && !d->has_differed && d->n_now < d->n_before;
	struct sy_decision_key *keys = d->before;
	size_t capacity = d->before_capacity;

	d->before = d->now;
	d->before_capacity = d->now_capacity;
	d->n_before = d->n_now;
	d->now = keys;
	d->now_capacity = capacity;
	d->n_now = 0;
	/* A step without an act of this thread lies between: nothing to compare with. */
	d->has_before = d->has_step && step == d->step + 1;
	d->has_differed = false;
	d->has_step = true;
	d->step = step;
	return is_shorter;
}

static bool is_same(const struct sy_decision_key *a, const struct sy_decision_key *b)
{
	return a->bytes == b->bytes && a->stack == b->stack && a->native == b->native && a->launches == b->launches &&
	       a->api == b->api && a->class == b->class;
}

/* Notes the act; returns whether it is the step's first that differs. */
static bool differs(struct sy_decisions *d, const struct sy_decision_key *key)
{
	bool is_known = d->n_now < d->n_before && is_same(key, &d->before[d->n_now]);
	bool is_first = d->has_before && !d->has_differed && !is_known && d->n_before < SY_DECISIONS_MAX;

	d->has_differed |= is_first;
	if (d->n_now < SY_DECISIONS_MAX) {
		d->now = sy_mem_grow(d->now, &d->now_capacity, d->n_now, sizeof(*d->now));
		d->now[d->n_now++] = *key;
	}
	return is_first;
}

uint32_t sy_decisions_note(struct sy_decisions *d, uint32_t step, const struct sy_act *act, uint32_t row)
{
	const struct sy_event *last = act->second ? act->second : act->first;
	struct sy_decision_key key = { .bytes = act->first->bytes,
		                       .stack = act->first->stack,
		                       .native = act->first->native,
		                       .api = act->first->api,
		                       .class = (uint8_t)act->class };
	uint32_t found = SY_DECISIONS_NOBODY;

	if (!d->has_step || step != d->step) {
		if (turn(d, step) && d->is_suspect)
			found = d->suspect;
	} else {
		key.launches = act->first->launches - d->launches_then;
	}
	if (differs(d, &key) && d->n_now > 1 && d->is_suspect)
		found = d->suspect;
	d->is_suspect = row != SY_DECISIONS_NOBODY;
	d->suspect = row;
	d->launches_then = last->launches;
	return found;
}

void sy_decisions_free(struct sy_decisions *d)
{
	free(d->now);
	free(d->before);
	memset(d, 0, sizeof(*d));
}
