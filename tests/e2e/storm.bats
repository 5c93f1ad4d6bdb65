#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Everything at once. SYNCTALLY_TEST_STORM=N: N times as long as usual (12: about a minute).

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=kernel_ns=0,latency_ns=0
	ROUNDS=$((${SYNCTALLY_TEST_STORM:-1} * 600))
	! nm -D "$BUILD/lib/libsynctally.so" | grep -q __tsan_init || ROUNDS=$((ROUNDS / 10))
	PLUGIN=$BUILD/tests/e2e/plugins/calls.so
}

# Thread by thread and call by call: what the ledger says and what the trace says.
accounts() {
	awk -F'\t' -v OFS='\t' 'NR > 2 {
			memory = $4 ~ /^(COPY|SET)_/ ? $11 FS $12 FS $13 : "-" FS "-" FS "-"; print $2, $3, $4, $14, memory, $10 }' "$1" |
		sort -s -n -k1,1 >true
	"$BUILD/bin/synctally" dump "$2" | awk -F'\t' -v OFS='\t' 'NR > 2 && $4 == "call" {
			memory = $6 ~ /^(COPY|SET)_/ ? $13 FS $14 FS $15 : "-" FS "-" FS "-"; print $2, $5, $6, $11, memory, $12 }' |
		sort -s -n -k1,1 >seen
	paste true seen
}

# Fails if anything differs. Only "pending" may, and only where threads race: the recorder may say it too often; and what
# waits for more than the thread's own stream finds there what others submit between the moments at which the two look.
compare() {
	accounts "$1" "$2" | awk -F'\t' '
		{ for (i = 1; i <= 7; i++) differs[NR] += $i != $(i + 8) }
		$4 == 0 && $8 > $16 && $3 == "WAIT_STREAM" { differs[NR]++ }
		differs[NR] && ++n <= 10 { print }
		END { print NR " calls, " n + 0 " differ"; exit n > 0 || NR == 0 }'
}

@test "64 threads, forks, signals, loads and unloads: the same result, and every call in the account" {
	"$BUILD/tests/e2e/storm" "$ROUNDS" 1 "$PLUGIN" >bare.out
	SYNCTALLY_SIM_LEDGER=$PWD/%p.ledger SYNCTALLY_OUT=$PWD/%p.trace LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/storm" "$ROUNDS" 1 "$PLUGIN" >recorded.out 2>recorded.err
	cat bare.out recorded.out recorded.err
	cmp bare.out recorded.out
	[ ! -s recorded.err ]
	# The first to write is the storm itself, its children come after it.
	parent=$(ls -S ./*.trace | head -1)
	compare "${parent%.trace}.ledger" "$parent"
	for trace in ./*.trace; do
		[ "$trace" = "$parent" ] || compare "${trace%.trace}.ledger" "$trace" >child || { cat child; false; }
	done
	"$BUILD/bin/synctally" report "$parent" | grep -q "No event was discarded"
}
