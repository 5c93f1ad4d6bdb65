#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally run: the program is as if run without us, and what comes of its recording.

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	PROGRAM=$BUILD/tests/e2e/random_calls
	cd "$BATS_TEST_TMPDIR"
}

split() {
	status=0
	"$@" >out 2>err || status=$?
}

@test "records, reports on stderr, says where the trace lies, and leaves stdout alone" {
	split "$SYNCTALLY" run -o d --sim=clock=virtual -- "$PROGRAM" 3 2000 2
	cat err
	[ "$status" = 0 ]
	SYNCTALLY_SIM=clock=virtual "$PROGRAM" 3 2000 2 >bare
	cmp out bare
	grep -q '^LINE' err
	grep -q "the trace lies in $PWD/d" err
	[ "$(ls d)" = "$(ls d/*.trace | xargs -n1 basename; echo run.json)" ]
	[[ $(ls d/*.trace) == d/random_calls.*.trace ]]
}

@test "--report puts it on stdout after the program's own" {
	split "$SYNCTALLY" run -o d --sim=clock=virtual --report json -- "$PROGRAM" 3 2000 2
	[ "$status" = 0 ]
	SYNCTALLY_SIM=clock=virtual "$PROGRAM" 3 2000 2 >bare
	head -c "$(stat -c %s bare)" out | cmp - bare
	tail -c +"$(($(stat -c %s bare) + 1))" out >json
	"$SYNCTALLY" report --format json d >again
	cmp <(sed 's/"trace": .*//' json) <(sed 's/"trace": .*//' again)
}

@test "the exit status is the program's" {
	for status_wanted in 0 1 3 77 255; do
		split "$SYNCTALLY" run -o "d$status_wanted" -- sh -c "exit $status_wanted"
		[ "$status" = "$status_wanted" ]
	done
}

@test "128 + n for a signal" {
	split "$SYNCTALLY" run -o d1 -- sh -c 'kill -TERM $$'
	[ "$status" = 143 ]
	split "$SYNCTALLY" run -o d2 -- sh -c 'kill -KILL $$'
	[ "$status" = 137 ]
}

@test "a signal sent to us reaches the program" {
	mkfifo ready
	cat >child <<'SH'
trap 'echo got it; exit 5' TERM
echo >ready
while :; do read -r _ <hold; done
SH
	mkfifo hold
	"$SYNCTALLY" run -o d -- bash child >out 2>err &
	ours=$!
	read -r -t 20 _ <>ready
	kill -TERM $ours
	status=0
	wait $ours || status=$?
	cat err
	[ "$status" = 5 ]
	grep -q 'got it' out
}

@test "a program that is not there: 127, one line, nothing left behind" {
	split "$SYNCTALLY" run -- no-such-program
	cat err
	[ "$status" = 127 ]
	[ "$(wc -l <err)" = 1 ]
	grep -q 'name=no-such-program' err
	[ ! -e synctally.out ]
}

@test "a program that cannot be executed: 126, one line" {
	echo hello >text
	split "$SYNCTALLY" run -o d -- ./text
	[ "$status" = 126 ]
	[ "$(wc -l <err)" = 1 ]
}

@test "no CUDA call: said so, the program's status" {
	split "$SYNCTALLY" run -o d -- true
	[ "$status" = 0 ]
	[ "$(wc -l <err)" = 1 ]
	grep -q 'no CUDA call was seen' err
	[ ! -s out ]
}

@test "a directory with traces of another run is refused" {
	"$SYNCTALLY" run -o d --sim=clock=virtual -- "$PROGRAM" 3 100 1 >/dev/null 2>&1
	ls d >before
	split "$SYNCTALLY" run -o d --sim=clock=virtual -- "$PROGRAM" 3 100 1
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
	[ ! -s out ]
	ls d | cmp - before
}

@test "a directory that cannot be made or written" {
	: >file
	split "$SYNCTALLY" run -o file/d -- true
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
	split "$SYNCTALLY" run -o file -- true
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
}

@test "without -o every run gets a new directory" {
	for n in 1 2 3; do
		"$SYNCTALLY" run --sim=clock=virtual -- "$PROGRAM" 3 100 1 >/dev/null 2>&1
		[ -n "$(ls synctally.out/$n/*.trace)" ]
	done
}

@test "a strange path still gets its trace" {
	split "$SYNCTALLY" run -o 'a %p b' --sim=clock=virtual -- "$PROGRAM" 3 100 1
	cat err
	[ "$status" = 0 ]
	ls 'a %p b'/*.trace
}

@test "the user's own preload stays, behind ours" {
	LD_PRELOAD=$BUILD/lib/sim/libcuda.so.1 split "$SYNCTALLY" run -o d -- sh -c 'echo "$LD_PRELOAD"'
	[[ $(cat out) == */libsynctally.so:$BUILD/lib/sim/libcuda.so.1 || $(cat out) == "$BUILD/lib/sim/libcuda.so.1" ]]
}

@test "what was skipped at the run is skipped in a later report" {
	"$SYNCTALLY" run -o d --skip 7 --steps 9 -- true 2>/dev/null
	grep -q '"skip": 7' d/run.json
	grep -q '"steps": 9' d/run.json
}

@test "wrong words on the command line" {
	for words in "" "--report xml true" "--skip x true" "--steps -3 true" "--nonsense true"; do
		# shellcheck disable=SC2086
		split "$SYNCTALLY" run $words
		cat err
		[ "$status" = 2 ]
		[ ! -s out ]
	done
	[ ! -e synctally.out ]
}

@test "--sim=FILE: settings from a file, found again after a change of directory" {
	mkdir elsewhere
	printf '# a quiet device\nclock=virtual\nkernel_ns=777\n' >device.conf
	split "$SYNCTALLY" run -o d --sim=device.conf,call_ns=1 -- env -C elsewhere "$PROGRAM" 3 2000 2
	cat err
	[ "$status" = 0 ]
	SYNCTALLY_SIM=clock=virtual,kernel_ns=777,call_ns=1 "$PROGRAM" 3 2000 2 >bare
	cmp out bare
	! grep -q 'synctally sim' err
}

@test "--sim with a name that is nothing: said, and the defaults hold" {
	split "$SYNCTALLY" run -o d --sim=h999 -- "$PROGRAM" 3 100 1
	[ "$status" = 0 ]
	grep -q 'no such setting or profile, ignored: name=h999' err
}

@test "--sim-value wants FILE:LINE=INTEGER, and --sim" {
	for value in train.py train.py:3 train.py=3 :3=4 a:1=,b:2=3; do
		split "$SYNCTALLY" run --sim --sim-value "$value" -- true
		[ "$status" = 2 ]
		grep -q -e '--sim-value' err
	done
	split "$SYNCTALLY" run --sim-value train.py:3=4 -- true
	[ "$status" = 2 ]
	split "$SYNCTALLY" run --sim --sim-value train.py:3=4 --sim-value eval.py:9=1 -- sh -c 'echo "$SYNCTALLY_SIM_VALUES"'
	[ "$(cat out)" = train.py:3=4,eval.py:9=1 ]
}

@test "a mistake in a file of settings is named with its line and the nearest name" {
	printf '# times\nclock=virtual\n\nkernel_nss=5\ncall_ns=99999999999999999999999\nfile=settings\n' >settings
	split "$SYNCTALLY" run -o d --sim=settings -- "$PROGRAM" 3 100 1
	[ "$status" = 0 ]
	grep -q 'settings:4: no such setting or profile, ignored: name=kernel_nss (the nearest is kernel_ns)' err
	grep -q 'settings:5: value not understood, default kept: name=call_ns value=99999999999999999999999' err
	grep -q 'settings:6: a file of settings cannot name another one' err
}
