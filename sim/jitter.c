/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/jitter.h"

#include "sim/knobs.h"

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do, and every one gives another sequence. */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t sim_jitter(uint64_t ns)
{
	const struct sim_knobs *knobs = sim_knobs();

	if (knobs->jitter == 0 || ns == 0)
		return ns;
	if (state == 0)
		state = knobs->seed;
	double unit = (double)(next() >> 11) / (double)(1ull << 53); /* 0 to 1 */
	return (uint64_t)((double)ns * (1.0 + (double)knobs->jitter / 1000.0 * (2.0 * unit - 1.0)));
}
