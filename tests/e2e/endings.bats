#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# However a program ends: no call that it knows to have finished is missing from the trace.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=kernel_ns=0,latency_ns=0
}

# end_with HOW [CALLS [SEED]]: sets `ended` to the exit status
end_with() {
	rm -f counts ledger run.trace
	ended=0
	SYNCTALLY_SIM_LEDGER=$PWD/ledger SYNCTALLY_OUT=$PWD/run.trace LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/endings" "$1" counts "${@:2}" 2>/dev/null || ended=$?
}

# The finished calls in the trace are at least those that the program counted, and equal the ledger's.
nothing_is_missing() {
	counted=$(od -An -v -t u8 counts | awk '{ for (i = 1; i <= NF; i++) n += $i } END { print n }')
	run "$BUILD/bin/synctally" sim-diff ledger run.trace
	echo "counted=$counted $output"
	[ "$status" = 0 ]
	recorded=$(sed -n 's/^\([0-9]*\) entries equal.*/\1/p' <<<"$output")
	[ "$recorded" -ge "$counted" ]
	[ "$counted" -gt 0 ]
}

@test "return from main" {
	end_with return 4000
	[ "$ended" = 0 ]
	nothing_is_missing
}

@test "exit" {
	end_with exit 4000
	[ "$ended" = 3 ]
	nothing_is_missing
}

@test "_exit" {
	end_with _exit 4000
	[ "$ended" = 4 ]
	nothing_is_missing
}

@test "abort" {
	end_with abort 4000
	[ "$ended" = 134 ]
	nothing_is_missing
}

@test "a fault" {
	end_with segv 4000
	[ "$ended" = 139 ]
	nothing_is_missing
}

@test "SIGKILL at 20 random moments" {
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		end_with kill 20000 $seed
		[ "$ended" = 137 ]
		nothing_is_missing
	done
}
