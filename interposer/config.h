/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what the environment asks of the preload library
 *
 * Read once, before main. Everything in it is constant afterwards.
 */
#ifndef SY_INTERPOSER_CONFIG_H
#define SY_INTERPOSER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum sy_step_mode { SY_STEPS_AUTO, SY_STEPS_TORCH, SY_STEPS_CALL, SY_STEPS_NVTX, SY_STEPS_OFF };
enum sy_stack_mode { SY_STACKS_OFF = 0, SY_STACKS_PYTHON = 1, SY_STACKS_NATIVE = 2, SY_STACKS_BOTH = 3 };

struct sy_config {
	bool is_active;            /* SYNCTALLY: off or trace */
	enum sy_step_mode steps;   /* SYNCTALLY_STEP */
	const char *step_name;     /* what stands behind the colon in SYNCTALLY_STEP; NULL: there is none */
	enum sy_stack_mode stacks; /* SYNCTALLY_STACKS */
	bool follows_all;          /* SYNCTALLY_FOLLOW: children are recorded whoever starts them */
	const char *out; /* SYNCTALLY_OUT: file pattern (%h host, %p pid, %r rank) or directory; NULL: default */
	int rank, local_rank, world_size; /* -1: not known */
};

extern struct sy_config sy_config;

/* Reads the environment. A value we do not know is named once on standard error and its default taken. */
void sy_config_read(void);

#endif
