#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gpu-check.sh - asks the GPU of this machine about the rules of docs/SYNC-RULES.md
#
#   tests/conformance/gpu-check.sh [--json FILE] [RULE...]
#
# Without a GPU it says so in one line and ends with status 0. The CUDA libraries are those that the loader finds;
# CUDA_HOME, if set, is where it looks last. Else as tests/conformance/main.c.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

program=${BUILD:-build}/tests/conformance/conformance
if [ -n "${CUDA_HOME:-}" ]; then
	export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$CUDA_HOME/lib64
fi

libraries=$(ldd "$program") || exit 2
missing=$(awk '/not found/ { print $1 }' <<<"$libraries" | sort -u | paste -sd' ')
if [ -n "$missing" ]; then
	echo "skipped: no GPU to ask: the loader does not find $missing"
	exit 0
fi
if grep -q libsimcore <<<"$libraries"; then
	echo "skipped: no GPU to ask: the loader finds the simulated device"
	exit 0
fi
"$program" "$@"
status=$?
[ "$status" = 77 ] && exit 0
exit "$status"
