#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench.sh - runs the programs of tests/bench; each prints one JSON document, kept in build/bench

set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
mkdir -p "$BUILD/bench"
found=
for source in tests/bench/*.c; do
	[ -e "$source" ] || continue
	name=$(basename "$source" .c)
	"$BUILD/tests/bench/$name" >"$BUILD/bench/$name.json"
	printf '%s: %s\n' "$name" "$BUILD/bench/$name.json"
	found=yes
done
[ -n "$found" ] || { echo "bench: there are no programs in tests/bench" >&2; exit 2; }
