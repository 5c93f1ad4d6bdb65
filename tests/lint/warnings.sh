#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything compiles and links without a warning, with gcc and with clang.
. "$(dirname "$0")/lib.bash"

# gcc also checks what it can see only while optimising; clang is quicker without.
for compiler in "gcc -O2" "clang -O1"; do
	read -r cc level <<<"$compiler"
	output=$(make -k -j"$(nproc)" BUILD="build/lint-$cc" CC="$cc" CFLAGS="$level -g -Werror" test-programs 2>&1)
	status=$?
	complaints=$(grep -E 'warning:|error:|undefined reference|\*\*\*' <<<"$output")
	[ "$status" = 0 ] || [ -n "$complaints" ] || complaints=$output
	check "no warning from $cc" "$complaints"
done
finish
