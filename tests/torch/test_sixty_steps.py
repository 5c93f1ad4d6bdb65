# SPDX-License-Identifier: Apache-2.0
"""Trainers of the usual kinds run 60 steps on the simulated device, with the syncs per step that they have on a GPU."""

import pathlib

import pytest

TRAINERS = pathlib.Path(__file__).parent / "trainers.py"


@pytest.mark.parametrize(
    "name, syncs, readbacks",
    [("convolution", 1, 1), ("recurrent", 1, 1), ("mixed-precision", 2, 2)],
)
def test_syncs_per_step(record, name, syncs, readbacks):
    run = record(TRAINERS, name)
    assert run.done.returncode == 0, run.done.stderr.decode()
    assert run.done.stdout.split()[0] == b"60"
    assert b"does not have this function" not in run.done.stderr
    report = run.report("--skip", "10")
    assert report["steps"]["count"] == 50
    per_step = report["per_step"]
    for name_of, expected in (("syncs", syncs), ("readbacks", readbacks), ("pageable_uploads", 0), ("explicit", 0)):
        assert (per_step[name_of]["min"], per_step[name_of]["max"]) == (expected, expected), name_of
    assert per_step["launches"]["min"] == per_step["launches"]["max"] > 10
    status, text = run.sim_diff()
    assert status == 0, text
