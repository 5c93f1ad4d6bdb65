/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/coverage.h"

#include "interposer/compiler.h"
#include "interposer/state.h"
#include "interposer/undisturbed.h"
#include "trace/blind.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBRARY "libsynctally.so" /* the file name that we are loaded by */
#define MAX_NAMED 64              /* objects that go past us; the report needs no more */

/* A look that must not wait leaves out what it cannot note at once. */
static void note(struct sy_state *state, const char *key, const char *value)
{
	if (!state->coverage.may_wait) {
		if (pthread_mutex_trylock(&state->mutex) != 0)
			return;
	} else {
		pthread_mutex_lock(&state->mutex);
	}
	sy_state_note(state, key, value);
	pthread_mutex_unlock(&state->mutex);
}

static void note_unchecked(struct sy_state *state, const char *why)
{
	if (!state->coverage.is_unchecked)
		note(state, "blind_unchecked", why);
	state->coverage.is_unchecked = true;
}

static void note_object(void *context, const char *path, const char *function)
{
	struct sy_state *state = context;
	unsigned n = state->coverage.n_blind;
	char key[] = "blind.\0\0";

	(void)function;
	if (n == MAX_NAMED)
		return;
	key[6] = (char)('0' + (n < 10 ? n : n / 10));
	if (n >= 10)
		key[7] = (char)('0' + n % 10);
	state->coverage.n_blind++;
	note(state, key, path);
}

static void look(struct sy_state *state)
{
	if (!state->coverage.memory) {
		void *at = mmap(NULL, sizeof(*state->coverage.memory), PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			return;
		state->coverage.memory = at;
	}
	switch (sy_blind_find(state->coverage.memory, getpid(), LIBRARY, note_object, state)) {
	case SY_BLIND_NO_ACCESS:
	case SY_BLIND_NO_LIBRARY:
		note_unchecked(state, "the process may not read its own mappings");
		break;
	case SY_BLIND_PARTLY:
		note_unchecked(state, "more objects are loaded than are looked at");
		break;
	case SY_BLIND_DONE:
		break;
	}
}

static SY_COLD void look_undisturbed(struct sy_state *state, bool may_wait)
{
	struct sy_undisturbed saved;

	sy_undisturbed_begin(&saved);
	if (!__atomic_exchange_n(&state->coverage.is_busy, true, __ATOMIC_ACQUIRE)) {
		state->coverage.may_wait = may_wait;
		look(state);
		__atomic_store_n(&state->coverage.is_busy, false, __ATOMIC_RELEASE);
	}
	sy_undisturbed_end(&saved);
}

void sy_coverage_step(struct sy_state *state, uint64_t n_steps)
{
	if (SY_UNLIKELY((n_steps & (n_steps - 1)) == 0))
		look_undisturbed(state, true);
}

void sy_coverage_end(struct sy_state *state)
{
	look_undisturbed(state, false);
}
