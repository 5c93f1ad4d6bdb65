#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A CUDA runtime inside the program (NVlabs/NVBit #134, NVIDIA/cudf #14566 and #22214, openucx/ucx #6038).

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual LD_LIBRARY_PATH=$BUILD/lib/sim
	# The device is there from the start, so that its clock is the trace's.
	export PRELOAD=$BUILD/lib/libsynctally.so:$BUILD/lib/sim/libcuda.so.1
}

counts() { # PROGRAM
	LD_PRELOAD=$PRELOAD SYNCTALLY_OUT=$PWD/$1.trace SYNCTALLY_SIM_LEDGER=$PWD/$1.ledger "$BUILD/tests/e2e/static/$1" >"$1.out"
	"$BUILD/bin/synctally" report "$1.trace" --format json | "$PYTHON" -c '
import json, sys
for name, value in json.load(sys.stdin)["per_step"].items():
    if not name.endswith("_ns"):
        print(name, value["min"], value["max"])'
}

@test "the same counts with the runtime as a library, linked in, and linked in and stripped" {
	counts shared >shared.counts
	counts static >static.counts
	counts stripped >stripped.counts
	grep -qx "syncs 5 5" shared.counts
	grep -qx "readbacks 3 3" shared.counts
	grep -qx "drains 2 2" shared.counts
	cmp shared.counts static.counts
	cmp shared.counts stripped.counts
	"$BUILD/tests/e2e/static/static" >bare.out
	cmp bare.out static.out
	cmp bare.out shared.out
}

@test "every wait is in the device's own account as well" {
	for program in static stripped; do
		counts $program >/dev/null
		run "$BUILD/bin/synctally" sim-diff $program.ledger $program.trace
		[ "$status" = 0 ]
	done
}
