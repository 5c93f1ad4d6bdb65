#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Steps that end with NVTX ranges: every way in which a program names them, and what it gets back.

setup() {
	cd "$BATS_TEST_TMPDIR"
	SYNCTALLY=$BUILD/bin/synctally
	PROGRAM=$BUILD/tests/e2e/nvtx
}

# steps SPEC WAY: "source steps median-of-syncs"; the output is what it is without a tool
steps() {
	rm -rf d
	"$SYNCTALLY" run -o d --sim=clock=virtual --step "$1" -- "$PROGRAM" "$2" >out 2>err
	"$PROGRAM" "$2" >bare
	cmp out bare >&2
	"$SYNCTALLY" report --format json d >report.json
	"$PYTHON" -c 'import json, sys
report = json.load(open("report.json"))
print(report["steps"]["source"], report["steps"]["count"], report["per_step"]["syncs"]["median"])'
}

# Between two ends: the wait behind the range before, and the one in the range.
@test "push and pop, wide names, start and end, marks" {
	for way in push wide start mark; do
		echo "$way"
		[ "$(steps 'nvtx:iteration *' "$way")" = "nvtx 6 2" ]
	done
}

@test "a range inside that matches, too, does not end a step; a pop too many ends none" {
	[ "$(steps 'nvtx:iteration *' nested)" = "nvtx 6 2" ]
}

@test "domains have their own order; registered names" {
	[ "$(steps 'nvtx:iteration *' domain)" = "nvtx 6 2" ]
	[ "$(steps 'nvtx:iteration *@training' domain)" = "nvtx 6 2" ]
	[ "$(steps 'nvtx:iteration *@training' registered)" = "nvtx 6 2" ]
	[ "$(steps 'nvtx:iteration *@else*' other)" = "nvtx 6 2" ]
	[ "$(steps 'nvtx:iteration *@default' push)" = "nvtx 6 2" ]
}

@test "a name or a domain that does not match ends no step" {
	[[ $(steps 'nvtx:iteration *@training' other) == "none "* ]]
	[[ $(steps 'nvtx:iteration *@training' push) == "none "* ]]
	[[ $(steps 'nvtx:iteration' push) == "none "* ]]
	[ "$(steps 'nvtx:iteration ?' push)" = "nvtx 6 2" ]
	# Up to the end of "iteration 3": four waits in ranges, three behind them.
	[ "$(steps 'nvtx:*3' push)" = "nvtx 1 7" ]
}

@test "the preload library alone, when the variable is set by hand" {
	NVTX_INJECTION64_PATH=$BUILD/lib/libsynctally.so SYNCTALLY_STEP='nvtx:iteration *' SYNCTALLY_OUT=t.trace \
		LD_PRELOAD=$BUILD/lib/libsynctally.so "$PROGRAM" push
	"$SYNCTALLY" report --format json t.trace | grep -q '"source": *"nvtx"'
}

@test "in a process without the preload library it stays out of the way" {
	"$PROGRAM" push >bare
	NVTX_INJECTION64_PATH=$BUILD/lib/libsynctally.so SYNCTALLY_STEP='nvtx:iteration *' "$PROGRAM" push >out
	cmp out bare
	[ -z "$(ls ./*.trace 2>/dev/null)" ]
}

@test "another tool's variable stays as it is, and that is said" {
	NVTX_INJECTION64_PATH=/nonexistent/tool.so "$SYNCTALLY" run -o d --sim=clock=virtual --step 'nvtx:x' -- \
		sh -c 'echo "$NVTX_INJECTION64_PATH"' >out 2>err
	[ "$(cat out)" = /nonexistent/tool.so ]
	grep -q 'another tool gets the NVTX ranges.*NVTX_INJECTION64_PATH=/nonexistent/tool.so' err
}

@test "without NVTX steps the variable is not set" {
	"$SYNCTALLY" run -o d --sim=clock=virtual --step call -- sh -c 'echo "[$NVTX_INJECTION64_PATH]"' >out
	[ "$(cat out)" = "[]" ]
}

@test "the nvtx package of Python" {
	cat >train.py <<'PY'
import ctypes, nvtx
cuda = ctypes.CDLL("libcudart.so.13")
for i in range(5):
    with nvtx.annotate(f"iteration {i}", color="blue", category="loop", payload=i):
        assert cuda.cudaDeviceSynchronize() == 0
    assert cuda.cudaDeviceSynchronize() == 0
PY
	"$SYNCTALLY" run -o d --sim=clock=virtual --step 'nvtx:iteration *' --report json -- \
		"$BATS_TEST_DIRNAME/../../build/tools/bin/python" train.py >report.json
	grep -q '"source": *"nvtx"' report.json
	"$PYTHON" -c 'import json; r = json.load(open("report.json")); assert r["steps"]["count"] == 5, r["steps"]; assert r["per_step"]["syncs"]["median"] == 2'
}
