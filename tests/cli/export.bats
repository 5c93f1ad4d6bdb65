#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally export: every format against the report, exit statuses, bad input.

setup_file() {
	export DIR=$BATS_FILE_TMPDIR
	cd "$DIR"
	"$BUILD/bin/synctally" run -o run --sim=clock=virtual --skip 2 -- "$BUILD/examples/trainer" 12 >/dev/null 2>&1
	SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD/threads.trace LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/random_calls" 7 2000 4 >/dev/null
	"$BUILD/bin/synctally" report run --format json >run.json
	"$BUILD/bin/synctally" report threads.trace --format json >threads.json
}

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	cp -r "$DIR"/* "$BATS_TEST_TMPDIR"
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

@test "sqlite: syncs, drains and times are the report's, by step and by line" {
	mv threads.trace threads
	for name in run threads; do
		"$SYNCTALLY" export ./$name --to sqlite -O $name.db
		sqlite3 -json $name.db 'select file, line, class, count(*) as n, sum(outcome = "drain") as drains,
			sum(blocked_ns) as blocked, counted from sync group by file, line, function, class, direction, memory, counted' >$name.rows
	done
	[ "$(sqlite3 run.db 'pragma integrity_check')" = ok ]
	[ "$(sqlite3 run.db 'select count(*) from step where counted')" = 10 ]
	"$PYTHON" - <<'PY'
import json
report, rows = json.load(open("run.json")), json.load(open("run.rows"))
assert sum(r["n"] for r in rows if r["counted"]) == report["totals"]["syncs"] > 0
assert sum(r["drains"] for r in rows if r["counted"]) == report["totals"]["drains"] > 0
assert sum(r["blocked"] for r in rows if r["counted"]) == report["totals"]["blocked_ns"]
report, rows = json.load(open("threads.json")), json.load(open("threads.rows"))
assert sum(r["n"] for r in rows) == report["outside_steps"]["totals"]["syncs"] + report["totals"]["syncs"] > 100
PY
	split "$SYNCTALLY" report run --format json
	[ "$(sqlite3 run.db 'select max(syncs) from per_step')" = "$("$PYTHON" -c 'import json; print(json.load(open("out"))["per_step"]["syncs"]["max"])')" ]
	[ "$(sqlite3 run.db 'select count(*) from worst_lines')" -gt 0 ]
}

@test "perfetto: slices of a track never overlap, arrows have two ends inside slices" {
	"$SYNCTALLY" export run --to perfetto -O run.json2
	"$SYNCTALLY" export threads.trace --to perfetto -O threads.json2
	"$PYTHON" - <<'PY'
import collections, json
for name in "run", "threads":
    events = json.load(open(name + ".json2"))["traceEvents"]
    tracks, arrows, named = collections.defaultdict(list), collections.defaultdict(dict), set()
    for event in events:
        where = event["pid"], event["tid"]
        if event["ph"] == "M":
            named.add(where)
        elif event["ph"] == "X":
            # Whole nanoseconds, so that rounding is not taken for overlap.
            start, span = round(event["ts"] * 1000), round(event["dur"] * 1000)
            tracks[where].append((start, start + span, event))
        else:
            arrows[event["id"]][event["ph"]] = where, round(event["ts"] * 1000), event
    for where, slices in tracks.items():
        assert where in named, where
        slices.sort(key=lambda one: one[:2])
        for before, after in zip(slices, slices[1:]):
            assert before[1] <= after[0], (before, after)
    assert arrows or name == "threads"
    for ends in arrows.values():
        assert set(ends) == {"s", "f"} and ends["f"][2]["bp"] == "e"
        for where, at, _ in ends.values():
            assert any(start <= at <= end for start, end, _ in tracks[where]), ends
    syncs = [e for e in events if e["ph"] == "X" and e["cat"] == "sync"]
    report = json.load(open(name + ".json"))
    assert len(syncs) == report["totals"]["syncs"] + report["outside_steps"]["totals"]["syncs"] > 0
    assert sum(e["args"]["blocked_ns"] for e in syncs) == report["totals"]["blocked_ns"] + report["outside_steps"]["totals"]["blocked_ns"]
PY
}

@test "csv: one line per act, as RFC 4180 reads it" {
	"$SYNCTALLY" export run --to csv -O run.csv
	"$PYTHON" - <<'PY'
import csv, json
rows = list(csv.DictReader(open("run.csv", newline="")))
report = json.load(open("run.json"))
counted = [r for r in rows if r["sync"] == "1" and r["counted"] == "1"]
assert len(counted) == report["totals"]["syncs"] > 0
assert sum(int(r["waited_ns"]) for r in counted) == report["totals"]["waited_ns"]
assert None not in rows[0] and all(len(r) == len(rows[0]) for r in rows)
PY
}

@test "folded and speedscope: the weights add up, whatever they are" {
	for weight in blocked waited count; do
		"$SYNCTALLY" export run --to folded --weight $weight >folded.$weight
		"$SYNCTALLY" export run --to speedscope --weight $weight >speedscope.$weight
	done
	"$PYTHON" - <<'PY'
import json
report = json.load(open("run.json"))["totals"]
for weight, expected in ("blocked", "blocked_ns"), ("waited", "waited_ns"), ("count", "syncs"):
    lines = [line.rstrip("\n").rpartition(" ") for line in open(f"folded.{weight}")]
    assert sum(int(value) for _, _, value in lines) == report[expected] > 0
    assert len({stack for stack, _, _ in lines}) == len(lines)
    scope = json.load(open(f"speedscope.{weight}"))
    (profile,) = scope["profiles"]
    assert sum(profile["weights"]) == profile["endValue"] == report[expected]
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    assert [";".join(names[i] for i in sample) for sample in profile["samples"]] == [stack for stack, _, _ in lines]
PY
}

@test "prometheus: the exposition format, one value per series" {
	"$SYNCTALLY" export run --to prometheus >run.prom
	"$PYTHON" - <<'PY'
import json, re
report, seen, types = json.load(open("run.json")), {}, set()
for line in open("run.prom"):
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        assert name not in types and kind == "counter"
        types.add(name)
        continue
    name, labels, value = re.fullmatch(r"(\w+)\{((?:\w+=\"(?:[^\"\\\n]|\\.)*\",?)*)\} (\S+)\n", line).groups()
    assert name in types and (name, labels) not in seen
    seen[name, labels] = float(value)
total = lambda name: sum(value for (key, _), value in seen.items() if key == name)
assert total("synctally_syncs_total") == report["totals"]["syncs"]
assert total("synctally_steps_total") == 10
assert abs(total("synctally_waited_seconds_total") * 1e9 - report["totals"]["waited_ns"]) < 2
PY
}

@test "avro: a file per process and slice of time" {
	"$SYNCTALLY" export run --to avro -O whole
	[ "$(ls whole | wc -l)" = 1 ]
	[ "$(head -c 3 whole/*)" = Obj ]
	"$SYNCTALLY" export run --to avro -O sliced --slice 1
	split "$SYNCTALLY" export run --to avro -O whole
	refused
}

@test "the same bytes twice" {
	for format in perfetto folded speedscope csv prometheus; do
		"$SYNCTALLY" export threads.trace --to $format >one || [ $? = 3 ]
		"$SYNCTALLY" export threads.trace --to $format >two || [ $? = 3 ]
		[ -s one ]
		cmp one two
	done
}

@test "a file that exists stays, but with --force; nothing half is left behind" {
	echo mine >o
	for format in sqlite csv; do
		split "$SYNCTALLY" export run --to $format -O o
		refused
		grep -q 'use --force' err
		[ "$(cat o)" = mine ]
	done
	split "$SYNCTALLY" export nothing.trace --to csv -O o --force
	refused
	[ "$(cat o)" = mine ]
	split "$SYNCTALLY" export run --to csv -O o --force
	[ "$status" = 0 ]
	[ "$(head -c 7 o)" = process ]
	split "$SYNCTALLY" export run --to sqlite -O o --force
	[ "$status" = 0 ]
	[ "$(sqlite3 o 'select count(*) from process')" = 1 ]
	[ "$(ls | grep -c '^o')" = 2 ] # o and out
}

@test "what was recorded incompletely: exported, status 3" {
	head -c 200000 threads.trace >cut.trace
	for format in sqlite perfetto prometheus; do
		split "$SYNCTALLY" export cut.trace --to $format -O cut.$format
		[ "$status" = 3 ]
		[ -s cut.$format ]
	done
}

@test "wrong words on the command line" {
	for words in "run" "run --to" "run --to xml" "run --to sqlite" "--to csv" "run --to csv --weight heavy" \
		"run --to avro -O d --slice x" "run --to csv --skip -1" "nowhere --to csv" "run --to avro"; do
		split "$SYNCTALLY" export $words
		refused
	done
}

@test "output that cannot be written: one line, status 2" {
	for format in perfetto folded speedscope csv prometheus; do
		status=0
		"$SYNCTALLY" export run --to $format >/dev/full 2>err || status=$?
		[ "$status" = 2 ]
		[ "$(wc -l <err)" = 1 ]
	done
	split "$SYNCTALLY" export run --to csv -O /nowhere/file
	refused
	split "$SYNCTALLY" export run --to sqlite -O /nowhere/file
	refused
	split "$SYNCTALLY" export run --to avro -O /nowhere/folder
	refused
}
