/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/classify.h"

enum sy_completion sy_classify_copy(bool is_sync_form, enum sy_direction direction, enum sy_memory src,
                                    enum sy_memory dst)
{
	/* Managed memory: the documented behaviour has changed, so nothing is concluded. R10. */
	if (src == SY_MEMORY_MANAGED || dst == SY_MEMORY_MANAGED)
		return SY_COMPLETES_NOTHING;
	switch (direction) {
	case SY_H2H:
		return SY_COMPLETES_ITSELF; /* R5, R8 */
	case SY_D2H:
		if (is_sync_form || dst == SY_MEMORY_PAGEABLE)
			return SY_COMPLETES_ITSELF; /* R3, R6a */
		return SY_COMPLETES_NOTHING;
	case SY_H2D:
		if (!is_sync_form)
			return SY_COMPLETES_NOTHING; /* R6b: staged, "may" have waited */
		return src == SY_MEMORY_PINNED ? SY_COMPLETES_ITSELF : SY_COMPLETES_BEFORE; /* R2, R1 */
	default:
		return SY_COMPLETES_NOTHING; /* R4 */
	}
}

enum sy_completion sy_classify_set(bool is_sync_form, enum sy_memory dst)
{
	return is_sync_form && dst == SY_MEMORY_PINNED ? SY_COMPLETES_ITSELF : SY_COMPLETES_NOTHING; /* R12, R13 */
}

static bool is_host(enum sy_memory kind)
{
	return kind == SY_MEMORY_PAGEABLE || kind == SY_MEMORY_PINNED;
}

enum sy_direction sy_classify_direction(enum sy_memory src, enum sy_memory dst)
{
	if (is_host(src))
		return is_host(dst) ? SY_H2H : SY_H2D;
	return is_host(dst) ? SY_D2H : SY_D2D;
}
