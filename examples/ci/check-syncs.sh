#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check-syncs.sh - what the CI job runs: a few steps of the trainer on the simulated device, held to a budget
#
#   check-syncs.sh [RESULTS]     the folder for the recording and junit.xml; must not hold an older recording
#
# Works on a runner without a GPU, in the root of the repository. The clock of
# the simulated device is virtual, so the same program gives the same counts on
# every machine and in every run.
#
# When it fails: look at the lines it names. If a wait there is right, say so
# at the line, "# sync-ok: REASON"; or, if the program is to have other limits
# from now on, write them anew and commit the difference:
#
#   synctally check RESULTS --budget examples/ci/budget.yml --write --force --raise

set -euo pipefail

SYNCTALLY=${SYNCTALLY:-synctally}
PYTHON=${PYTHON:-python}
RESULTS=${1:-sync-results}
github=()
[ -z "${GITHUB_ACTIONS:-}" ] || github=(--github)

"$SYNCTALLY" run -o "$RESULTS" --sim=clock=virtual --skip 5 -- \
	"$PYTHON" examples/torch/train_metrics.py --steps 15
"$SYNCTALLY" check "$RESULTS" --budget examples/ci/budget.yml --junit "$RESULTS/junit.xml" "${github[@]}"
