#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# More launches than the queue of a stream holds (stackoverflow question 53970187): never a sync, and every held launch is told.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual
}

# queue ARGUMENT...: records tests/e2e/queue.c; the report's per_step as NAME MIN MAX lines in `steps`
queue() {
	rm -f run.trace run.ledger
	SYNCTALLY_SIM_LEDGER=$PWD/run.ledger SYNCTALLY_OUT=$PWD/run.trace LD_PRELOAD=$BUILD/lib/libsynctally.so "$BUILD/tests/e2e/queue" "$@"
	"$BUILD/bin/synctally" report run.trace --format json | "$PYTHON" -c '
import json, sys
document = json.load(sys.stdin)
for name, value in document["per_step"].items():
    print(name, value["min"], value["max"])
print("total", document["totals"]["backpressure"], document["totals"]["backpressure_ns"])' >steps
	cat steps
}

# held: how many launches the device held, and for how long, by its own account
held() { awk -F'\t' '$4 == "BACKPRESSURE" { n++; ns += $9 } END { print n + 0, ns + 0 }' run.ledger; }

@test "3,000 launches into a queue of 1,024: one sync, and as many held launches as the device says, for as long" {
	queue 3000 3
	grep -qx "syncs 1 1" steps
	grep -qx "drains 1 1" steps
	grep -qx "launches 3000 3000" steps
	read -r n ns <<<"$(held)"
	[ "$n" -gt 5000 ]
	# a launch takes 2,000 ns beside being held
	grep -qx "total $n $((ns + 2000 * n))" steps
	"$BUILD/bin/synctally" sim-diff run.ledger run.trace
}

@test "launches in turn on two streams" {
	queue 3000 2 2
	read -r n ns <<<"$(held)"
	[ "$n" -gt 500 ]
	grep -qx "total $n $((ns + 2000 * n))" steps
	grep -qx "syncs 1 1" steps
}

@test "fewer launches than the queue holds: none is held" {
	for arguments in "900 4" "3000 3 5" "100 50"; do
		queue $arguments
		[ "$(held)" = "0 0" ]
		grep -qx "total 0 0" steps
		grep -qx "syncs 1 1" steps
		grep -qx "drains 1 1" steps
	done
}

@test "a held launch names its line in the report's neighbours: the export" {
	queue 3000 1
	"$BUILD/bin/synctally" export run.trace --to csv >acts.csv
	[ "$(grep -c backpressure acts.csv)" = "$(held | cut -d' ' -f1)" ]
}
