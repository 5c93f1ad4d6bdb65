/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify.h - what the rules of CUDA say about one copy or set
 *
 * Pure: no state, no CUDA, no time. The rules and their sources are in
 * docs/SYNC-RULES.md.
 */
#ifndef SY_INTERPOSER_CLASSIFY_H
#define SY_INTERPOSER_CLASSIFY_H

#include "api/api.h"
#include "trace/format.h"

#include <stdbool.h>

/* What the successful return of the call proves complete. */
enum sy_completion {
	SY_COMPLETES_NOTHING, /* it only submitted something */
	SY_COMPLETES_BEFORE,  /* what was on the stream before it, not its own transfer */
	SY_COMPLETES_ITSELF   /* what was on the stream before it, and itself */
};

enum sy_completion sy_classify_copy(bool is_sync_form, enum sy_direction direction, enum sy_memory src,
                                    enum sy_memory dst);
enum sy_completion sy_classify_set(bool is_sync_form, enum sy_memory dst);

/* The direction of a copy whose call leaves it to the addresses. */
enum sy_direction sy_classify_direction(enum sy_memory src, enum sy_memory dst);

#endif
