/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/site.h"

#include "api/site.h"
#include "interposer/compiler.h"
#include "interposer/config.h"
#include "interposer/modules.h"
#include "interposer/python.h"
#include "interposer/state.h"
#include "interposer/undisturbed.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define TABLE_SIZE 32768u
#define TABLE_FULL (TABLE_SIZE / 4 * 3)

/* Open addressing, key 0 is empty. Nothing is ever taken out. */
struct table {
	uint32_t n;
	struct {
		uint64_t key;
		uint32_t id;
	} slots[TABLE_SIZE];
};

/* A lane's own, so that no look-up needs a lock; sparse, since most threads touch little of it. */
struct sy_site_tables {
	struct table stacks, frames, strings, natives, modules;
};

static struct sy_site_tables *tables_of(struct sy_thread *thread)
{
	void *at;

	if (SY_LIKELY(thread->lane.sites))
		return thread->lane.sites;
	at = mmap(NULL, sizeof(struct sy_site_tables), PROT_READ | PROT_WRITE,
	          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at != MAP_FAILED)
		thread->lane.sites = at;
	return thread->lane.sites;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static uint64_t hash_bytes(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	uint64_t hash = bytes + 1;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return mix(hash, bytes) | 1;
}

/* The id under a key; *is_new if it was just given. 0: the table is full. */
static uint32_t find_or_add(struct table *table, uint64_t key, bool *is_new)
{
	uint32_t i = (uint32_t)(key >> 40) % TABLE_SIZE;

	*is_new = false;
	for (; table->slots[i].key; i = (i + 1) % TABLE_SIZE)
		if (SY_LIKELY(table->slots[i].key == key))
			return table->slots[i].id;
	if (table->n == TABLE_FULL)
		return 0;
	*is_new = true;
	table->slots[i].key = key;
	table->slots[i].id = ++table->n;
	return table->slots[i].id;
}

static uint32_t define_string(struct sy_state *state, struct sy_thread *thread, const char *text, size_t bytes)
{
	const struct sy_part part = { text, bytes };
	bool is_new;
	uint32_t id = find_or_add(&thread->lane.sites->strings, hash_bytes(text, bytes), &is_new);

	if (is_new)
		sy_thread_define(state, thread, SY_DEF_STRING, id, &part, 1);
	return id;
}

static uint32_t define_frame(struct sy_state *state, struct sy_thread *thread, const struct sy_python_frame *frame)
{
	bool is_new;
	uint32_t id = find_or_add(&thread->lane.sites->frames, mix(mix(frame->code, frame->instr), frame->stamp) | 1,
	                          &is_new);
	struct sy_python_line line;
	uint32_t payload[4];
	const struct sy_part part = { payload, sizeof(payload) };

	if (!is_new)
		return id;
	sy_python_line(frame, &line);
	payload[0] = define_string(state, thread, line.file, line.file_bytes);
	payload[1] = define_string(state, thread, line.function, line.function_bytes);
	payload[2] = line.line;
	payload[3] = line.first_line;
	sy_thread_define(state, thread, SY_DEF_FRAME, id, &part, 1);
	return id;
}

static SY_COLD void define_stack(struct sy_state *state, struct sy_thread *thread, uint32_t id,
                                 const struct sy_python_frame *frames, unsigned n)
{
	uint32_t payload[SY_PYTHON_DEPTH];
	const struct sy_part part = { payload, n * sizeof(payload[0]) };

	for (unsigned i = 0; i < n; i++)
		payload[i] = define_frame(state, thread, &frames[i]);
	sy_thread_define(state, thread, SY_DEF_STACK, id, &part, 1);
}

uint32_t sy_site_python(struct sy_state *state, struct sy_thread *thread)
{
	struct sy_python_frame frames[SY_PYTHON_DEPTH];
	uint64_t key = 0;
	unsigned n;
	uint32_t id;
	bool is_new;

	if (!(sy_config.stacks & SY_STACKS_PYTHON) || !sy_python_is_ready())
		return 0;
	n = sy_python_walk(frames, SY_PYTHON_DEPTH);
	if (n == 0 || !tables_of(thread))
		return 0;
	for (unsigned i = 0; i < n; i++)
		key = mix(mix(key, frames[i].code ^ frames[i].instr << 1), frames[i].stamp);
	id = find_or_add(&thread->lane.sites->stacks, key | 1, &is_new);
	if (SY_UNLIKELY(is_new))
		define_stack(state, thread, id, frames, n);
	return id;
}

static SY_COLD void define_native(struct sy_state *state, struct sy_thread *thread, uint32_t id, const void *caller)
{
	struct sy_undisturbed saved;
	struct sy_module module;
	struct {
		uint32_t module, zero;
		uint64_t offset;
	} payload = { 0, 0, (uint64_t)(uintptr_t)caller };
	const struct sy_part part = { &payload, sizeof(payload) };

	sy_undisturbed_begin(&saved);
	if (sy_module_of(caller, &module)) {
		const struct sy_part parts[] = { { &module.base, sizeof(module.base) },
			                         { module.path, strlen(module.path) } };
		bool is_new;

		payload.module =
			find_or_add(&thread->lane.sites->modules, hash_bytes(module.path, parts[1].bytes), &is_new);
		payload.offset -= module.base;
		if (is_new)
			sy_thread_define(state, thread, SY_DEF_MODULE, payload.module, parts, 2);
	}
	sy_thread_define(state, thread, SY_DEF_NATIVE, id, &part, 1);
	sy_undisturbed_end(&saved);
}

uint32_t sy_site_native(struct sy_state *state, struct sy_thread *thread, const void *caller)
{
	uint32_t id;
	bool is_new;

	if (!(sy_config.stacks & SY_STACKS_NATIVE) || !tables_of(thread))
		return 0;
	id = find_or_add(&thread->lane.sites->natives, mix(0, (uint64_t)(uintptr_t)caller) | 1, &is_new);
	if (SY_UNLIKELY(is_new))
		define_native(state, thread, id, caller);
	return id;
}

bool synctally_python_frame(unsigned depth, char *file, size_t file_bytes, unsigned *line);

SY_EXPORT bool synctally_python_frame(unsigned depth, char *file, size_t file_bytes, unsigned *line)
{
	struct sy_python_frame frames[SY_PYTHON_DEPTH];
	struct sy_python_line at;
	size_t n;

	if (!sy_python_is_ready() || file_bytes == 0 || sy_python_walk(frames, SY_PYTHON_DEPTH) <= depth)
		return false;
	sy_python_line(&frames[depth], &at);
	n = at.file_bytes < file_bytes - 1 ? at.file_bytes : file_bytes - 1;
	memcpy(file, at.file, n);
	file[n] = '\0';
	*line = at.line;
	return true;
}
