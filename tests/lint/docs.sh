#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generated pages are what the tables make of them.
. "$(dirname "$0")/lib.bash"

check "docs/API-COVERAGE.md is up to date: make docs" \
	"$("${PYTHON:-python3}" scripts/api_coverage.py "$BUILD/lib/libsynctally.so" 2>&1 | diff docs/API-COVERAGE.md - 2>&1)"
check "docs/SIM-COVERAGE.md is up to date: make docs" \
	"$("${PYTHON:-python3}" scripts/sim_coverage.py "$BUILD/lib/sim" 2>&1 | diff docs/SIM-COVERAGE.md - 2>&1)"
finish
