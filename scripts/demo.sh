#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh - records the example trainer on the simulated device and prints the report
#
# Kernels of 20 us keep the device busier than the host, as in a training run that a GPU is bought for: then waits
# have something to wait for.

set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
PYTHON=build/venv/bin/python
OUT=$BUILD/demo

[ -x "$PYTHON" ] || { echo "demo: PyTorch is not installed: run \`make deps\` first" >&2; exit 2; }
rm -rf "$OUT"
"$BUILD/bin/synctally" run -o "$OUT" --sim=kernel_ns=20000 --skip 10 -- "$PYTHON" examples/torch/train_metrics.py
"$BUILD/bin/synctally" report "$OUT" --skip 10 --format html -O "$OUT/report.html"
printf '\nThe same with charts, for a browser: %s\n' "$OUT/report.html"
printf 'Read it again with: %s report %s --skip 10\n' "$BUILD/bin/synctally" "$OUT"
