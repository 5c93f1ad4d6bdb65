# SPDX-License-Identifier: Apache-2.0
"""A trainer on PyTorch for CUDA 12 is counted as on PyTorch for CUDA 13. (The suite torch-cuda12 runs tests/torch itself.)"""

import pytest
from recording import ROOT, SYNCS

METRICS = ROOT / "examples" / "torch" / "train_metrics.py"
CUDA12, CUDA13 = (ROOT / "build" / name / "bin" / "python" for name in ("venv-cu12", "venv"))
SKIPPED = ROOT / "build" / "deps" / "venv-cu12.skipped"


@pytest.mark.skipif(SKIPPED.exists(), reason="no PyTorch for CUDA 12 and this Python")
def test_the_demo_counts_the_same_on_cuda_12_and_13(record):
    counts = []
    for python in (CUDA12, CUDA13):
        run = record(METRICS, python=python, options=("--skip", "10"))
        assert run.done.returncode == 0, run.done.stderr.decode()
        report = run.report("--skip", "10")
        assert report["steps"]["count"] == 50
        sites = {
            (site["line"], site["class"], site["memory"], site["direction"], tuple(site["api"])): site["per_step"]
            for site in report["sites"]
            if site["class"] in SYNCS
        }
        per_step = {name: report["per_step"][name] for name in ("syncs", "readbacks", "pageable_uploads", "launches", "copies")}
        counts.append((sites, per_step))
    assert counts[0] == counts[1]
    assert counts[0][1]["syncs"]["median"] == 26


def test_each_speaks_its_own_runtime(record):
    code = "import torch; torch.ones(1, device='cuda').item(); print(torch.version.cuda, open('/proc/self/maps').read())"
    for python, major in ((CUDA12, "12"), (CUDA13, "13")):
        if python == CUDA12 and SKIPPED.exists():
            continue
        output = record("-c", code, python=python).done.stdout.decode()
        assert output.startswith(major + ".")
        assert f"libcudart.so.{major}" in output
        assert f"libcudart.so.{25 - int(major)}" not in output
