/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - an operation that several ranks do together: a collective
 *
 * Each rank submits its part to a stream of its own, in this process or in
 * another. The parts begin when their streams let them; all end together,
 * some time after the last has begun. So when an exchange ends is not known
 * when it is submitted: it is open (open.h). What the ranks are, and how they
 * tell each other, is the business of whoever makes it.
 */
#ifndef SIM_EXCHANGE_H
#define SIM_EXCHANGE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/knobs.h"

enum sim_exchange_state {
	SIM_EXCHANGE_OPEN,   /* some rank has not said when it begins */
	SIM_EXCHANGE_KNOWN,  /* when it ends is known */
	SIM_EXCHANGE_GONE,   /* called off: it ends as it begins, and moves nothing */
	SIM_EXCHANGE_FAILED, /* it can never end: so for the device it fails */
};

/* Device memory that an exchange reads or writes. */
struct sim_region {
	uintptr_t address;
	size_t bytes;
	bool is_known; /* what is read there is what a real device would hold (readback.h); filled in */
};

/* A communicator's last exchange on this rank: they do not overlap, whatever streams they are on. Zero at first. */
struct sim_stream;
struct sim_turn {
	const struct sim_stream *stream;
	uint64_t number;
};

/*
 * The first member of a larger structure. From sim_launch_exchange() on it
 * belongs to the core, which calls, in this order: publish until it is true,
 * ask until it is not OPEN, and end; send between the first two or later, but
 * before receive. send is called only after publish was true, receive only
 * after KNOWN, both with the device's memory as it is at that time.
 */
struct sim_exchange {
	/* Says to the others when this rank's part begins. False: not now, ask again. Core's lock held. */
	bool (*publish)(struct sim_exchange *exchange, uint64_t start_ns);
	/* For KNOWN, *complete_ns is later than all the parts begin. Core's lock held. */
	enum sim_exchange_state (*ask)(struct sim_exchange *exchange, uint64_t *complete_ns);
	/* Takes what this rank gives. May wait in real time. False: the device fails. Lock not held. */
	bool (*send)(struct sim_exchange *exchange);
	/* Takes what the others gave. May wait for their sends in real time, for nothing else. As above. */
	bool (*receive)(struct sim_exchange *exchange);
	/* The last call: frees. Core's lock held. */
	void (*end)(struct sim_exchange *exchange);
	struct sim_turn *turn; /* the core's to read and write, while it has the exchange */
	struct sim_region *reads, *writes;
	unsigned n_reads, n_writes;
};

/* The calling thread's next launch is this exchange; NULL takes back one that none took. True if there was one. */
SIM_EXPORT bool sim_launch_exchange(struct sim_exchange *exchange);

/* Holds the host until that exchange is complete. CUDA_SUCCESS, or the device's failure. Takes the lock. */
SIM_EXPORT CUresult sim_exchange_wait(const struct sim_turn *turn);

/*
 * Looks whether exchanges have become known, and on the virtual clock lets the
 * device run ahead of the program as far as other ranks need what it gives.
 * Returns how many nanoseconds of real time later to come again, even if
 * nothing changed. For a thread that nothing waits for: it may wait for other
 * ranks. Takes the lock.
 */
SIM_EXPORT uint64_t sim_exchange_progress(void);

#endif
