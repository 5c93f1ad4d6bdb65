#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Captures and graphs: what the preload library says of them, and that it does not get in their way.

setup() {
	cd "$BATS_TEST_TMPDIR"
	PRELOAD=$BUILD/lib/libsynctally.so
	export SYNCTALLY_SIM=clock=virtual
}

# record SEED CALLS THREADS: leaves NAME.trace, NAME.ledger and NAME.out with NAME = the seed
record() {
	SYNCTALLY_SIM_LEDGER=$PWD/$1.ledger SYNCTALLY_OUT=$PWD/$1.trace LD_PRELOAD=$PRELOAD \
		"$BUILD/tests/e2e/random_graphs" "$@" >"$1.out"
}

bare() { SYNCTALLY_SIM_LEDGER=$PWD/bare.ledger "$BUILD/tests/e2e/random_graphs" "$@" >bare.out; }

# What of a ledger does not depend on thread numbers and addresses. The times stay.
portable() { cut -f 1,3-5,7- "$1"; }

@test "captures, graph launches and illegal calls: the account equals the ledger, for 20 seeds" {
	for seed in $(seq 1 20); do
		record $seed 6000 $((seed % 6 + 1))
		run "$BUILD/bin/synctally" sim-diff $seed.ledger $seed.trace
		echo "seed $seed: $output"
		[ "$status" = 0 ]
	done
}

@test "the seeds reach what they are for: calls that are refused, in each way" {
	record 3 20000 3
	for status in 900 901 906 907; do
		awk -F'\t' -v s=$status '$14 == s { n++ } END { exit !n }' 3.ledger || { echo "no call with status $status"; false; }
	done
}

@test "results and numbers of nodes do not depend on the preload" {
	for seed in 41 42 43; do
		record $seed 10000 4
		bare $seed 10000 4
		cmp $seed.out bare.out
		rm bare.ledger
	done
}

@test "the library makes no call of its own, in a capture or outside: the program's calls take place at the same times" {
	record 51 10000 4
	bare 51 10000 4
	# In virtual time every call costs something: one more would move all that follow.
	diff <(portable 51.ledger) <(portable bare.ledger)
}

@test "waiting for a capturing stream fails with 900, with and without the preload, and is recorded as failed" {
	SYNCTALLY_SIM_LEDGER=$PWD/w.ledger SYNCTALLY_OUT=$PWD/w.trace LD_PRELOAD=$PRELOAD \
		"$BUILD/tests/e2e/capture" >with.out
	"$BUILD/tests/e2e/capture" >without.out
	cat with.out
	cmp with.out without.out
	grep -qx 'cudaStreamSynchronize while capturing: 900' with.out
	grep -qx 'nodes of a good capture: 4' with.out
	run "$BUILD/bin/synctally" sim-diff w.ledger w.trace
	echo "$output"
	[ "$status" = 0 ]
	run "$BUILD/bin/synctally" report --format json w.trace
	[ "$status" = 0 ]
	# Of the two waits of the program only the one that succeeded is a sync.
	[ "$(jq '[.sites[] | select(.class == "explicit") | .count] | add' <<<"$output")" = 1 ]
}
