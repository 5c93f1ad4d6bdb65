#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally report and dump: bad input, exit statuses, where words go.

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	DATA=$BATS_TEST_DIRNAME/../data
	cd "$BATS_TEST_TMPDIR"
}

# split COMMAND...: sets status, and leaves the streams in `out` and `err`
split() {
	status=0
	"$@" >out 2>err || status=$?
}

# One line on standard error, nothing on standard output, status 2.
refused() {
	cat err
	[ "$status" = 2 ]
	[ ! -s out ]
	[ "$(grep -vc 'tells how it is used$' err)" = 1 ]
	[[ $(head -1 err) == synctally:\ * ]]
}

# A trace of nothing wrong: the kept one has gaps on purpose.
whole_trace() {
	SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD/$1 LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/random_calls" 5 2000 2 >/dev/null
}

@test "a whole trace: status 0, the report on stdout and nothing on stderr" {
	whole_trace a.trace
	split "$SYNCTALLY" report a.trace
	[ "$status" = 0 ]
	[ ! -s err ]
	grep -q 'No event was discarded' out
	grep -q '^LINE' out
	! grep -q $'\033' out
}

@test "json says the same twice, and by directory" {
	mkdir d
	whole_trace d/a.trace
	"$SYNCTALLY" report --format json d >1
	"$SYNCTALLY" report --format json d/a.trace >2
	cmp 1 2
	"$SYNCTALLY" report --format json d/ -O 3
	"$PYTHON" -c 'import json; a, b = (json.load(open(n)) for n in "13"); assert a["sites"] == b["sites"] and a["sites"]'
}

@test "every grouping has the same total" {
	whole_trace a.trace
	"$SYNCTALLY" report --format json a.trace >json
	"$PYTHON" - <<'PY'
import json
report = json.load(open("json"))
n = report["totals"]["syncs"]
assert n > 100
assert sum(site["count"] for site in report["sites"]) == n
for name, groups in report["by"].items():
    assert sum(group["count"] for group in groups) == n, name
PY
	for by in site api class thread rank step; do
		"$SYNCTALLY" report --by $by a.trace
	done
}

@test "a trace with gaps: reported, status 3" {
	split "$SYNCTALLY" report "$DATA/v1/mixed.trace"
	[ "$status" = 3 ]
	grep -q '2 events discarded' out
}

@test "a cut trace: what is left is reported, what is missing is said, status 3" {
	split "$SYNCTALLY" report "$DATA/v1/damaged.trace"
	[ "$status" = 3 ]
	grep -q 'Incomplete: 65406 bytes missing at the end' out
}

@test "a trace cut at any place never ends in anything but a report or one line" {
	whole_trace a.trace
	size=$(stat -c %s a.trace)
	for ((n = 0; n < size; n += 97 * 61)); do
		head -c $n a.trace >cut.trace
		split timeout 20 "$SYNCTALLY" report cut.trace
		if [ $n -lt 192 ]; then
			refused
		else
			[ "$status" = 3 ]
			grep -q 'Incomplete' out
			[ ! -s err ]
		fi
	done
}

@test "a trace of zero length" {
	: >a.trace
	split "$SYNCTALLY" report a.trace
	refused
	grep -q 'path=a.trace: the file is empty' err
}

@test "a foreign version" {
	cp "$DATA/v1/mixed.trace" a.trace
	printf '\x07' | dd of=a.trace bs=1 seek=8 conv=notrunc status=none
	split "$SYNCTALLY" report a.trace
	refused
	grep -q 'format version 7.0 is not known' err
}

@test "not a trace at all" {
	head -c 100000 /dev/zero >a.trace
	split "$SYNCTALLY" report a.trace
	refused
	split "$SYNCTALLY" report /dev/null
	refused
	split "$SYNCTALLY" dump a.trace
	refused
}

@test "a directory without traces, and a path that is not there" {
	mkdir d
	split "$SYNCTALLY" report d
	refused
	grep -q 'no traces in the directory: path=d' err
	split "$SYNCTALLY" report nowhere
	refused
}

@test "an unreadable trace" {
	cp "$DATA/v1/mixed.trace" a.trace
	chmod 000 a.trace
	[ ! -r a.trace ] || skip "this user may read everything"
	split "$SYNCTALLY" report a.trace
	refused
}

@test "one bad trace among good ones: the good ones are reported, status 3" {
	mkdir d
	whole_trace d/a.trace
	: >d/b.trace
	split "$SYNCTALLY" report d
	[ "$status" = 3 ]
	grep -q '^LINE' out
	[ "$(wc -l <err)" = 1 ]
	grep -q 'd/b.trace' err
}

@test "wrong words on the command line" {
	for words in "" "--format xml x" "--by moon x" "--skip -1 x" "--skip 1x x" "--steps x y" "--nonsense x"; do
		# shellcheck disable=SC2086
		split "$SYNCTALLY" report $words
		refused
	done
	split "$SYNCTALLY"
	refused
	split "$SYNCTALLY" fly
	refused
	split "$SYNCTALLY" dump
	refused
}

@test "help and version go to stdout" {
	split "$SYNCTALLY" --help
	[ "$status" = 0 ]
	grep -q 'synctally run' out
	split "$SYNCTALLY" report --help
	[ "$status" = 0 ]
	split "$SYNCTALLY" --version
	[ "$status" = 0 ]
}

@test "output that cannot be written: one line, status 2" {
	whole_trace a.trace
	status=0
	"$SYNCTALLY" report a.trace >/dev/full 2>err || status=$?
	cat err
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
	status=0
	"$SYNCTALLY" dump a.trace >/dev/full 2>err || status=$?
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
	split "$SYNCTALLY" report a.trace -O nowhere/x
	refused
}

@test "a reader that goes away is no message" {
	whole_trace a.trace
	"$SYNCTALLY" dump a.trace 2>err | head -1 >/dev/null
	[ ! -s err ]
}

@test "--by order and --step: the syncs of one step as they came, and no other step's" {
	"$SYNCTALLY" run -o run --sim=clock=virtual --skip 2 -- "$BUILD/examples/trainer" 12 >/dev/null 2>&1
	"$SYNCTALLY" report run --by order >order
	grep -q '^Step [0-9]* of process [0-9]*, in order$' order
	"$SYNCTALLY" report run --step 4 >step
	grep -q '^Step 4 of process' step
	"$SYNCTALLY" report run --step 4 --format json >step.json
	"$PYTHON" - <<'PY'
import json
report = json.load(open("step.json"))
order = report["order"]
assert sum(entry["times"] for entry in order["syncs"]) == report["per_step"]["syncs"]["median"] > 0, order
PY
	status=0
	"$SYNCTALLY" report run --step 400 >out 2>err || status=$?
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
	status=0
	"$SYNCTALLY" report run --step x >out 2>err || status=$?
	[ "$status" = 2 ]
}

@test "--site-path and --site-depth: what counts as the user's own code" {
	"$SYNCTALLY" report "$BATS_TEST_DIRNAME/../data/v1/mixed.trace" --site-path nowhere >one || [ $? = 3 ]
	"$SYNCTALLY" report "$BATS_TEST_DIRNAME/../data/v1/mixed.trace" >two || [ $? = 3 ]
	cmp one two
	status=0
	"$SYNCTALLY" report "$BATS_TEST_DIRNAME/../data/v1/mixed.trace" --site-depth x >out 2>err || status=$?
	[ "$status" = 2 ]
}

@test "-O: a file that exists stays, but with --force; nothing half is left behind" {
	whole_trace a.trace
	echo mine >kept
	split "$SYNCTALLY" report a.trace -O kept
	[ "$status" = 2 ]
	grep -q 'use --force' err
	[ "$(cat kept)" = mine ]
	split "$SYNCTALLY" report nothing.trace -O kept --force
	[ "$status" = 2 ]
	[ "$(cat kept)" = mine ]
	"$SYNCTALLY" report a.trace -O kept --force
	"$SYNCTALLY" report a.trace | cmp - kept
	[ "$(ls | grep -c '^kept')" = 1 ]
}

@test "csv: one table, as a program reads it, and the sum is the report's" {
	whole_trace a.trace
	for by in site api class thread rank; do
		"$SYNCTALLY" report a.trace --format csv --by $by >$by.csv
	done
	"$SYNCTALLY" report a.trace --format json >a.json
	"$PYTHON" - <<'PY'
import csv, json
total = json.load(open("a.json"))["totals"]
for by in "site", "api", "class", "thread", "rank":
    rows = list(csv.DictReader(open(by + ".csv", newline="")))
    for column, key in ("count", "syncs"), ("drain", "drains"), ("empty", "empty"), ("in_calls_ns", "blocked_ns"):
        assert sum(float(row[column]) for row in rows) == total[key], (by, column)
PY
}

@test "hostile names come out harmless in every format" {
	whole_trace evil.trace
	printf 'import sys\np = sys.argv[1]\nd = open(p, "rb").read()\n' >hostile.py
	cat >>hostile.py <<'PY'
# The program's own name in the trace, made as bad as it can be within its length.
old = b"random_calls"
new = b"=\x1b[31m<b>|\r\n\""
assert old in d and len(new) <= len(old) + 1
open(p, "wb").write(d.replace(old, new[: len(old)]))
PY
	"$PYTHON" hostile.py evil.trace
	for format in text md json csv; do
		"$SYNCTALLY" report evil.trace --format $format >seen.$format || [ $? = 3 ]
		if LC_ALL=C grep -q $'\x1b' seen.$format; then false; fi
	done
	if grep -q '<b>' seen.md; then false; fi
	"$PYTHON" -c 'import csv, json; json.load(open("seen.json")); rows = list(csv.reader(open("seen.csv", newline=""))); assert len({len(row) for row in rows}) == 1 and not any(cell[:1] in "=+@" for row in rows[1:] for cell in row if cell)'
}
