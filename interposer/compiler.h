/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.h - the GNU attributes the interposer relies on, named for their purpose */
#ifndef SY_INTERPOSER_COMPILER_H
#define SY_INTERPOSER_COMPILER_H

#define SY_EXPORT __attribute__((visibility("default")))
#define SY_COLD __attribute__((noinline, cold))
#define SY_LIKELY(x) __builtin_expect(!!(x), 1)
#define SY_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * initial-exec: a general-dynamic access may allocate on first use, and the
 * allocator may call us back. It takes a few bytes of the loader's static TLS
 * reserve, so keep such variables few and small.
 */
#define SY_TLS __thread __attribute__((tls_model("initial-exec")))

#endif
