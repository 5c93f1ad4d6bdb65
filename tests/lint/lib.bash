# SPDX-License-Identifier: Apache-2.0
# Shared by the lint checks: each prints TAP, one line per thing it looked at.
# shellcheck shell=bash

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
BUILD=${BUILD:-build}
export LC_ALL=C

tap_count=0
tap_failed=0

# check NAME COMPLAINTS: passes if there is no complaint; shows the first ones.
check() {
	tap_count=$((tap_count + 1))
	if [ -z "$2" ]; then
		printf 'ok %d - %s\n' "$tap_count" "$1"
	else
		tap_failed=$((tap_failed + 1))
		printf 'not ok %d - %s\n' "$tap_count" "$1"
		printf '%s\n' "$2" | head -40 | sed 's/^/# /'
	fi
}

finish() {
	printf '1..%d\n' "$tap_count"
	exit $((tap_failed > 0))
}

# The include folder of the CUDA 13 headers, as the Makefile chooses it.
cuda_include() {
	if grep -qs 'define CUDA_VERSION 13' "${CUDA_HOME:-}/include/cuda.h"; then
		printf '%s\n' "$CUDA_HOME/include"
	else
		printf '%s\n' build/cuda13/include
	fi
}
