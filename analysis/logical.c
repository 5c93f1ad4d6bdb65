/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/logical.h"

#include "analysis/mem.h"
#include "trace/event.h"

#include <string.h>

enum role {
	ROLE_OTHER,
	ROLE_WAIT_STREAM,
	ROLE_WAIT,
	ROLE_COPY_SYNC,
	ROLE_COPY_ASYNC,
	ROLE_SET_SYNC,
	ROLE_SET_ASYNC,
	ROLE_RELEASE,
	ROLE_HELD /* is recorded only if a full queue held it */
};

struct walk {
	const struct sy_trace *trace;
	const struct sy_roles *roles;
	const struct sy_trace_thread *thread;
	sy_act_fn *on_act;
	void *context;
	const struct sy_event *held; /* an asynchronous copy that the next call may complete */
};

static uint8_t role_of(const struct sy_trace_api *api)
{
	static const struct {
		const char *name;
		uint8_t role;
	} classes[] = {
#define ROLE(name, role) { name, ROLE_##role },
#define LABEL_ROLE(label, role)
#include "analysis/roles.def"
#undef ROLE
#undef LABEL_ROLE
	}, labels[] = {
#define ROLE(name, role)
#define LABEL_ROLE(label, role) { label, ROLE_##role },
#include "analysis/roles.def"
#undef ROLE
#undef LABEL_ROLE
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strcmp(classes[i].name, api->class_name) == 0)
			return classes[i].role;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (strcmp(labels[i].name, api->class_label) == 0)
			return labels[i].role;
	return ROLE_OTHER;
}

struct sy_roles sy_roles_make(const struct sy_trace *trace, struct sy_arena *arena)
{
	struct sy_roles roles = { sy_mem_alloc(arena, trace->n_apis) };

	for (uint32_t i = 0; i < trace->n_apis; i++)
		roles.of_api[i] = role_of(&trace->apis[i]);
	return roles;
}

static uint8_t role(const struct walk *walk, const struct sy_event *event)
{
	return event->api < walk->trace->n_apis ? walk->roles->of_api[event->api] : ROLE_OTHER;
}

static bool is_device(unsigned memory)
{
	return memory == SY_MEMORY_DEVICE;
}

/* As recorded, or else from the memory kinds. */
static uint8_t direction_of(const struct sy_event *event)
{
	unsigned source = sy_event_source(event), destination = sy_event_destination(event);

	if (event->direction < SY_COPY_UNKNOWN)
		return event->direction;
	if (source == SY_MEMORY_UNKNOWN || destination == SY_MEMORY_UNKNOWN)
		return SY_COPY_UNKNOWN;
	return (uint8_t)(is_device(source) ? (is_device(destination) ? SY_COPY_D2D : SY_COPY_D2H)
	                                   : (is_device(destination) ? SY_COPY_H2D : SY_COPY_H2H));
}

static uint8_t host_memory(const struct sy_event *event, uint8_t direction)
{
	return (uint8_t)(direction == SY_COPY_H2D ? sy_event_source(event) : sy_event_destination(event));
}

/*
 * A copy is not what its own act waits for, but what was launched between it
 * and the synchronize is. Launches of other threads count in the same number,
 * so equal lines decide first.
 */
static bool is_pending(const struct sy_event *first, const struct sy_event *second)
{
	uint32_t flags = first->flags;

	if (second && second->launches != first->launches && (!first->stack || second->stack != first->stack))
		flags |= second->flags;
	return (flags & SY_EVENT_PENDING) != 0;
}

static void emit(const struct walk *walk, struct sy_act *act, enum sy_act_class class, enum sy_act_class otherwise)
{
	act->class = class;
	act->otherwise = otherwise;
	act->is_pending = is_pending(act->first, act->second);
	act->blocked_ns = sy_clock_span_ns(&walk->trace->clock, act->first->duration_ticks);
	if (act->second)
		act->blocked_ns += sy_clock_span_ns(&walk->trace->clock, act->second->duration_ticks);
	walk->on_act(walk->context, walk->thread, act);
}

/* A copy that has no synchronize behind it. */
static void emit_copy(const struct walk *walk, struct sy_act *act, bool is_async)
{
	bool is_down = act->direction == SY_COPY_D2H, is_up = act->direction == SY_COPY_H2D;
	enum sy_act_class class = is_down ? SY_ACT_READBACK : is_up ? SY_ACT_UPLOAD : SY_ACT_IMPLICIT;

	act->memory = host_memory(act->first, act->direction);
	if (is_async && act->memory == SY_MEMORY_PINNED)
		emit(walk, act, SY_ACT_COPY, SY_ACT_COPY);
	else if (act->direction == SY_COPY_D2D || act->direction == SY_COPY_UNKNOWN)
		emit(walk, act, SY_ACT_COPY, SY_ACT_COPY);
	else if (act->direction == SY_COPY_H2H)
		emit(walk, act, class, SY_ACT_COPY);
	else if (!is_async || (is_down && act->memory == SY_MEMORY_PAGEABLE))
		emit(walk, act, class, class); /* R1 to R3; R6a: at every size */
	else
		emit(walk, act, class, is_up && act->memory == SY_MEMORY_PAGEABLE ? SY_ACT_STAGING : SY_ACT_COPY);
}

static void emit_set(const struct walk *walk, struct sy_act *act, bool is_async)
{
	act->memory = (uint8_t)sy_event_destination(act->first);
	/* R12: asynchronous unless the target is host memory. */
	if (!is_async && (act->memory == SY_MEMORY_PINNED || act->memory == SY_MEMORY_MANAGED))
		emit(walk, act, SY_ACT_IMPLICIT, SY_ACT_SET);
	else
		emit(walk, act, SY_ACT_SET, SY_ACT_SET);
}

static bool is_executed(const struct sy_event *event)
{
	return sy_event_is_complete(event) && event->status == 0 && !(event->flags & SY_EVENT_CAPTURING);
}

static void emit_alone(const struct walk *walk, const struct sy_event *event)
{
	struct sy_act act = { .first = event, .at = event, .direction = SY_COPY_UNKNOWN };
	uint8_t part = role(walk, event);

	if (!is_executed(event)) {
		enum sy_act_class class = !sy_event_is_complete(event) ? SY_ACT_IN_FLIGHT
		                          : event->status != 0         ? SY_ACT_FAILED
		                                                       : SY_ACT_CAPTURED;

		emit(walk, &act, class, class);
		return;
	}
	if (part == ROLE_COPY_SYNC || part == ROLE_COPY_ASYNC) {
		act.direction = direction_of(event);
		emit_copy(walk, &act, part == ROLE_COPY_ASYNC);
	} else if (part == ROLE_SET_SYNC || part == ROLE_SET_ASYNC) {
		emit_set(walk, &act, part == ROLE_SET_ASYNC);
	} else if (part == ROLE_RELEASE) {
		act.memory = (uint8_t)sy_event_source(event);
		emit(walk, &act, SY_ACT_IMPLICIT, SY_ACT_FREE);
	} else if (part == ROLE_HELD) {
		emit(walk, &act, SY_ACT_BACKPRESSURE, SY_ACT_BACKPRESSURE);
	} else if (part == ROLE_OTHER) {
		emit(walk, &act, SY_ACT_OTHER, SY_ACT_OTHER);
	} else {
		emit(walk, &act, SY_ACT_EXPLICIT, SY_ACT_EXPLICIT);
	}
}

/* The copy's own line waits if it stages through pageable memory; otherwise the synchronize's does. */
static void emit_pair(const struct walk *walk, const struct sy_event *copy, const struct sy_event *wait)
{
	struct sy_act act = { .first = copy, .second = wait, .at = copy, .direction = direction_of(copy) };
	enum sy_act_class class = act.direction == SY_COPY_D2H ? SY_ACT_READBACK : SY_ACT_UPLOAD;

	act.memory = host_memory(copy, act.direction);
	if (wait->stack && !(class == SY_ACT_READBACK && act.memory == SY_MEMORY_PAGEABLE))
		act.at = wait;
	emit(walk, &act, class, class);
}

static bool may_be_first(const struct walk *walk, const struct sy_event *event)
{
	uint8_t direction = direction_of(event);

	return role(walk, event) == ROLE_COPY_ASYNC && is_executed(event) &&
	       (direction == SY_COPY_D2H || direction == SY_COPY_H2D);
}

/*
 * A readback is complete with the next call that synchronizes its stream. An
 * upload belongs to the synchronize behind it only if nothing was launched in
 * between: else the program waits for the work, not for the upload. Launches
 * of other threads count in the same number, so equal lines decide first.
 */
static bool is_pair(const struct walk *walk, const struct sy_event *copy, const struct sy_event *next)
{
	if (role(walk, next) != ROLE_WAIT_STREAM || !is_executed(next) || next->stream != copy->stream ||
	    next->sequence != copy->sequence + 1)
		return false;
	if (direction_of(copy) == SY_COPY_D2H)
		return true;
	if (copy->stack && next->stack)
		return copy->stack == next->stack;
	return copy->launches == next->launches;
}

static void take(struct walk *walk, const struct sy_event *event)
{
	const struct sy_event *held = walk->held;

	walk->held = NULL;
	if (held && event->kind == SY_EVENT_CALL && is_pair(walk, held, event)) {
		emit_pair(walk, held, event);
		return;
	}
	if (held)
		emit_alone(walk, held);
	if (event->kind != SY_EVENT_CALL)
		return;
	if (may_be_first(walk, event))
		walk->held = event;
	else
		emit_alone(walk, event);
}

void sy_logical_walk(const struct sy_trace *trace, const struct sy_roles *roles, const struct sy_trace_thread *thread,
                     sy_act_fn *on_act, void *context)
{
	struct walk walk = { trace, roles, thread, on_act, context, NULL };

	for (uint32_t c = 0; c < thread->n_chunks; c++) {
		const struct sy_event *event = thread->chunks[c].events, *end = event + thread->chunks[c].n_events;

		for (; event < end; event++) {
			__builtin_prefetch(event + SY_PREFETCH_EVENTS);
			take(&walk, event);
		}
		sy_chunk_leave(&thread->chunks[c]);
	}
	if (walk.held)
		emit_alone(&walk, walk.held);
}

const char *sy_act_class_name(enum sy_act_class class)
{
	static const char *const names[SY_N_ACT_CLASSES] = {
		[SY_ACT_READBACK] = "readback",
		[SY_ACT_UPLOAD] = "upload",
		[SY_ACT_EXPLICIT] = "explicit",
		[SY_ACT_IMPLICIT] = "implicit",
		[SY_ACT_STAGING] = "staging",
		[SY_ACT_COPY] = "copy",
		[SY_ACT_SET] = "set",
		[SY_ACT_FREE] = "free",
		[SY_ACT_OTHER] = "other",
		[SY_ACT_FAILED] = "failed",
		[SY_ACT_CAPTURED] = "captured",
		[SY_ACT_IN_FLIGHT] = "in_flight",
		[SY_ACT_BACKPRESSURE] = "backpressure",
	};

	return names[class];
}
