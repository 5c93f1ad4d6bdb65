#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally sim-diff: what it finds and what it lets pass, on a ledger changed on purpose.

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	cd "$BATS_TEST_TMPDIR"
	SYNCTALLY_SIM=clock=virtual SYNCTALLY_SIM_LEDGER=$PWD/ledger SYNCTALLY_OUT=$PWD/a.trace \
		LD_PRELOAD=$BUILD/lib/libsynctally.so "$BUILD/tests/e2e/random_calls" 9 1000 1 >/dev/null
	"$SYNCTALLY" sim-diff ledger a.trace >before || true
	differ=$(sed -n 's/.* equal, \([0-9]*\) differ.*/\1/p' before)
}

# changed AWK-PROGRAM: compares the ledger that it makes
changed() {
	awk -F '\t' -v OFS='\t' "$1" ledger >other
	run "$SYNCTALLY" sim-diff other a.trace
	echo "$output"
}

@test "a changed field is found and named" {
	for field in "3 api" "4 class" "11 bytes" "12 source" "13 destination" "14 status"; do
		read -r column name <<<"$field"
		changed "NR == 50 { \$$column = \$$column ~ /^[0-9]/ ? \$$column + 7 : \"other\" } { print }"
		[ "$status" = 1 ]
		[[ $output == *" $((differ + 1)) differ"* || $differ -gt 0 ]]
		[[ $output == *" $name ledger="* ]]
	done
}

@test "a changed duration is found in virtual time" {
	changed 'NR == 50 { $8 += 1 } { print }'
	[ "$status" = 1 ]
	[[ $output == *" duration_ns ledger="* ]]
}

@test "an entry that only the ledger has" {
	changed '{ print } END { $1++; print }'
	[ "$status" = 1 ]
	[[ $output == *"not in the trace"* ]]
}

@test "an entry that only the trace has" {
	sed '$d' ledger >other
	run "$SYNCTALLY" sim-diff other a.trace
	[ "$status" = 1 ]
	[[ $output == *"not in the ledger"* ]]
}

@test "backpressure is not a call of its own" {
	changed '{ print } NR > 2 { $4 = "BACKPRESSURE"; print }'
	[ "$(tail -1 <<<"$output")" = "$(tail -1 before)" ]
}

@test "what is no ledger" {
	for text in "" "hello" "# synctally-ledger/1" $'# synctally-ledger/1\nn\ttid'; do
		printf '%s' "$text" >other
		run "$SYNCTALLY" sim-diff other a.trace
		echo "$output"
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
	done
	run "$SYNCTALLY" sim-diff nowhere a.trace
	[ "$status" = 2 ]
	run "$SYNCTALLY" sim-diff ledger nowhere
	[ "$status" = 2 ]
	run "$SYNCTALLY" sim-diff ledger
	[ "$status" = 2 ]
}
