#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run-tests.sh - runs suites of tests and adds up what they report
#
#   scripts/run-tests.sh SUITE...     unit fuzz cli e2e python torch torch-cuda12 clients engines lint
#
# Everything but pytest speaks TAP ("ok 1 - name"); a script that prints no TAP
# counts as one test by its exit status. A program that stops before its plan
# is fulfilled has failed the missing tests. The last line is always
# "N passed, N failed"; the exit status is 0 only if something ran and nothing failed.
#
# T=word runs only the files whose path contains the word. BUILD names the build
# tree; tests find it, as an absolute path, in the environment, and with it PYTHON.

set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

BUILD=$(realpath -m "${BUILD:-build}")
PYTHON=$PWD/build/venv/bin/python
[ -x "$PYTHON" ] || PYTHON=$PWD/build/tools/bin/python
export BUILD PYTHON
readonly LOGS=$BUILD/test-logs
readonly LIMIT_S=900

# A setting of the caller's shell must not change what is tested.
for variable in "${!SYNCTALLY@}"; do
	[[ $variable == SYNCTALLY_TEST_* ]] || unset "$variable"
done
unset LD_PRELOAD MAKEFLAGS MFLAGS MAKELEVEL

n_passed=0 n_failed=0 n_skipped=0

add() { # NAME PASSED FAILED SKIPPED LOG
	n_passed=$((n_passed + $2)) n_failed=$((n_failed + $3)) n_skipped=$((n_skipped + $4))
	printf '%-44s %5d passed' "$1" "$2"
	[ "$3" = 0 ] || printf ' %3d FAILED' "$3"
	[ "$4" = 0 ] || printf ' %3d skipped' "$4"
	printf '\n'
	[ "$3" = 0 ] || { grep -v '^ok ' "$5" | head -80 | cut -c 1-300 | sed 's/^/    /' && echo "    (all of it: $5)"; }
}

# count_tap LOG STATUS: prints "passed failed skipped" of one TAP stream. cmocka
# writes a skipped test as "not ok 3 # SKIP name".
count_tap() {
	awk -v status="$2" '
		/^1\.\.[0-9]+/ { plan += substr($0, 4) }
		/^(not )?ok .*# *[Ss][Kk][Ii][Pp]/ { skipped++; next }
		/^ok / { passed++ }
		/^not ok / { failed++ }
		END {
			seen = passed + failed + skipped
			if (plan > seen)
				failed += plan - seen
			else if (!seen && status == 0)
				passed = 1
			if (status != 0 && !failed)
				failed = 1
			print passed + 0, failed + 0, skipped + 0
		}' "$1"
}

run_tap() { # NAME COMMAND...
	local name=$1 log=$LOGS/${1//\//-}.log status=0 counts
	shift
	timeout -k 10 "$LIMIT_S" "$@" >"$log" 2>"$log.stderr" </dev/null || status=$?
	sed 's/^/# /' "$log.stderr" >>"$log"
	rm -f "$log.stderr"
	[ "$status" = 0 ] || printf '# exit status %d\n' "$status" >>"$log"
	read -ra counts <<<"$(count_tap "$log" "$status")"
	add "$name" "${counts[@]}" "$log"
}

is_wanted() { [ -e "$1" ] && [[ $1 == *"${T:-}"* ]]; }

run_pytest() { # NAME PATH...
	local name=$1 xml=$LOGS/$1.xml log=$LOGS/$1.log counts status=0
	shift
	rm -f "$xml"
	timeout -k 10 "$LIMIT_S" "$PYTHON" -m pytest -q -p no:cacheprovider --junitxml="$xml" "$@" >"$log" 2>&1 </dev/null || status=$?
	read -ra counts <<<"$("$PYTHON" - "$xml" "$status" <<'PY'
import sys, xml.etree.ElementTree as tree

path, status = sys.argv[1], int(sys.argv[2])
try:
    suite = tree.parse(path).getroot().find("testsuite")
    total, failures, errors, skipped = (int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped"))
except (OSError, tree.ParseError, AttributeError):
    total = failures = errors = skipped = 0
failed = failures + errors
if status not in (0, 5) and not failed:
    failed = 1
print(max(0, total - failures - errors - skipped), failed, skipped)
PY
	)"
	add "$name" "${counts[@]}" "$log"
}

suite_unit() {
	local source name
	for source in tests/unit/test_*.c; do
		is_wanted "$source" || continue
		name=$(basename "$source" .c)
		CMOCKA_MESSAGE_OUTPUT=TAP run_tap "unit/$name" "$BUILD/tests/unit/$name"
	done
}

suite_fuzz() {
	local source name
	for source in tests/fuzz/fuzz_*.c; do
		is_wanted "$source" || continue
		name=$(basename "$source" .c)
		run_tap "fuzz/$name" "$BUILD/tests/fuzz/$name" "tests/fuzz/corpus/${name#fuzz_}"
	done
}

suite_scripts() { # DIR: each .bats file, and each executable .sh
	local file
	for file in tests/"$1"/*.bats; do
		is_wanted "$file" && run_tap "$1/$(basename "$file")" bats --tap "$file"
	done
	for file in tests/"$1"/*.sh; do
		is_wanted "$file" && [ -x "$file" ] && run_tap "$1/$(basename "$file")" "$file"
	done
}

suite_pytest() { # DIR NAME
	local files=() file
	for file in "$1"/test_*.py; do
		is_wanted "$file" && files+=("$file")
	done
	[ ${#files[@]} = 0 ] || run_pytest "$2" "${files[@]}"
}

need() { # FILE
	[ -x "$1" ] || { echo "run-tests: not installed: path=$1: run \`make deps\` first" >&2; exit 2; }
}

# The same files with the PyTorch before: what depends on its version is in their tables.
suite_torch_cuda12() {
	local files=() file
	if [ -e build/deps/venv-cu12.skipped ]; then
		printf 'torch-cuda12: skipped: %s\n' "$(cat build/deps/venv-cu12.skipped)"
		n_skipped=$((n_skipped + 1))
		return
	fi
	need build/venv-cu12/bin/pytest
	for file in tests/torch/test_idioms.py tests/torch/test_trainers.py tests/torch/test_vendor_libraries.py tests/torch/test_graphs.py tests/torch/test_sixty_steps.py; do
		is_wanted "$file" && files+=("$file")
	done
	[ ${#files[@]} = 0 ] || PYTHON=$PWD/build/venv-cu12/bin/python run_pytest torch-cuda12 "${files[@]}"
}

run_suite() {
	case $1 in
	unit) suite_unit ;;
	fuzz) suite_fuzz ;;
	cli) suite_scripts cli ;;
	e2e) suite_scripts e2e ;;
	python)
		suite_pytest tests python
		suite_pytest tests/cli python-cli
		suite_pytest tests/e2e python-e2e
		;;
	torch)
		need build/venv/bin/pytest
		suite_pytest tests/torch torch
		;;
	torch-cuda12) suite_torch_cuda12 ;;
	clients)
		need build/venv-clients/bin/python
		suite_pytest tests/clients clients
		;;
	engines)
		if [ -e build/deps/venv-engines.skipped ]; then
			printf 'engines: skipped: %s\n' "$(cat build/deps/venv-engines.skipped)"
			n_skipped=$((n_skipped + 1))
		else
			need build/venv-engines/bin/pytest
			PYTHON=$PWD/build/venv-engines/bin/python suite_pytest tests/engines engines
		fi
		;;
	lint) for check in tests/lint/*.sh; do
		is_wanted "$check" && [ -x "$check" ] && run_tap "lint/$(basename "$check" .sh)" "$check"
	done ;;
	*) echo "run-tests: unknown suite: name=$1" >&2; exit 2 ;;
	esac
}

mkdir -p "$LOGS"
for suite in "$@"; do
	run_suite "$suite"
done
[ "$n_skipped" = 0 ] || printf '%d skipped\n' "$n_skipped"
printf '%d passed, %d failed\n' "$n_passed" "$n_failed"
[ "$n_failed" = 0 ] && [ "$n_passed" -gt 0 ]
