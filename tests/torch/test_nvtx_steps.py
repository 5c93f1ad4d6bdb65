# SPDX-License-Identifier: Apache-2.0
"""The same trainer, its steps found by its NVTX ranges and by PyTorch's optimizer hook: the same counts."""

import pathlib

TRAINER = pathlib.Path(__file__).with_name("nvtx_trainer.py")


def test_ranges_and_optimizer_hook_agree(record):
    reports = []
    for step, source in (("nvtx:iteration *", "nvtx"), ("torch", "torch-optimizer")):
        run = record(TRAINER, options=("--skip", "2", "--step", step))
        assert run.done.returncode == 0, run.done.stderr.decode()
        report = run.report("--skip", "2")
        assert report["steps"]["source"] == source
        assert (report["steps"]["count"], report["steps"]["skipped"]) == (10, 2)
        reports.append(report)
    counts = [
        {name: report["per_step"][name] for name in ("syncs", "drains", "empty", "readbacks", "explicit", "launches")}
        for report in reports
    ]
    assert counts[0] == counts[1]
    assert counts[0]["syncs"]["median"] == 2
