#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Threads, forked children, workers, signal handlers: the program goes as without us, and each process has an account.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=kernel_ns=0,latency_ns=0
	PRELOAD=$BUILD/lib/libsynctally.so
}

# ThreadSanitizer changes what some tests are about.
not_under_tsan() { ! nm -D "$BUILD/lib/libsynctally.so" | grep -q __tsan_init || skip "not under ThreadSanitizer: $1"; }

# both PROGRAM ARGUMENT...: bare and recorded, with the same output; leaves a trace and a ledger per process that calls
both() {
	local program=$1
	shift
	"$BUILD/tests/e2e/$program" "$@" >bare.out 2>bare.err
	SYNCTALLY_SIM_LEDGER=$PWD/%p.ledger SYNCTALLY_OUT=$PWD/%p.trace LD_PRELOAD=$PRELOAD \
		"$BUILD/tests/e2e/$program" "$@" >recorded.out 2>recorded.err
	cat recorded.out recorded.err
	cmp bare.out recorded.out
	cmp bare.err recorded.err
}

equal_to_ledgers() {
	local trace n=0
	for trace in *.trace; do
		run "$BUILD/bin/synctally" sim-diff "${trace%.trace}.ledger" "$trace"
		echo "$trace: $output"
		[ "$status" = 0 ]
		n=$((n + 1))
	done
	[ "$n" = "$1" ]
}

# events TRACE: how many, and whether any number is missing or any event unfinished
events() {
	"$BUILD/bin/synctally" dump "$1" |
		awk -F'\t' 'NR > 2 { n++; gaps += $3 != n; open += $11 == "-" } END { print n, gaps + 0, open + 0 }'
}

@test "10,000 short threads: told apart, in the space of a few" {
	both life threads 10000
	equal_to_ledgers 1
	[ "$(stat -c %s ./*.trace)" -lt 4000000 ]
	"$BUILD/bin/synctally" report --format json ./*.trace >report.json
	grep -q '"threads": *10000' report.json
	grep -q '"discarded_events": *0' report.json
}

@test "children forked while threads call: an account of their own, the parent's is whole" {
	both life forks 8
	equal_to_ledgers 5
}

@test "workers that end by SIGTERM leave no trace, and their parent goes on" {
	both life workers
	[ "$(grep -c 'signal 15' recorded.out)" = 8 ]
	equal_to_ledgers 1
}

@test "a shell sees 143 of a program that SIGTERM ends" {
	SYNCTALLY_OUT=$PWD/run.trace LD_PRELOAD=$PRELOAD "$BUILD/tests/e2e/life" wait >out &
	until grep -q waiting out; do :; done
	kill $!
	status=0
	wait $! || status=$?
	[ "$status" = 143 ]
	[ "$(events run.trace)" = "1 0 0" ]
}

@test "threads with a stack of 16 KiB" {
	both life stacks 16384
	equal_to_ledgers 1
}

@test "signal handlers that call CUDA at any moment" {
	not_under_tsan "it delivers signals late"
	export LD_PRELOAD=$BUILD/tests/e2e/plugins/nothing.so
	"$BUILD/tests/e2e/signals" timer 20000 >bare.out
	SYNCTALLY_OUT=$PWD/run.trace LD_PRELOAD="$PRELOAD $LD_PRELOAD" "$BUILD/tests/e2e/signals" timer 20000 >recorded.out
	unset LD_PRELOAD
	cmp bare.out recorded.out
	[[ "$(cat recorded.out)" == "0 bad;"*"handler: ran" ]]
	read -r n gaps open <<<"$(events run.trace)"
	echo "events=$n gaps=$gaps open=$open"
	[ "$n" -ge 41250 ] && [ "$gaps" = 0 ] && [ "$open" = 0 ]
}

@test "the first call of a process allocates nothing, so that a handler may make it in the middle of malloc" {
	not_under_tsan "malloc is the sanitizer's"
	LD_PRELOAD="$PRELOAD $BUILD/tests/e2e/plugins/nothing.so" SYNCTALLY_OUT=$PWD/run.trace "$BUILD/tests/e2e/first_call" >out
	[ "$(cat out)" = 0 ]
	read -r n gaps open <<<"$(events run.trace)"
	[ "$n" = 1 ]
}

@test "signal handlers that fork inside a call, and children that return into it" {
	not_under_tsan "it delivers signals late"
	export LD_PRELOAD=$BUILD/tests/e2e/plugins/nothing.so
	"$BUILD/tests/e2e/signals" fork 25 >bare.out
	SYNCTALLY_OUT=$PWD/%p.trace LD_PRELOAD="$PRELOAD $LD_PRELOAD" "$BUILD/tests/e2e/signals" fork 25 >recorded.out
	unset LD_PRELOAD
	cmp bare.out recorded.out
	[[ "$(cat recorded.out)" == "0 bad; 50 children, 0 bad;"* ]]
	ls ./*.trace >traces
	[ "$(wc -l <traces)" = 51 ]
	while read -r trace; do
		read -r n gaps open <<<"$(events "$trace")"
		echo "$trace: events=$n gaps=$gaps open=$open"
		[ "$gaps" = 0 ] && [ "$open" = 0 ]
		# What its parent had waited for does not count for the child: it waits for its own launches, once for each.
		"$BUILD/bin/synctally" dump "$trace" | awk -F'\t' 'NR > 2 && $4 == "call" { n[$12]++ } END { exit !(n[0] && n[1]) }'
	done <traces
	# The parent's: 50 waits and 2 steps, no more and no less.
	"$BUILD/bin/synctally" dump "$(ls -S ./*.trace | head -1)" |
		awk -F'\t' 'NR > 2 { n[$4]++ } END { exit !(n["call"] == 50 && n["step"] == 2) }'
}

@test "a stream's handle that comes again is not taken for the stream that got its place" {
	SYNCTALLY_OUT=$PWD/run.trace LD_PRELOAD="$PRELOAD $BUILD/tests/e2e/plugins/nothing.so" "$BUILD/tests/e2e/handles"
	run bash -c '"$BUILD/bin/synctally" dump run.trace | awk -F"\t" "NR > 2 { print \$8, \$12 }"'
	echo "$output"
	[ "$output" = "$(printf '0x1000 0\n0x2000 0\n0x1000 1')" ]
}

@test "a thread that is to be cancelled gets through its call, and leaves nothing locked" {
	not_under_tsan "it delivers signals late"
	SYNCTALLY_OUT=$PWD/run.trace LD_PRELOAD="$PRELOAD $BUILD/tests/e2e/plugins/nothing.so" \
		run timeout 60 "$BUILD/tests/e2e/signals" cancel
	[ "$output" = "0 bad; the call has returned: 1, the thread was cancelled: 1" ]
	[ "$("$BUILD/bin/synctally" dump run.trace | grep -c "	call	")" = 2 ]
}
