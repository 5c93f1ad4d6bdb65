/* SPDX-License-Identifier: Apache-2.0 */
#include "interposer/state.h"

#include "api/api.h"
#include "interposer/clock.h"
#include "interposer/compiler.h"
#include "interposer/config.h"
#include "interposer/dl.h"
#include "interposer/log.h"
#include "interposer/out.h"
#include "interposer/step.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef SY_VERSION
#define SY_VERSION "unknown"
#endif

struct sy_state *sy_state;

int sy_state_create(void)
{
	void *at = mmap(NULL, sizeof(struct sy_state), PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return errno;
	/* Without it a child would write into its parent's trace: better not to trace at all. */
	if (madvise(at, sizeof(struct sy_state), MADV_WIPEONFORK) != 0) {
		int error = errno;

		munmap(at, sizeof(struct sy_state));
		return error;
	}
	sy_state = at;
	return 0;
}

/* Mutex held. */
static void define_api(struct sy_state *state)
{
	for (unsigned i = 0; i < SY_N_CLASSES; i++) {
		const struct sy_class_desc *class = &sy_class_desc[i];
		const struct sy_part parts[] = { { class->name, strlen(class->name) + 1 },
			                         { class->label, strlen(class->label) } };

		sy_writer_define(&state->writer, NULL, SY_DEF_CLASS, i + 1, parts, 2);
	}
	for (unsigned i = 0; i < SY_N_API; i++) {
		const struct sy_api_desc *api = &sy_api_desc[i];
		const struct {
			uint32_t class;
			uint8_t lib, is_per_thread;
			uint16_t zero;
		} fixed = { api->class + 1u, (uint8_t)api->lib, api->is_per_thread, 0 };
		const struct sy_part parts[] = { { &fixed, sizeof(fixed) }, { api->name, strlen(api->name) } };

		sy_writer_define(&state->writer, NULL, SY_DEF_API, i + 1, parts, 2);
	}
}

static bool start(struct sy_state *state)
{
	struct sy_file_header header = { .pid = (uint32_t)getpid(),
		                         .rank = sy_config.rank,
		                         .local_rank = sy_config.local_rank,
		                         .world_size = sy_config.world_size,
		                         .writer = "synctally " SY_VERSION };
	int error;

	sy_clock_choose();
	header.clock_kind = sy_clock_kind;
	sy_clock_read(&header.start);
	if (gethostname(header.host, sizeof(header.host) - 1) != 0)
		memcpy(header.host, "unknown", sizeof("unknown"));
	error = sy_out_open(&state->writer, &header);
	if (error) {
		sy_state_stop(state, "cannot write the trace", error);
		return false;
	}
	define_api(state);
	sy_out_note_process(state);
	__atomic_store_n(&state->phase, SY_PHASE_TRACING, __ATOMIC_RELEASE);
	return true;
}

bool sy_state_start(struct sy_state *state)
{
	uint32_t phase = __atomic_load_n(&state->phase, __ATOMIC_ACQUIRE);
	bool is_tracing;

	if (SY_LIKELY(phase != SY_PHASE_FRESH))
		return phase == SY_PHASE_TRACING;
	pthread_mutex_lock(&state->mutex);
	is_tracing = state->phase == SY_PHASE_FRESH ? start(state) : state->phase == SY_PHASE_TRACING;
	pthread_mutex_unlock(&state->mutex);
	if (!sy_dl_is_child())
		sy_step_poke_python();
	return is_tracing;
}

void sy_state_stop(struct sy_state *state, const char *what, int error)
{
	char number[SY_LOG_NUMBER_BYTES];

	if (__atomic_exchange_n(&state->phase, SY_PHASE_STOPPED, __ATOMIC_ACQ_REL) == SY_PHASE_STOPPED)
		return;
	sy_log(what, " ", sy_out_path(state), ": ", sy_log_reason(error), " (errno ", sy_log_number(number, error),
	       "); the program goes on, events from here on are counted as discarded");
}

void sy_state_discard(struct sy_state *state)
{
	if (state->writer.header)
		__atomic_fetch_add(&state->writer.header->discarded_events, 1, __ATOMIC_RELAXED);
}

void sy_state_note(struct sy_state *state, const char *key, const char *value)
{
	const struct sy_part parts[] = { { key, strlen(key) + 1 }, { value, strlen(value) } };

	sy_writer_define(&state->writer, NULL, SY_DEF_META, 1, parts, 2);
}
