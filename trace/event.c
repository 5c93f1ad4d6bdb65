/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/event.h"

const char *sy_memory_name(unsigned memory)
{
	static const char *const names[] = { "-", "pageable", "pinned", "managed", "device" };

	return memory < sizeof(names) / sizeof(names[0]) ? names[memory] : "-";
}

const char *sy_direction_name(unsigned direction)
{
	static const char *const names[] = { "h2h", "h2d", "d2h", "d2d" };

	return direction < sizeof(names) / sizeof(names[0]) ? names[direction] : "-";
}

const char *sy_step_source_name(int32_t source)
{
	switch (source) {
	case SY_STEP_CALL:
		return "call";
	case SY_STEP_TORCH:
		return "torch-optimizer";
	case SY_STEP_NVTX:
		return "nvtx";
	default:
		return "unknown";
	}
}

const char *sy_event_kind_name(unsigned kind)
{
	return kind == SY_EVENT_CALL ? "call" : kind == SY_EVENT_STEP ? "step" : "unknown";
}
