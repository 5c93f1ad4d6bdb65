#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the programs that a recorded program starts get to see of us, and which of them are recorded.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD
	PRELOAD=$BUILD/lib/libsynctally.so
	NEXT=$BUILD/tests/e2e/plugins/nothing.so
	CHILDREN=$BUILD/tests/e2e/children
}

not_under_tsan() { ! nm -D "$BUILD/lib/libsynctally.so" | grep -q __tsan_init || skip "not under ThreadSanitizer: $1"; }

n_traces() { ls ./*.trace 2>/dev/null | wc -l; }

@test "a program's children have the LD_PRELOAD that it would have without us, whichever way they start" {
	for how in exec vfork spawn; do
		[ "$(LD_PRELOAD=$PRELOAD "$CHILDREN" $how env | grep -c ^LD_PRELOAD=)" = 0 ]
		for list in "$PRELOAD:$NEXT:libm.so.6" "$NEXT:$PRELOAD:libm.so.6" "$NEXT:libm.so.6:$PRELOAD" "$NEXT:libm.so.6 $PRELOAD"; do
			[ "$(LD_PRELOAD=$list "$CHILDREN" $how env | grep ^LD_PRELOAD=)" = "LD_PRELOAD=$NEXT:libm.so.6" ]
		done
	done
	[ "$(LD_PRELOAD=$PRELOAD:$NEXT "$CHILDREN" system "env | grep ^LD_PRELOAD=")" = "LD_PRELOAD=$NEXT" ]
}

@test "everything else in their environment stays, in its order" {
	env -i A=1 LD_PRELOAD="$PRELOAD" B=2 SYNCTALLY_SIM=$SYNCTALLY_SIM SYNCTALLY_OUT="$PWD" PATH="$PATH" C= "$CHILDREN" exec env >seen
	env -i A=1 B=2 SYNCTALLY_SIM=$SYNCTALLY_SIM SYNCTALLY_OUT="$PWD" PATH="$PATH" C= "$CHILDREN" exec env >wanted
	cmp seen wanted
}

@test "by default a program that is started by one that is no launcher is not recorded; SYNCTALLY_FOLLOW=1 records it" {
	LD_PRELOAD=$PRELOAD "$CHILDREN" spawn "$CHILDREN" none
	[ "$(n_traces)" = 1 ]
	rm ./*.trace
	SYNCTALLY_FOLLOW=1 LD_PRELOAD=$PRELOAD "$CHILDREN" spawn "$CHILDREN" none
	[ "$(n_traces)" = 2 ]
}

@test "behind shells, env, timeout, make and Python the program is recorded" {
	not_under_tsan "its programs are not built with it"
	printf 'all:\n\t@"%s" none\n' "$CHILDREN" >Makefile
	for before in "sh -c" "env bash -c" "timeout 60 sh -c" "$PYTHON -c 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1], shell=True).returncode)'"; do
		eval "LD_PRELOAD=\$PRELOAD $before '\"$CHILDREN\" none; true'"
		[ "$(n_traces)" = 1 ]
		rm ./*.trace
	done
	LD_PRELOAD=$PRELOAD make all
	[ "$(n_traces)" = 1 ]
}

@test "a compiler that the program starts leaves no trace, and its own children do not load us" {
	not_under_tsan "its programs are not built with it"
	echo 'int main(void) { return 0; }' >a.c
	LD_PRELOAD=$PRELOAD LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loads "$CHILDREN" spawn gcc -o a a.c
	[ "$(n_traces)" = 1 ]
	# cc1, as, collect2 and ld are processes of their own; only the program has loaded the library
	[ "$(ls loads.* | wc -l)" -ge 4 ]
	[ "$(grep -l 'libsynctally.so' loads.* | wc -l)" = 1 ]
}

@test "the status of a child comes back as it is" {
	LD_PRELOAD=$PRELOAD run "$CHILDREN" spawn sh -c 'kill -TERM $$'
	[ "$status" = 143 ]
	run "$BUILD/bin/synctally" run -o "$PWD/rec" -- sh -c 'exit 7'
	[ "$status" = 7 ]
}
