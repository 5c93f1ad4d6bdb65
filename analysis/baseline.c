/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/baseline.h"

#include "analysis/mem.h"
#include "trace/event.h"

#include <stdlib.h>
#include <string.h>

#define SLACK_NS 1000u
/* Without an empty act to compare with: above the cost of a readback call, and of freeing memory, on real devices. */
#define GUESS_CALL_NS 20000u
#define GUESS_RELEASE_NS 50000u
/* R7: smaller uploads never hold the host. */
#define SMALL_UPLOAD_BYTES 65536u
/* Fewer empty acts than this say little about a percentile. */
#define ENOUGH 3u

/* Sixteen buckets per power of two: an edge is at most 1/16 above the value. */
#define BUCKETS (16 * 61)

struct key {
	uint64_t size; /* of the copy: exact in virtual time, else its power of two; ANY_SIZE: all */
	uint16_t first, second;
	uint8_t class, direction, memory, zero;
};
#define ANY_SIZE UINT64_MAX

struct sy_baseline_shape {
	uint64_t n;
	uint64_t least_ns;
	uint32_t *buckets; /* NULL in virtual time */
	uint64_t p95_ns;   /* of the first p95_n acts; 0: not asked yet */
	uint64_t p95_n;
};

static unsigned bucket_of(uint64_t ns)
{
	unsigned exponent;

	if (ns < 16)
		return (unsigned)ns;
	exponent = 63u - (unsigned)__builtin_clzll(ns);
	return (exponent - 3) * 16 + (unsigned)(ns >> (exponent - 4) & 15);
}

static uint64_t bucket_edge(unsigned bucket)
{
	if (bucket < 16)
		return bucket;
	return ((uint64_t)(16 + bucket % 16 + 1) << (bucket / 16 - 1)) - 1;
}

static uint64_t count_to_95(const struct sy_baseline_shape *shape)
{
	uint64_t wanted = shape->n - shape->n / 20, seen = 0;

	for (unsigned i = 0; i < BUCKETS; i++) {
		seen += shape->buckets[i];
		if (seen >= wanted)
			return bucket_edge(i);
	}
	return UINT64_MAX;
}

static uint64_t percentile_95(struct sy_baseline_shape *shape)
{
	if (shape->p95_n != shape->n) {
		shape->p95_ns = count_to_95(shape);
		shape->p95_n = shape->n;
	}
	return shape->p95_ns;
}

static struct key key_of(const struct sy_baseline *baseline, const struct sy_act *act)
{
	struct key key;
	uint64_t bytes = act->first->bytes;

	memset(&key, 0, sizeof(key));
	key.first = act->first->api;
	key.second = act->second ? act->second->api : 0;
	key.class = (uint8_t)act->class;
	key.direction = act->direction;
	key.memory = act->memory;
	if (act->direction != SY_COPY_UNKNOWN)
		key.size = baseline->is_virtual ? bytes : bytes ? 63u - (unsigned)__builtin_clzll(bytes) : 0;
	return key;
}

/* A shape's number by its key: most acts are of a few shapes. */
struct sy_baseline_memo {
	struct key key;
	uint32_t number; /* + 1; 0: nothing noted */
};
#define N_MEMOS 256u

static struct sy_baseline_memo *memo_of(const struct sy_baseline *baseline, const struct key *key)
{
	uint64_t word;

	memcpy(&word, &key->first, sizeof(word));
	word = (word ^ key->size * 0x9e3779b97f4a7c15u) * 0xc2b2ae3d27d4eb4fu;
	return &baseline->memos[word >> 56];
}

static bool is_noted(const struct sy_baseline_memo *memo, const struct key *key)
{
	return memo->number && memcmp(&memo->key, key, sizeof(*key)) == 0;
}

void sy_baseline_init(struct sy_baseline *baseline, bool is_virtual)
{
	size_t n_memos = 0;

	memset(baseline, 0, sizeof(*baseline));
	baseline->is_virtual = is_virtual;
	baseline->least_call_ns = UINT64_MAX;
	baseline->memos = sy_mem_grow(NULL, &n_memos, N_MEMOS - 1, sizeof(*baseline->memos));
}

static struct sy_baseline_shape *shape_for(struct sy_baseline *baseline, const struct key *key)
{
	struct sy_baseline_memo *memo = memo_of(baseline, key);
	uint32_t number;

	if (is_noted(memo, key))
		return &baseline->shapes[memo->number - 1];
	number = sy_index_add(&baseline->keys, key, sizeof(*key));
	baseline->shapes = sy_mem_grow(baseline->shapes, &baseline->capacity, number, sizeof(*baseline->shapes));
	*memo = (struct sy_baseline_memo){ *key, number + 1 };
	return &baseline->shapes[number];
}

static void add_to(struct sy_baseline *baseline, const struct key *key, uint64_t ns)
{
	struct sy_baseline_shape *shape = shape_for(baseline, key);

	if (shape->n++ == 0 || ns < shape->least_ns)
		shape->least_ns = ns;
	if (baseline->is_virtual)
		return;
	if (!shape->buckets) {
		size_t n_buckets = 0;

		shape->buckets = sy_mem_grow(NULL, &n_buckets, BUCKETS - 1, sizeof(*shape->buckets));
	}
	shape->buckets[bucket_of(ns)]++;
}

void sy_baseline_add(struct sy_baseline *baseline, const struct sy_act *act)
{
	struct key key;

	if (act->class > SY_ACT_SET)
		return;
	if (!act->second && act->blocked_ns < baseline->least_call_ns)
		baseline->least_call_ns = act->blocked_ns;
	/* Calls that never wait are no measure for those that may. */
	if (act->is_pending || act->class >= SY_N_SYNC_CLASSES)
		return;
	key = key_of(baseline, act);
	add_to(baseline, &key, act->blocked_ns);
	key.size = ANY_SIZE;
	add_to(baseline, &key, act->blocked_ns);
}

/* The empty acts to compare with, or NULL. */
static struct sy_baseline_shape *find(const struct sy_baseline *baseline, struct key key, uint64_t enough)
{
	struct sy_baseline_memo *memo = memo_of(baseline, &key);
	uint32_t number;

	if (!is_noted(memo, &key)) {
		if (!sy_index_find(&baseline->keys, &key, sizeof(key), &number))
			return NULL;
		*memo = (struct sy_baseline_memo){ key, number + 1 };
	}
	return baseline->shapes[memo->number - 1].n >= enough ? &baseline->shapes[memo->number - 1] : NULL;
}

static uint64_t waited_virtual(const struct sy_baseline *baseline, const struct sy_act *act)
{
	const struct sy_baseline_shape *shape = find(baseline, key_of(baseline, act), 1);
	uint64_t cost_ns = shape ? shape->least_ns : baseline->least_call_ns;

	/* All that was called may have waited. */
	if (!shape && cost_ns > GUESS_CALL_NS)
		cost_ns = GUESS_CALL_NS;
	if (!shape && act->second)
		cost_ns *= 2;
	return act->blocked_ns > cost_ns ? act->blocked_ns - cost_ns : 0;
}

static uint64_t waited_real(const struct sy_baseline *baseline, const struct sy_act *act)
{
	struct key key = key_of(baseline, act);
	struct sy_baseline_shape *shape = find(baseline, key, ENOUGH);
	uint64_t limit_ns;

	key.size = ANY_SIZE;
	if (!shape && act->class == act->otherwise)
		shape = find(baseline, key, ENOUGH);
	limit_ns = shape ? percentile_95(shape) : act->class == SY_ACT_IMPLICIT ? GUESS_RELEASE_NS : GUESS_CALL_NS;
	if (act->blocked_ns <= limit_ns + SLACK_NS)
		return 0;
	return act->blocked_ns - (shape ? shape->least_ns : 0);
}

/* An asynchronous upload of pageable memory copies for a time that grows with its size: only a clear case is a wait. */
static bool is_clear_wait(const struct sy_baseline *baseline, const struct sy_act *act)
{
	struct sy_baseline_shape *shape;

	if (act->otherwise != SY_ACT_STAGING)
		return true;
	if (act->first->bytes <= SMALL_UPLOAD_BYTES)
		return false;
	shape = find(baseline, key_of(baseline, act), 1);
	return shape && (baseline->is_virtual || act->blocked_ns > 2 * percentile_95(shape));
}

struct sy_verdict sy_baseline_judge(const struct sy_baseline *baseline, const struct sy_act *act)
{
	struct sy_verdict verdict = { .class = act->class, .outcome = SY_OUTCOME_EMPTY };

	if (act->class >= SY_N_SYNC_CLASSES)
		return verdict;
	if (act->is_pending && is_clear_wait(baseline, act))
		verdict.waited_ns = baseline->is_virtual ? waited_virtual(baseline, act) : waited_real(baseline, act);
	if (verdict.waited_ns)
		verdict.outcome = SY_OUTCOME_DRAIN;
	else if (act->is_pending)
		verdict.outcome = SY_OUTCOME_DONE_ALREADY;
	if (!verdict.waited_ns)
		verdict.class = act->otherwise;
	return verdict;
}

void sy_baseline_free(struct sy_baseline *baseline)
{
	for (uint32_t i = 0; i < baseline->keys.n; i++)
		free(baseline->shapes[i].buckets);
	free(baseline->shapes);
	free(baseline->memos);
	sy_index_free(&baseline->keys);
}

const char *sy_outcome_name(enum sy_outcome outcome)
{
	static const char *const names[SY_N_OUTCOMES] = { "drain", "done_already", "empty" };

	return names[outcome];
}
