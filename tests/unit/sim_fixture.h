/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_fixture.h - what the tests of the simulated device share
 *
 * A test program runs on the virtual clock and reads its own ledger.
 */
#ifndef SY_TESTS_SIM_FIXTURE_H
#define SY_TESTS_SIM_FIXTURE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct ledger_line {
	unsigned long n;
	char api[64];
	char class[32];
	char stream[16];
	uint64_t enter_ns;
	uint64_t leave_ns;
	uint64_t waited_ns;
	bool is_pending;
	uint64_t bytes;
	char source[16];
	char destination[16];
	int status;
};

/* Call first in main(): settings is SYNCTALLY_SIM, and the ledger goes to a new file that is removed at exit. */
void sim_fixture_start(const char *settings);

/* Initializes the driver and makes the primary context current. */
void sim_fixture_context(void);

/* The last line of the ledger; fails the test if there is none. */
struct ledger_line ledger_last(void);

/* Lines so far, the two of the heading not counted. */
unsigned long ledger_count(void);

/* Fails the test, with the driver's words, unless the call succeeded. */
#define ok(call) sim_fixture_ok((call), #call, __FILE__, __LINE__)
void sim_fixture_ok(CUresult result, const char *call, const char *file, int line);

/* A kernel that only takes time. */
CUfunction sim_fixture_kernel(const char *name);
void sim_fixture_launch(CUfunction kernel, CUstream stream);

#endif
