/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - which of the program's children are recorded too
 *
 * LD_PRELOAD goes from a program to all that it starts. Launchers (shells,
 * Python, mpirun; launchers.def) hand us on, or a trainer behind them would not
 * be seen. Any other program has us out of its LD_PRELOAD before its main, so
 * that its children start as if we were not there; whatever else LD_PRELOAD
 * holds stays, to the byte.
 */
#ifndef SY_INTERPOSER_FOLLOW_H
#define SY_INTERPOSER_FOLLOW_H

#include <stdbool.h>

/* Before main, while there is one thread. `all`: hand on, whatever this program is. */
void sy_follow_init(bool all);

/* True if `name` is that of a launcher. */
bool sy_follow_is_launcher(const char *name);

/*
 * Takes every entry out of the list that names the file `own`, in place, each
 * with one separator beside it (blank or colon, as the loader has it). True if
 * nothing but separators is left.
 */
bool sy_follow_take_out(char *list, const char *own);

#endif
