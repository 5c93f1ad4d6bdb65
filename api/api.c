/* SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

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
