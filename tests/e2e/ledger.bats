#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the preload library says of a seeded program of random calls, against the simulated device's own ledger.

setup() {
	cd "$BATS_TEST_TMPDIR"
	PRELOAD=$BUILD/lib/libsynctally.so
	export SYNCTALLY_SIM=clock=virtual
}

# record SEED CALLS THREADS: leaves NAME.trace and NAME.ledger with NAME = the seed
record() {
	SYNCTALLY_SIM_LEDGER=$PWD/$1.ledger SYNCTALLY_OUT=$PWD/$1.trace LD_PRELOAD=$PRELOAD \
		"$BUILD/tests/e2e/random_calls" "$@" >"$1.out"
}

# What of a ledger does not depend on thread numbers and addresses.
portable() { cut -f 1,3-5,7- "$1"; }

@test "100,000 calls of 4 threads on 8 streams: the account equals the ledger, entry by entry" {
	record 1 100000 4
	run "$BUILD/bin/synctally" sim-diff 1.ledger 1.trace
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *" entries equal, 0 differ"* ]]
	n=$(sed -n 's/ entries equal, 0 differ.*//p' <<<"$output" | tail -1)
	[ "${n//[!0-9]/}" -gt 30000 ]
}

@test "ten more seeds, with 1 to 10 threads" {
	for seed in 2 3 4 5 6 7 8 9 10 11; do
		record $seed 10000 $((seed - 1))
		run "$BUILD/bin/synctally" sim-diff $seed.ledger $seed.trace
		echo "seed $seed: $output"
		[ "$status" = 0 ]
	done
}

@test "the program's results do not depend on the preload" {
	for seed in 21 22 23; do
		record $seed 20000 4
		"$BUILD/tests/e2e/random_calls" $seed 20000 4 >bare.out
		cmp $seed.out bare.out
	done
}

@test "virtual time: the same program has the same ledger" {
	record 31 20000 4
	SYNCTALLY_SIM_LEDGER=$PWD/again.ledger "$BUILD/tests/e2e/random_calls" 31 20000 4 >/dev/null
	diff <(portable 31.ledger) <(portable again.ledger)
}

@test "sim-diff sees one changed entry" {
	record 41 2000 4
	awk -F'\t' -v OFS='\t' 'NR == 500 { $10 = 1 - $10 } { print }' 41.ledger >changed.ledger
	run "$BUILD/bin/synctally" sim-diff changed.ledger 41.trace
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *" 1 differ"* ]]
}
