#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# synctally check: exit statuses, writing budgets, bad budgets, JUnit and annotations.

setup() {
	SYNCTALLY=$BUILD/bin/synctally
	DATA=$BATS_TEST_DIRNAME/../data
	cd "$BATS_TEST_TMPDIR"
	unset GITHUB_WORKSPACE
}

split() {
	status=0
	"$@" >out 2>err || status=$?
}

refused() {
	cat err
	[ "$status" = 2 ]
	[ ! -s out ]
	[ "$(grep -vc 'tells how it is used$' err)" = 1 ]
	[[ $(head -1 err) == synctally:\ * ]]
}

# Twelve steps of the example trainer, one wait in each, in the folder a.
recorded() {
	"$SYNCTALLY" run -o a --sim=clock=virtual --skip 2 -- "$BUILD/examples/trainer" 12 >/dev/null 2>&1
}

@test "kept: status 0; broken: status 1, a line that says where, what and how to accept it" {
	recorded
	echo 'per_step: {syncs: 1, drains: 1, launches: 2}' >b.yml
	split "$SYNCTALLY" check a --budget b.yml
	[ "$status" = 0 ]
	[ ! -s err ]
	[ "$(cat out)" = "3 limits: 3 kept, 0 broken" ]
	echo 'per_step: {syncs: 0}' >b.yml
	split "$SYNCTALLY" check a/*.trace --budget b.yml
	[ "$status" = 1 ]
	[ ! -s err ]
	[[ $(head -1 out) == "trainer+0x"*": over budget: syncs 1 per step (max of 10 steps), allowed 0 "*"to accept it, name it in b.yml under accept: {at: "* ]]
	[ "$(tail -1 out)" = "1 limit: 0 kept, 1 broken" ]
}

@test "what is advised accepts it" {
	recorded
	echo 'per_step: {syncs: 0}' >b.yml
	"$SYNCTALLY" check a --budget b.yml >out || true
	at=$(sed -n 's/.*accept: {at: "\([^"]*\)".*/\1/p' out)
	printf 'accept:\n  - {at: "%s", reason: the loss}\n' "$at" >>b.yml
	split "$SYNCTALLY" check a --budget b.yml --strict
	cat out
	[ "$status" = 0 ]
	[ "$(cat out)" = "1 limit: 1 kept, 0 broken, 1 line accepted" ]
}

@test "--write, then check; an existing file stays as it is without --force" {
	recorded
	split "$SYNCTALLY" check a --budget b.yml --write
	[ "$status" = 0 ]
	[ "$(cat out)" = "wrote b.yml from 10 steps" ]
	split "$SYNCTALLY" check a --budget b.yml --strict
	[ "$status" = 0 ]
	cp b.yml before
	split "$SYNCTALLY" check a --budget b.yml --write
	refused
	grep -q 'exists already, --force replaces it: path=b.yml' err
	cmp b.yml before
	split "$SYNCTALLY" check a --budget b.yml --write --force
	[ "$status" = 0 ]
	cmp b.yml before
	[ "$(ls)" = "$(printf '%s\n' a b.yml before err out)" ]
}

@test "a link that leads nowhere is not written through" {
	recorded
	ln -s elsewhere b.yml
	split "$SYNCTALLY" check a --budget b.yml --write
	refused
	[ ! -e elsewhere ]
}

@test "a ratchet: limits go down, and up only with --raise" {
	recorded
	echo 'per_step: {syncs: 9}' >b.yml
	split "$SYNCTALLY" check a --budget b.yml --write --force
	[ "$status" = 0 ]
	grep -q '^  syncs: 1$' b.yml
	echo 'per_step: {syncs: 0}' >b.yml
	split "$SYNCTALLY" check a --budget b.yml --write --force
	[ "$status" = 1 ]
	grep -q 'over budget' out
	grep -q -e '--raise allows that' err
	[ "$(cat b.yml)" = 'per_step: {syncs: 0}' ]
	split "$SYNCTALLY" check a --budget b.yml --write --force --raise --slack 50
	[ "$status" = 0 ]
	grep -q '^  syncs: 2$' b.yml
}

@test "a budget that cannot be read or written" {
	recorded
	split "$SYNCTALLY" check a --budget nowhere.yml
	refused
	split "$SYNCTALLY" check a --budget nowhere/b.yml --write
	refused
	split "$SYNCTALLY" check a --budget /dev/full --write --force
	refused
	echo 'per_step: [' >b.yml
	split "$SYNCTALLY" check a --budget b.yml --write --force
	refused
	[ "$(cat b.yml)" = 'per_step: [' ]
}

@test "a mistake in the budget: its line and column, the nearest key, and no trace is read" {
	printf 'per_step:\n  syncs: 3\n  drians: 1\n' >b.yml
	split "$SYNCTALLY" check nowhere --budget b.yml
	refused
	grep -q 'b.yml:3:3: unknown key: name=drians; did you mean drains?' err
}

@test "a line that is gone: a warning, with --strict an error" {
	recorded
	echo 'lines: [{at: "gone.py:7", syncs: 1}]' >b.yml
	split "$SYNCTALLY" check a --budget b.yml --junit j.xml
	[ "$status" = 0 ]
	grep -q '^b.yml:1: warning: .*gone.py:7' out
	grep -q '<skipped ' j.xml
	split "$SYNCTALLY" check a --budget b.yml --strict --junit j.xml --github
	[ "$status" = 1 ]
	grep -q '^b.yml:1: over budget: .*gone.py:7' out
	grep -q '^::error file=b.yml,line=1,' out
	grep -q '<failure ' j.xml
}

@test "JUnit is XML that adds up; annotations are one line each" {
	recorded
	printf 'per_step: {syncs: 0, launches: 1, copies: 9}\nlines: [{at: "<&>:\x22\x27", syncs: 1}]\n' | sed "s/: \"<&>:\"'\"/: '<\&>:\"'/" >b.yml
	cat b.yml
	split "$SYNCTALLY" check a --budget b.yml --junit j.xml --github
	cat out err
	[ "$status" = 1 ]
	"$PYTHON" - <<'PY'
import xml.etree.ElementTree as tree
suite = tree.parse("j.xml").getroot().find("testsuite")
cases = suite.findall("testcase")
assert (suite.get("tests"), suite.get("failures"), suite.get("skipped"), suite.get("errors")) == ("5", "2", "1", "0")
assert len(cases) == 5 and len(suite.findall("testcase/failure")) == 2
assert [case.get("name") for case in cases][:3] == ["syncs", "copies", "launches"]
PY
	[ "$(grep -c '^::error ' out)" = 2 ]
	[ "$(grep -c '^::warning ' out)" = 1 ]
	split "$SYNCTALLY" check a --budget b.yml --junit b.yml
	[ "$status" = 2 ]
	grep -q 'would overwrite the budget' err
	split "$SYNCTALLY" check a --budget b.yml --junit nowhere/j.xml
	[ "$status" = 2 ]
	split "$SYNCTALLY" check a --budget b.yml --junit /dev/full
	[ "$status" = 2 ]
}

@test "what is not the whole truth: status 3, unless it is over budget anyway" {
	recorded
	head -c 133000 a/*.trace >cut.trace
	"$SYNCTALLY" report --format json cut.trace >json || [ $? = 3 ]
	echo 'per_step: {syncs: 1000}' >b.yml
	split "$SYNCTALLY" check cut.trace --budget b.yml --junit j.xml --github
	cat out err
	[ "$status" = 3 ]
	grep -q '^inconclusive: ' out
	grep -q '^::warning title=synctally%3A inconclusive::' out
	grep -q 'errors="1"' j.xml
	echo 'per_step: {launches: 0}' >b.yml
	split "$SYNCTALLY" check cut.trace --budget b.yml
	[ "$status" = 1 ]
	rm b.yml
	split "$SYNCTALLY" check cut.trace --budget b.yml --write
	[ "$status" = 3 ]
	[ ! -e b.yml ]
	echo 'per_step: {syncs: 1000}' >b.yml
	: >a/empty.trace
	split "$SYNCTALLY" check a --budget b.yml
	[ "$status" = 3 ]
	grep -q 'a trace could not be read' out
}

@test "without steps nothing can be said: status 3" {
	SYNCTALLY_SIM=clock=virtual SYNCTALLY_OUT=$PWD/a.trace LD_PRELOAD=$BUILD/lib/libsynctally.so \
		"$BUILD/tests/e2e/random_calls" 5 200 1 >/dev/null
	echo 'per_step: {syncs: 1000}' >b.yml
	split "$SYNCTALLY" check a.trace --budget b.yml
	[ "$status" = 3 ]
	grep -q 'no steps were found' err
	recorded
	split "$SYNCTALLY" check a --budget b.yml --skip 100
	[ "$status" = 3 ]
	grep -q 'fewer steps than were to be skipped' err
}

@test "--stat, --thread, --skip and --steps" {
	recorded
	echo 'per_step: {syncs: 0}' >b.yml
	split "$SYNCTALLY" check a --budget b.yml --stat mean
	grep -q 'syncs 1 per step (mean of 10 steps)' out
	split "$SYNCTALLY" check a --budget b.yml --skip 3 --steps 4
	grep -q '(max of 4 steps)' out
	split "$SYNCTALLY" check a --budget b.yml --thread main
	[ "$status" = 1 ]
	split "$SYNCTALLY" check a --budget b.yml --thread other
	[ "$status" = 0 ]
}

@test "wrong words on the command line" {
	recorded
	echo 'per_step: {syncs: 1}' >b.yml
	for words in "" "a" "--budget b.yml" "a --budget" "a --budget b.yml --stat min" "a --budget b.yml --slack 5" "a --budget b.yml --force" \
		"a --budget b.yml --write --raise" "a --budget c.yml --write --slack -1" "a --budget c.yml --write --slack x" \
		"a --budget b.yml --skip x" "a --budget b.yml --steps x" "a --budget b.yml --nonsense" "nowhere --budget b.yml"; do
		# shellcheck disable=SC2086
		split "$SYNCTALLY" check $words
		refused
	done
	[ ! -e c.yml ]
	: >empty.trace
	split "$SYNCTALLY" check empty.trace --budget b.yml
	refused
}

@test "output that cannot be written: status 2" {
	recorded
	echo 'per_step: {syncs: 0}' >b.yml
	status=0
	"$SYNCTALLY" check a --budget b.yml >/dev/full 2>err || status=$?
	[ "$status" = 2 ]
	[ "$(wc -l <err)" = 1 ]
}
