/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - the only way the simulated device talks to a person
 */
#ifndef SIM_SAY_H
#define SIM_SAY_H

#include "sim/knobs.h"

/* One line on stderr, with the program's name in front; one write(2), errno kept. Any thread. */
SIM_EXPORT void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Says, once per name, that the simulated device lacks the function. The name
 * must outlive the process's use of the library (a literal). Any thread.
 */
SIM_EXPORT void sim_refuse(const char *api);

#endif
