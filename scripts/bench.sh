#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench.sh - what the preload library adds to a call, as a table and in build/bench/calls.json
#
# The program is tests/bench/calls.c, against a CUDA runtime that does nothing: bare, with the library switched off, with
# it recording ("plain"), and with the native caller of each call as well ("stacks"; there is no Python in it).

set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=$(realpath "${BUILD:-build}")
OUT=$BUILD/bench
PROGRAM=$BUILD/tests/bench/calls
PRELOAD=$BUILD/lib/libsynctally.so

rm -rf "$OUT"
mkdir -p "$OUT"
"$PROGRAM" >"$OUT/bare"
SYNCTALLY=off LD_PRELOAD=$PRELOAD "$PROGRAM" >"$OUT/off"
SYNCTALLY_STACKS=off SYNCTALLY_OUT=$OUT/plain.trace LD_PRELOAD=$PRELOAD "$PROGRAM" >"$OUT/plain"
SYNCTALLY_OUT=$OUT/trace.trace LD_PRELOAD=$PRELOAD "$PROGRAM" >"$OUT/trace"
rm -f "$OUT"/*.trace

paste "$OUT/bare" "$OUT/off" "$OUT/plain" "$OUT/trace" | awk -v cpu="$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" \
	-v json="$OUT/calls.json" '
	BEGIN {
		printf "nanoseconds per call on %s\n%-14s %9s %9s %9s %9s\n", cpu, "", "bare", "+off", "+plain", "+stacks"
		printf "{\"schema\":\"synctally-bench/1\",\"machine\":\"%s\",\"cases\":[", cpu >json
	}
	{
		printf "%-14s %9.1f %9.1f %9.1f %9.1f\n", $1, $2, $4 - $2, $6 - $2, $8 - $2
		printf "%s{\"name\":\"%s\",\"bare_ns\":%s,\"off_ns\":%s,\"plain_ns\":%s,\"stacks_ns\":%s}", sep, $1, $2, $4, $6, $8 >json
		sep = ","
	}
	END { print "]}" >json }'
rm -f "$OUT/bare" "$OUT/off" "$OUT/plain" "$OUT/trace"
printf 'kept in %s\n' "$OUT/calls.json"
