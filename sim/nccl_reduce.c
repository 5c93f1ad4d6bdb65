/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_reduce.c - sums and the like, of every type that NCCL has
 *
 * Types narrower than float are added as float and rounded once, in the order
 * of the ranks, so all ranks get the same bits. The real library adds in an
 * order of its own and may round after each step: its last bits can differ.
 */
#include "sim/nccl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t sim_nccl_element_bytes(int type)
{
	static const unsigned char bytes[SIM_NCCL_N_TYPES] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

	return bytes[type];
}

static bool is_integer(int type)
{
	return type <= SIM_NCCL_UINT64;
}

/* A small float: sign, exponent, mantissa; two of them without infinities are told apart below. */
struct format {
	unsigned exponent_bits, mantissa_bits;
	bool is_finite; /* e4m3: all ones is the one NaN, the largest exponent holds numbers */
};

static struct format format_of(int type)
{
	switch (type) {
	case SIM_NCCL_FLOAT16:
		return (struct format){ 5, 10, false };
	case SIM_NCCL_BFLOAT16:
		return (struct format){ 8, 7, false };
	case SIM_NCCL_FLOAT8_E4M3:
		return (struct format){ 4, 3, true };
	default:
		return (struct format){ 5, 2, false };
	}
}

static float widen(unsigned bits, struct format f)
{
	unsigned top = (1u << f.exponent_bits) - 1, full = (1u << f.mantissa_bits) - 1;
	unsigned exponent = bits >> f.mantissa_bits & top, mantissa = bits & full;
	int bias = (int)(top >> 1);
	float value;

	if (exponent == top && !f.is_finite)
		value = mantissa ? NAN : INFINITY;
	else if (exponent == top && mantissa == full)
		value = NAN;
	else if (exponent == 0)
		value = ldexpf((float)mantissa, 1 - bias - (int)f.mantissa_bits);
	else
		value = ldexpf((float)(mantissa | (full + 1)), (int)exponent - bias - (int)f.mantissa_bits);
	return bits >> (f.exponent_bits + f.mantissa_bits) ? -value : value;
}

/* To the nearest, ties to even; what is too large becomes infinity, or NaN where there is none. */
static unsigned narrow(float value, struct format f)
{
	unsigned top = (1u << f.exponent_bits) - 1, full = (1u << f.mantissa_bits) - 1;
	unsigned sign = signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
	unsigned infinity = f.is_finite ? (top << f.mantissa_bits) | full : top << f.mantissa_bits;
	unsigned nan = f.is_finite ? infinity : infinity | (full + 1) >> 1;
	int bias = (int)(top >> 1), exponent;

	if (isnan(value))
		return sign | nan;
	if (isinf(value))
		return sign | infinity;
	if (value == 0)
		return sign;
	frexpf(value, &exponent);
	exponent--; /* value = 1.x * 2^exponent */
	if (exponent < 1 - bias)
		exponent = 1 - bias;
	/* Bits of the mantissa as an integer, the leading one included; rounding may carry into the exponent. */
	unsigned digits = (unsigned)nearbyintf(ldexpf(fabsf(value), (int)f.mantissa_bits - exponent));
	unsigned bits = ((unsigned)(exponent + bias) << f.mantissa_bits) + digits - (full + 1);
	return sign | (bits > infinity ? infinity : bits);
}

static uint64_t load_integer(int type, const void *from)
{
	int8_t i8;
	int32_t i32;
	uint32_t u32;
	uint64_t u64;

	switch (type) {
	case SIM_NCCL_INT8:
		memcpy(&i8, from, sizeof i8);
		return (uint64_t)(int64_t)i8;
	case SIM_NCCL_UINT8:
		return *(const unsigned char *)from;
	case SIM_NCCL_INT32:
		memcpy(&i32, from, sizeof i32);
		return (uint64_t)(int64_t)i32;
	case SIM_NCCL_UINT32:
		memcpy(&u32, from, sizeof u32);
		return u32;
	default:
		memcpy(&u64, from, sizeof u64);
		return u64;
	}
}

static bool is_signed(int type)
{
	return type == SIM_NCCL_INT8 || type == SIM_NCCL_INT32 || type == SIM_NCCL_INT64;
}

/* Little-endian: the low bytes come first. */
static void store_integer(int type, void *to, uint64_t value)
{
	memcpy(to, &value, sim_nccl_element_bytes(type));
}

static float load_float(int type, const void *from)
{
	uint16_t bits = 0;
	float value;

	if (type == SIM_NCCL_FLOAT32) {
		memcpy(&value, from, sizeof value);
		return value;
	}
	memcpy(&bits, from, sim_nccl_element_bytes(type));
	return widen(bits, format_of(type));
}

static void store_float(int type, void *to, float value)
{
	if (type == SIM_NCCL_FLOAT32) {
		memcpy(to, &value, sizeof value);
		return;
	}
	uint16_t bits = (uint16_t)narrow(value, format_of(type));
	memcpy(to, &bits, sim_nccl_element_bytes(type));
}

bool sim_reduce_begin(struct sim_accumulator *sum, int type, int reduction, int n_ranks, size_t room)
{
	*sum = (struct sim_accumulator){ type, reduction, n_ranks, room, { malloc(room * sizeof(uint64_t)) } };
	return sum->sum.u64 != NULL;
}

void sim_reduce_end(struct sim_accumulator *sum)
{
	free(sum->sum.u64);
}

#define COMBINE(a, b)                                                                                                  \
	switch (reduction) {                                                                                           \
	case SIM_NCCL_PROD:                                                                                            \
		return a * b;                                                                                          \
	case SIM_NCCL_MAX:                                                                                             \
		return b > a ? b : a;                                                                                  \
	case SIM_NCCL_MIN:                                                                                             \
		return b < a ? b : a;                                                                                  \
	default:                                                                                                       \
		return a + b;                                                                                          \
	}

static float combine_float(int reduction, float a, float b)
{
	COMBINE(a, b)
}

static double combine_double(int reduction, double a, double b)
{
	COMBINE(a, b)
}

static uint64_t combine_unsigned(int reduction, uint64_t a, uint64_t b)
{
	COMBINE(a, b)
}

/* Sums and products wrap, and have the same low bits as unsigned ones. */
static uint64_t combine_signed(int reduction, uint64_t a, uint64_t b)
{
	bool is_less = (int64_t)b < (int64_t)a;

	if (reduction == SIM_NCCL_MAX)
		return is_less ? a : b;
	if (reduction == SIM_NCCL_MIN)
		return is_less ? b : a;
	return combine_unsigned(reduction, a, b);
}

static void add_integers(const struct sim_accumulator *sum, const char *from, size_t n, bool is_first)
{
	size_t step = sim_nccl_element_bytes(sum->type);

	for (size_t i = 0; i < n; i++) {
		uint64_t value = load_integer(sum->type, from + i * step);
		if (is_first)
			sum->sum.u64[i] = value;
		else if (is_signed(sum->type))
			sum->sum.u64[i] = combine_signed(sum->reduction, sum->sum.u64[i], value);
		else
			sum->sum.u64[i] = combine_unsigned(sum->reduction, sum->sum.u64[i], value);
	}
}

/* What nearly all collectives of a trainer are. */
static void add_floats(const struct sim_accumulator *sum, const char *from, size_t n)
{
	float *into = sum->sum.f32;

	for (size_t i = 0; i < n; i++) {
		float value;
		memcpy(&value, from + i * sizeof value, sizeof value);
		into[i] += value;
	}
}

void sim_reduce_add(struct sim_accumulator *sum, const void *elements, size_t n, bool is_first)
{
	const char *from = elements;
	size_t step = sim_nccl_element_bytes(sum->type);

	if (is_integer(sum->type)) {
		add_integers(sum, from, n, is_first);
		return;
	}
	if (sum->type == SIM_NCCL_FLOAT32 && is_first) {
		memcpy(sum->sum.f32, from, n * sizeof(float));
		return;
	}
	if (sum->type == SIM_NCCL_FLOAT32 && (sum->reduction == SIM_NCCL_SUM || sum->reduction == SIM_NCCL_AVG)) {
		add_floats(sum, from, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (sum->type == SIM_NCCL_FLOAT64) {
			double value;
			memcpy(&value, from + i * step, sizeof value);
			sum->sum.f64[i] = is_first ? value : combine_double(sum->reduction, sum->sum.f64[i], value);
		} else {
			float value = load_float(sum->type, from + i * step);
			sum->sum.f32[i] = is_first ? value : combine_float(sum->reduction, sum->sum.f32[i], value);
		}
	}
}

/* An average of integers: the sum, as wide as its type, divided. */
static uint64_t divide(int type, uint64_t sum, int n)
{
	char wrapped[8];

	store_integer(type, wrapped, sum);
	sum = load_integer(type, wrapped);
	return is_signed(type) ? (uint64_t)((int64_t)sum / n) : sum / (uint64_t)n;
}

void sim_reduce_store(const struct sim_accumulator *sum, void *elements, size_t n)
{
	char *to = elements;
	size_t step = sim_nccl_element_bytes(sum->type);
	bool is_average = sum->reduction == SIM_NCCL_AVG;

	if (sum->type == SIM_NCCL_FLOAT32 && !is_average) {
		memcpy(to, sum->sum.f32, n * sizeof(float));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_integer(sum->type)) {
			uint64_t value = sum->sum.u64[i];
			store_integer(sum->type, to + i * step,
			              is_average ? divide(sum->type, value, sum->n_ranks) : value);
		} else if (sum->type == SIM_NCCL_FLOAT64) {
			double value = sum->sum.f64[i] / (is_average ? sum->n_ranks : 1);
			memcpy(to + i * step, &value, sizeof value);
		} else {
			store_float(sum->type, to + i * step,
			            sum->sum.f32[i] / (is_average ? (float)sum->n_ranks : 1.0f));
		}
	}
}

void sim_reduce_scale(int type, void *elements, size_t n, const void *scalar)
{
	char *at = elements;
	size_t step = sim_nccl_element_bytes(type);

	for (size_t i = 0; i < n; i++, at += step) {
		if (is_integer(type)) {
			store_integer(type, at, load_integer(type, at) * load_integer(type, scalar));
		} else if (type == SIM_NCCL_FLOAT64) {
			double value, factor;
			memcpy(&value, at, sizeof value);
			memcpy(&factor, scalar, sizeof factor);
			value *= factor;
			memcpy(at, &value, sizeof value);
		} else {
			store_float(type, at, load_float(type, at) * load_float(type, scalar));
		}
	}
}
