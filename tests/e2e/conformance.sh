#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules of docs/SYNC-RULES.md, asked of the simulated device; each row of tests/conformance/rules.def is a test.

export SYNCTALLY_SIM=clock=virtual,kernel_ns=50000000 LD_LIBRARY_PATH=$BUILD/lib/sim
exec "$BUILD/tests/conformance/conformance" --tap
