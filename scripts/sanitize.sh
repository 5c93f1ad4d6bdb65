#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sanitize.sh - runs tests in two more build trees
#
#   build/asan   unit tests and kept fuzz inputs, under AddressSanitizer and UndefinedBehaviorSanitizer
#   build/tsan   the C programs of tests/e2e, under ThreadSanitizer: the programs, the preload library
#                and the simulated device are all built with it, so that it sees every access
#
# Closes, as the tests do, with one line of totals.

set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL

build_with() { # TREE SANITIZERS
	make -j"$(nproc)" BUILD="build/$1" CFLAGS="-O1 -g -fno-omit-frame-pointer" SAN="$2" test-programs >"build/$1.log" 2>&1 ||
		{ grep -E 'error|\*\*\*' "build/$1.log" | head -20 >&2; exit 1; }
}

mkdir -p build
build_with asan "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
build_with tsan "-fsanitize=thread"

# The sanitizer's dlopen stands between a test and its own search path. One test is about a program that ends by SIGSEGV.
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=exitcode=66:handle_segv=0
asan=$(LD_LIBRARY_PATH=$PWD/build/asan/lib/sim BUILD=build/asan scripts/run-tests.sh unit fuzz)
asan_status=$?
tsan=$(BUILD=build/tsan scripts/run-tests.sh e2e)
tsan_status=$?

printf '%s\n' "$asan" "$tsan" | grep -vE '^[0-9]+ passed, [0-9]+ failed$'
printf '%s\n%s\n' "$(tail -1 <<<"$asan")" "$(tail -1 <<<"$tsan")" |
	awk '{ passed += $1; failed += $3 } END { print passed " passed, " failed " failed" }'
exit $((asan_status || tsan_status))
