#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench-sim.sh - what the simulated device costs per call in virtual time, as a table and in build/bench/simulator.json
#
# Goals: 300 ns per launch, 1000 ns per copy or wait.

set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=$(realpath "${BUILD:-build}")
OUT=$BUILD/bench
mkdir -p "$OUT"
"$BUILD/tests/bench/simulator" | awk -v json="$OUT/simulator.json" '
	BEGIN {
		printf "\nthe simulated device, nanoseconds per call\n"
		printf "{\"schema\":\"synctally-bench-sim/1\",\"cases\":[" >json
	}
	{
		printf "%-20s %8.1f  goal %4d\n", $1, $2, $1 == "launch" ? 300 : 1000
		printf "%s{\"name\":\"%s\",\"ns\":%s}", sep, $1, $2 >json
		sep = ","
	}
	END { print "]}" >json }'
printf 'kept in %s\n' "$OUT/simulator.json"
