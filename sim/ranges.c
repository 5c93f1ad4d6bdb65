/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/ranges.h"

#include <stdlib.h>
#include <string.h>

/* Index of the first range that ends behind the address. */
static size_t first_ending_after(const struct sim_ranges *ranges, uintptr_t address)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sim_range *r = &ranges->at[middle];
		if (r->base + r->bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sim_range *sim_ranges_find(const struct sim_ranges *ranges, uintptr_t address)
{
	size_t i = first_ending_after(ranges, address);

	return i < ranges->n && ranges->at[i].base <= address ? &ranges->at[i] : NULL;
}

static bool insert_at(struct sim_ranges *ranges, size_t i, const struct sim_range *range)
{
	if (ranges->n == ranges->capacity) {
		size_t capacity = ranges->capacity ? 2 * ranges->capacity : 64;
		struct sim_range *at = realloc(ranges->at, capacity * sizeof *at);
		if (!at)
			return false;
		ranges->at = at;
		ranges->capacity = capacity;
	}
	memmove(&ranges->at[i + 1], &ranges->at[i], (ranges->n - i) * sizeof *ranges->at);
	ranges->at[i] = *range;
	ranges->n++;
	return true;
}

bool sim_ranges_insert(struct sim_ranges *ranges, const struct sim_range *range)
{
	return insert_at(ranges, first_ending_after(ranges, range->base), range);
}

static void remove_at(struct sim_ranges *ranges, size_t i, size_t count)
{
	memmove(&ranges->at[i], &ranges->at[i + count], (ranges->n - i - count) * sizeof *ranges->at);
	ranges->n -= count;
}

void sim_ranges_remove(struct sim_ranges *ranges, struct sim_range *range)
{
	remove_at(ranges, (size_t)(range - ranges->at), 1);
}

bool sim_ranges_add(struct sim_ranges *ranges, uintptr_t base, size_t bytes)
{
	uintptr_t end = base + bytes;
	/* A range that ends exactly where the new one begins is joined too: look one byte earlier. */
	size_t first = first_ending_after(ranges, base ? base - 1 : 0);
	size_t last = first;

	while (last < ranges->n && ranges->at[last].base <= end) {
		const struct sim_range *r = &ranges->at[last++];
		if (r->base < base)
			base = r->base;
		if (r->base + r->bytes > end)
			end = r->base + r->bytes;
	}
	struct sim_range joined = { base, end - base, 0 };
	if (last == first)
		return insert_at(ranges, first, &joined);
	ranges->at[first] = joined;
	remove_at(ranges, first + 1, last - first - 1);
	return true;
}

bool sim_ranges_subtract(struct sim_ranges *ranges, uintptr_t base, size_t bytes)
{
	uintptr_t end = base + bytes;
	size_t i = first_ending_after(ranges, base);

	while (i < ranges->n && ranges->at[i].base < end) {
		struct sim_range *r = &ranges->at[i];
		uintptr_t r_end = r->base + r->bytes;
		struct sim_range tail = { end, r_end - end, r->tag };
		bool has_head = r->base<base, has_tail = r_end> end;
		if (has_head) {
			r->bytes = base - r->base;
			i++;
			if (has_tail)
				return insert_at(ranges, i, &tail);
		} else if (has_tail) {
			*r = tail;
		} else {
			remove_at(ranges, i, 1);
		}
		if (has_tail)
			break;
	}
	return true;
}

bool sim_ranges_covers(const struct sim_ranges *ranges, uintptr_t base, size_t bytes)
{
	const struct sim_range *r = sim_ranges_find(ranges, base);

	return r && bytes <= r->base + r->bytes - base;
}

void sim_ranges_clear(struct sim_ranges *ranges)
{
	ranges->n = 0;
}
