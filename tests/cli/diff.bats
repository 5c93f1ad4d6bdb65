#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally diff: formats, exit statuses, bad input.

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	DATA=$BATS_TEST_DIRNAME/../data
	cd "$BATS_TEST_TMPDIR"
}

split() {
	status=0
	"$@" >out 2>err || status=$?
}

# One line on standard error (and one that tells where help is), nothing on standard output, status 2.
refused() {
	cat err
	[ "$status" = 2 ]
	[ ! -s out ]
	[ "$(grep -vc 'tells how it is used$' err)" = 1 ]
	[[ $(head -1 err) == synctally:\ * ]]
}

# recorded DIR [SETTING...]: twelve steps of the example trainer
recorded() {
	local dir=$1 IFS=,
	shift
	"$SYNCTALLY" run -o "$dir" --sim="clock=virtual${*:+,$*}" --skip 2 -- "$BUILD/examples/trainer" 12 >/dev/null 2>&1
}

@test "the same program twice: no difference, byte for byte the same in every format" {
	recorded a
	recorded b
	for format in text json md; do
		split "$SYNCTALLY" diff a b --format $format
		[ "$status" = 0 ]
		[ ! -s err ]
		cp out first
		"$SYNCTALLY" diff b a --format $format >second
		cmp first second
	done
	split "$SYNCTALLY" diff a b
	[[ $(head -1 out) == "No difference: "* ]]
	"$SYNCTALLY" diff a b --format json | "$PYTHON" -c '
import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "synctally-diff/1" and d["verdict"] == "same" and not d["moves"], d
assert d["a"]["steps"] == 10 and all(site["change"] == "none" for site in d["sites"])'
}

@test "directories and traces are the same thing" {
	recorded a
	recorded b latency_ns=90000
	"$SYNCTALLY" diff a b >1
	"$SYNCTALLY" diff a/*.trace b/ >2
	cmp 1 2
	grep -q 'B: 10 steps' 1
}

@test "a slower device is worse: status 0, and 1 where it is asked for" {
	recorded a latency_ns=10000
	recorded b latency_ns=90000
	split "$SYNCTALLY" diff a b
	[ "$status" = 0 ]
	[[ $(head -1 out) == "Worse: as many syncs as before"*"more"* ]]
	split "$SYNCTALLY" diff a b --fail-on-regression
	[ "$status" = 1 ]
	split "$SYNCTALLY" diff b a --fail-on-regression
	[ "$status" = 0 ]
	[[ $(head -1 out) == "Better: "* ]]
	split "$SYNCTALLY" diff a b --fail-on-regression --tolerance 99
	[ "$status" = 0 ]
}

@test "--skip and --steps hold for both" {
	recorded a
	split "$SYNCTALLY" diff a a --skip 5 --steps 3
	[ "$status" = 0 ]
	grep -q '^A: 3 steps. B: 3 steps.' out
}

@test "a trace with gaps: compared, status 3" {
	split "$SYNCTALLY" diff "$DATA/v1/mixed.trace" "$DATA/v1/mixed.trace"
	[ "$status" = 3 ]
	grep -q '^A: 2 events discarded' out
}

@test "a run with steps and one without are not comparable: status 3" {
	recorded a
	SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD/b.trace LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/random_calls" 5 200 1 >/dev/null
	split "$SYNCTALLY" diff a b.trace
	[ "$status" = 3 ]
	[ ! -s out ]
	grep -q 'not comparable: only A has steps' err
}

@test "wrong words on the command line" {
	recorded a
	for words in "" "a" "a a a" "a a --format html" "a a --tolerance x" "a a --tolerance 101" "a a --tolerance" "a a --skip x" \
		"a a --steps -1" "a a --nonsense" "a nowhere" "nowhere a"; do
		# shellcheck disable=SC2086
		split "$SYNCTALLY" diff $words
		refused
	done
	: >empty.trace
	split "$SYNCTALLY" diff a empty.trace
	refused
	mkdir d
	split "$SYNCTALLY" diff d a
	refused
}

@test "output that cannot be written: one line, status 2" {
	recorded a
	for format in text json md; do
		status=0
		"$SYNCTALLY" diff a a --format $format >/dev/full 2>err || status=$?
		cat err
		[ "$status" = 2 ]
		[ "$(wc -l <err)" = 1 ]
	done
	"$SYNCTALLY" diff a a 2>err | true
	[ ! -s err ]
}
