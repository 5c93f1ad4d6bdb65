#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Where recording cannot begin or go on: one line says so, the program is undisturbed, what is missing is counted.

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SYNCTALLY_SIM=clock=virtual
	LIMITS=$BUILD/tests/e2e/limits
}

# recorded CONDITION FILE [OUT]: leaves the program's output in `out`, what was said in `err`
recorded() { SYNCTALLY_OUT=${3:-$PWD/run.trace} LD_PRELOAD=$BUILD/lib/libsynctally.so "$LIMITS" "$1" "$2" >out 2>err; }

undisturbed() { [ "$(cat "${2:-out}")" = "$1: 0 bad" ]; }

# said TEXT...: exactly one line, with all of these in it
said() {
	cat err
	[ "$(wc -l <err)" = 1 ]
	[[ "$(cat err)" == "synctally: "* ]]
	for text in "$@"; do grep -qF "$text" err; done
}

# How many events the trace has and how many it says were discarded.
counts() {
	"$BUILD/bin/synctally" report --format json "${1:-run.trace}" >report.json || true
	"$PYTHON" - <<-'PY'
		import json

		report = json.load(open("report.json"))
		print(sum(site["count"] for site in report["sites"]), report["discarded_events"])
	PY
}

@test "nothing in the way" {
	recorded nothing x
	undisturbed nothing
	[ ! -s err ]
	[ "$(counts)" = "9001 0" ]
}

@test "no descriptor left" {
	recorded nofile x
	undisturbed nofile
	said run.trace "too many open files" "discarded"
	[ "$(counts)" = "1 9000" ]
}

@test "the limit of file sizes: no SIGXFSZ" {
	recorded fsize x
	undisturbed fsize
	said run.trace "file size limit" "discarded"
	read -r events discarded <<<"$(counts)"
	[ $((events + discarded)) = 9001 ] && [ "$discarded" -gt 0 ]
}

@test "a name that leads to no plain file: nothing is made beside it" {
	mkfifo pipe
	recorded nothing x "$PWD/pipe"
	undisturbed nothing
	said "$PWD/pipe" "not a plain file" "discarded"
	[ "$(ls)" = "$(printf 'err\nout\npipe')" ]
}

@test "the trace is removed" {
	recorded removed run.trace
	undisturbed removed
	said run.trace "was removed" "discarded"
	[ ! -e run.trace ]
}

@test "another file in its place is not touched" {
	recorded replaced run.trace
	undisturbed replaced
	said run.trace "was replaced" "discarded"
	[ "$(cat run.trace)" = "somebody else's" ]
}

@test "another working directory" {
	recorded chdir x run.trace
	undisturbed chdir
	[ ! -s err ]
	[ "$(counts)" = "9001 0" ]
}

@test "all descriptors closed and used otherwise" {
	recorded closed data
	undisturbed closed answer
	[ "$(counts)" = "9001 0" ]
	[ -e data ] && [ ! -s data ]
}

@test "what we have to say does not go into the program's file" {
	recorded closed-removed data
	undisturbed closed-removed answer
	[ -e data ] && [ ! -s data ]
	[ ! -s err ]
}

@test "no such directory" {
	recorded nothing x "$PWD/nowhere/run.trace"
	undisturbed nothing
	said nowhere/run.trace "no such directory"
	[ ! -e nowhere ]
}

@test "a directory that takes no file" {
	recorded nothing x /proc/run.trace
	undisturbed nothing
	said /proc/run.trace
}

@test "a disk that is full from the start, and one that becomes full" {
	[ "$(id -u)" = 0 ] || skip "only root can mount a small file system"
	mkdir disk
	for size in 32k 256k; do
		mount -t tmpfs -o size=$size tmpfs disk || skip "mounting is not allowed here"
		recorded nothing x "$PWD/disk/run.trace"
		counted=$(counts disk/run.trace) || counted="0 9001" # no trace at all
		umount disk
		undisturbed nothing
		said disk/run.trace "no space left" "discarded"
		echo "size=$size counted=$counted"
		read -r events discarded <<<"$counted"
		[ $((events + discarded)) = 9001 ] && [ "$discarded" -gt 0 ]
	done
}
