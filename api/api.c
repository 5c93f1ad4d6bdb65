/* SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

#include <string.h>

const struct sy_api_desc sy_api_desc[SY_N_API] = {
#define SY_SPELL_NONE(lib, name, class) { #name, SY_LIB_##lib, SY_##class, false },
#define SY_SPELL_PTSZ(lib, name, class)                                                                                \
	SY_SPELL_NONE(lib, name, class){ #name "_ptsz", SY_LIB_##lib, SY_##class, true },
#define SY_SPELL_PTDS(lib, name, class)                                                                                \
	SY_SPELL_NONE(lib, name, class){ #name "_ptds", SY_LIB_##lib, SY_##class, true },
#define API(lib, name, spelling, class, params, args, facts) SY_SPELL_##spelling(lib, name, class)
#include "cuda_api.def"
#undef API
#undef SY_SPELL_NONE
#undef SY_SPELL_PTSZ
#undef SY_SPELL_PTDS
};

const struct sy_class_desc sy_class_desc[SY_N_CLASSES] = {
#define SYNC_CLASS(id, label, recorded, rule) { #id, label, recorded, rule },
#include "sync_class.def"
#undef SYNC_CLASS
};

const struct sy_effect_desc sy_effect_desc[SY_N_EFFECTS] = {
#define EFFECT(id, may_submit, may_wait, rule) { #id, may_submit, may_wait, rule },
#include "effect.def"
#undef EFFECT
};

/* The name becomes a string in REST itself, before the vendor's macros can replace it. */
const struct sy_rest_desc sy_rest_desc[] = {
#define SY_SPELL_NONE(lib, name, effect) { name, SY_LIB_##lib, SY_EFFECT_##effect, false },
#define SY_SPELL_PTSZ(lib, name, effect)                                                                               \
	SY_SPELL_NONE(lib, name, effect){ name "_ptsz", SY_LIB_##lib, SY_EFFECT_##effect, true },
#define SY_SPELL_PTDS(lib, name, effect)                                                                               \
	SY_SPELL_NONE(lib, name, effect){ name "_ptds", SY_LIB_##lib, SY_EFFECT_##effect, true },
#define REST(lib, name, spelling, effect) SY_SPELL_##spelling(lib, #name, effect)
#include "cuda_rest.def"
#undef REST
#undef SY_SPELL_NONE
#undef SY_SPELL_PTSZ
#undef SY_SPELL_PTDS
};

#define N_REST (sizeof(sy_rest_desc) / sizeof(sy_rest_desc[0]))
const unsigned sy_n_rest = N_REST;

/* Names to rows. Filled at first use; threads that race fill in the same values. */
#define INDEX_SIZE 4096
static uint16_t rest_index[INDEX_SIZE]; /* row + 1, 0 empty */
static bool is_index_ready;

_Static_assert(N_REST * 2 <= INDEX_SIZE, "the index must stay half empty");

static uint32_t slot_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash ^ hash >> 15) % INDEX_SIZE;
}

static void fill_index(void)
{
	for (unsigned row = 0; row < N_REST; row++) {
		uint16_t mark = (uint16_t)(row + 1);
		uint32_t i = slot_of(sy_rest_desc[row].name);
		uint16_t found;

		while ((found = __atomic_load_n(&rest_index[i], __ATOMIC_RELAXED)) && found != mark)
			i = (i + 1) % INDEX_SIZE;
		__atomic_store_n(&rest_index[i], mark, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&is_index_ready, true, __ATOMIC_RELEASE);
}

const struct sy_rest_desc *sy_rest_find(const char *name)
{
	uint32_t i = slot_of(name);
	uint16_t found;

	if (!__atomic_load_n(&is_index_ready, __ATOMIC_ACQUIRE))
		fill_index();
	for (; (found = __atomic_load_n(&rest_index[i], __ATOMIC_RELAXED)); i = (i + 1) % INDEX_SIZE)
		if (strcmp(sy_rest_desc[found - 1].name, name) == 0)
			return &sy_rest_desc[found - 1];
	return NULL;
}
