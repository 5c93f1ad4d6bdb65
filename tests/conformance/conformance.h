/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance.h - one question per rule of docs/SYNC-RULES.md, asked of whatever CUDA device the loader finds
 *
 * Uses the public runtime and driver API only, so that the same program runs on
 * a GPU and on the simulated device. How the device is kept busy and what
 * counts as waiting: device.c and ask.c. Everything is called by the main
 * thread unless a function says otherwise.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONF_KIB = 1 << 10, CONF_MIB = 1 << 20 };

/* CONF_MAY is an expectation only: the documents leave it open. CONF_UNCLEAR is an observation only. */
enum conf_answer { CONF_NO, CONF_YES, CONF_MAY, CONF_UNCLEAR };

/* WAIT: does the host wait? ORDER: do two kernels run one after the other? FACT: is it as the row says? */
enum conf_question { CONF_WAIT, CONF_ORDER, CONF_FACT };

/* The stream that is kept busy. */
enum conf_busy { CONF_LEGACY, CONF_PER_THREAD, CONF_BLOCKING, CONF_NONBLOCKING };

enum conf_verdict { CONF_OK, CONF_DIFFERS, CONF_IS_UNCLEAR, CONF_SKIPPED };

/* The device, and memory and streams to use. The buffers hold CONF_MIB bytes each. */
struct conf {
	bool is_simulated;
	uint64_t (*virtual_clock)(void); /* NULL on hardware */
	uint64_t spin_ns;                /* what the busy kernel is asked to take */
	uint64_t busy_ns;                /* what it takes, by the device's own events */
	CUmodule module;
	CUfunction spin;
	cudaStream_t blocking[2], nonblocking[2];
	cudaEvent_t event, marks[2]; /* marks measure time */
	char *device[2], *pinned[2], *pageable[2];
	char *managed; /* NULL: not supported */
	char *readback;
	bool has_pools;
	void *scratch; /* what a row allocates for the call it asks about */
	char name[256];
	int capability, driver_version, runtime_version;
};

/* What was seen of one row. */
struct conf_seen {
	enum conf_answer answer;
	bool has_failed;     /* a call of CUDA's failed that should not; text says which */
	bool is_unsupported; /* the device cannot do what the row is about */
	bool is_broken;      /* another promise of the same rule was not kept; text says which */
	bool has_ns;
	uint64_t ns; /* host time blocked, or device time between two kernels */
	char text[160];
};

/* One call whose waiting is asked about. Each part may be NULL but the call. */
struct conf_call {
	cudaError_t (*prepare)(struct conf *c, size_t arg);                   /* device idle; not timed */
	cudaError_t (*behind)(struct conf *c, cudaStream_t busy, size_t arg); /* submitted behind the busy kernel */
	cudaError_t (*call)(struct conf *c, size_t arg);                      /* timed */
	const char *(*check)(struct conf *c, size_t arg);                     /* NULL, or the promise not kept */
};

/* A row that measures for itself. */
typedef void (*conf_test_fn)(struct conf *c, size_t arg, struct conf_seen *seen);

struct conf_rule {
	const char *rule, *what;
	enum conf_question question;
	enum conf_answer documented;
	enum conf_answer
		simulated; /* what the simulated device's settings say by default; counts if documented is MAY */
	enum conf_busy busy;
	const struct conf_call *call;
	conf_test_fn test;
	size_t arg;
};

extern const struct conf_rule conf_rules[];
extern const size_t conf_n_rules;

/* ---- device.c ---- */

enum conf_opened { CONF_OPENED, CONF_NO_DEVICE, CONF_UNUSABLE };

/* Opens device 0 and measures the busy kernel. On failure text says why. */
enum conf_opened conf_open(struct conf *c, uint64_t spin_ns, char *text, size_t text_bytes);
void conf_close(struct conf *c);

/* Now, in nanoseconds, on the clock that passes while the host waits. Any thread. */
uint64_t conf_now(const struct conf *c);

cudaStream_t conf_stream(const struct conf *c, enum conf_busy which);

/* Launches the busy kernel; it runs for busy_ns. Any thread. */
cudaError_t conf_occupy(const struct conf *c, cudaStream_t stream);

/* Launches a kernel that is done at once on hardware; the simulated device gives every kernel the same time. */
cudaError_t conf_launch_brief(CUfunction function, cudaStream_t stream);

/* The busy kernel as a new module. */
cudaError_t conf_load(CUmodule *module, CUfunction *function);

/* ---- ask.c ---- */

/* Asks one row, again if the answer was unclear. Leaves the device idle. */
void conf_ask(struct conf *c, const struct conf_rule *rule, struct conf_seen *seen);

/* YES from half of the busy time on, NO up to a fifth of it, UNCLEAR between. */
enum conf_answer conf_answer_of_ns(const struct conf *c, uint64_t ns);
void conf_answer_ns(const struct conf *c, struct conf_seen *seen, uint64_t ns);

/* The same; that the host went on is believed only if the device was busy still. */
void conf_answer_while(const struct conf *c, struct conf_seen *seen, uint64_t ns, bool is_still_busy);

/* A call of no interest in itself failed: notes it and returns true. */
bool conf_failed(struct conf_seen *seen, const char *what, cudaError_t error);

/* For tests, which return nothing. Result codes have the same numbers on both sides of CUDA. */
#define CONF_TRY(seen, call)                                                                                           \
	do {                                                                                                           \
		if (conf_failed(seen, #call, (cudaError_t)(call)))                                                     \
			return;                                                                                        \
	} while (0)

/* ---- judge.c ---- */

enum conf_verdict conf_judge(const struct conf *c, const struct conf_rule *rule, const struct conf_seen *seen);
void conf_expected_text(const struct conf *c, const struct conf_rule *rule, char *text, size_t bytes);
void conf_seen_text(const struct conf *c, const struct conf_rule *rule, const struct conf_seen *seen, char *text,
                    size_t bytes);
const char *conf_answer_word(enum conf_question question, enum conf_answer answer);
const char *conf_verdict_word(enum conf_verdict verdict);

/* ---- per_thread.c: the spellings for per-thread default streams ---- */

cudaError_t conf_ptsz_occupy(const struct conf *c);
cudaError_t conf_ptsz_synchronize_0(void);
cudaError_t conf_ptds_copy(void *to, const void *from, size_t bytes);

/* ---- the rules' own functions, rules_*.c ---- */
#define WAIT(rule, what, documented, simulated, busy, name, arg) extern const struct conf_call conf_##name;
#define TEST(rule, what, question, documented, simulated, name, arg)                                                   \
	void conf_##name(struct conf *c, size_t n, struct conf_seen *seen);
#include "tests/conformance/rules.def"
#undef WAIT
#undef TEST

#endif
