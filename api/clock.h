/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the symbols through which a simulated device lends its clock and
 *           owns up to what it made up
 *
 * A process in which this symbol is defined runs in virtual time: host time
 * passes only in simulated CUDA calls. The interposer looks it up once, with
 * dlsym, before its first event, and stamps events with it instead of the
 * machine's clock. It may return 0 to say "use the machine's clock after all".
 */
#ifndef SY_API_CLOCK_H
#define SY_API_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds since the start of the process, never going back. Any thread, no lock, no allocation. */
#define SY_VIRTUAL_CLOCK_SYMBOL "synctally_virtual_clock_ns"
typedef uint64_t (*sy_virtual_clock_fn)(void);

/*
 * A second symbol, of a device whose kernels do not compute: whether the last
 * copy to the host by the calling thread showed the program something made up.
 * Right after the copy has returned, on the thread that made it.
 */
#define SY_MADE_UP_SYMBOL "synctally_made_up"
typedef bool (*sy_made_up_fn)(void);

#endif
